#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {
namespace {

int32_t Saturate(int64_t value) noexcept {
    return static_cast<int32_t>(
        std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

// Fields that a kind of split does not use are 0 and subsets stand in the order of their splits, without bits
// beyond the cells: so that equal models have equal bytes.
Tree Normalized(const Tree& tree, const std::vector<FeatureSpec>& features) {
    Tree result = tree;
    result.subset_words.clear();
    for (Split& split : result.splits) {
        uint32_t old_subset = split.subset;
        split.subset = 0;
        split.missing_left = split.missing_left && split.kind == SplitKind::kThreshold;
        if (split.kind != SplitKind::kSubset)
            continue;
        split.threshold = 0;
        const FeatureSpec& feature = features[split.feature];
        split.subset = result.AddSubset(feature);
        std::copy_n(tree.subset_words.begin() + old_subset, SubsetWords(feature.cells()),
                    result.subset_words.begin() + split.subset);
        if (feature.cells() % 64 != 0)
            result.subset_words.back() &= (uint64_t{1} << (feature.cells() % 64)) - 1;
    }
    return result;
}

}  // namespace

Model::Model(std::vector<FeatureSpec> features, const TargetSpec& target, Link link)
    : features_(std::move(features)),
      target_(target),
      link_(link),
      bases_(link == Link::kSoftmax ? target.classes().size() : 1, 0),
      tables_(features_.size()) {
    if (features_.empty())
        throw Error(ErrorCode::kInvalidParameter, "a model needs at least one feature");
    if (features_.size() > kMaxFeatures)
        throw Error(ErrorCode::kLimitExceeded, "too many features", "At most 65535 features can be used.");
    CheckInternal((link == Link::kSoftmax) == (target.task() == Task::kClasses),
                  "link does not fit the target of the model");
}

void Model::AddToBase(size_t output, int32_t value) noexcept {
    bases_[output] = Saturate(int64_t{bases_[output]} + value);
}

void Model::AddTable(size_t feature, const std::vector<int32_t>& values) {
    CheckInternal(feature < features_.size() && values.size() == features_[feature].cells() * outputs(),
                  "table does not fit the features of the model");
    std::vector<int32_t>& table = tables_[feature];
    table.resize(values.size());
    for (size_t i = 0; i < values.size(); i++)
        table[i] = Saturate(int64_t{table[i]} + values[i]);
}

void Model::AddTree(Tree tree) {
    CheckInternal(IsValid(tree, features_, outputs()), "tree does not fit the features of the model");
    if (tree.depth == 0) {
        for (size_t output = 0; output < outputs(); output++)
            AddToBase(output, tree.leaves[output]);
        return;
    }
    uint16_t feature = tree.splits[0].feature;
    bool one_feature = std::all_of(tree.splits.begin(), tree.splits.end(),
                                   [&](const Split& split) { return split.feature == feature; });
    if (one_feature)
        Collapse(tree, feature);
    else
        trees_.push_back(Normalized(tree, features_));
}

void Model::Collapse(const Tree& tree, size_t feature) {
    const FeatureSpec& spec = features_[feature];
    std::vector<int32_t> values;
    values.reserve(spec.cells() * outputs());
    for (uint32_t code = 0; code < spec.cells(); code++) {
        size_t node = 0;
        for (unsigned level = 0; level < tree.depth; level++)
            node = 2 * node + (tree.SplitGoesLeft(node, static_cast<uint16_t>(code), spec.missing()) ? 1 : 2);
        const auto leaf = tree.leaves.begin() + (node - tree.splits.size()) * outputs();
        values.insert(values.end(), leaf, leaf + outputs());
    }
    AddTable(feature, values);
}

void Model::SetLoss(LossNote loss) {
    CheckInternal(loss.kind <= LossKind::kQuantile && loss.parameters.size() <= kMaxParameters &&
                      std::all_of(loss.parameters.begin(), loss.parameters.end(),
                                  [](double parameter) { return std::isfinite(parameter); }),
                  "loss does not fit the model");
    loss_ = std::move(loss);
}

void Model::SetEvidence(Evidence evidence) {
    CheckInternal(IsValid(evidence, features_, outputs()), "evidence does not fit the model");
    evidence_ = std::move(evidence);
}

int64_t Model::Score(const uint16_t* codes, size_t output) const noexcept {
    const size_t k = outputs();
    int64_t score = bases_[output];
    for (size_t feature = 0; feature < features_.size(); feature++)
        if (!tables_[feature].empty())
            score += tables_[feature][k * std::min(codes[feature], features_[feature].missing()) + output];
    for (const Tree& tree : trees_)
        score += tree.leaves[k * tree.Leaf(codes, features_) + output];
    return score;
}

void Model::Scores(const uint16_t* codes, int64_t* scores) const noexcept {
    for (size_t output = 0; output < outputs(); output++)
        scores[output] = Score(codes, output);
}

void Softmax(const int64_t* scores, size_t classes, double* probabilities) noexcept {
    const int64_t largest = *std::max_element(scores, scores + classes);
    double sum = 0;
    for (size_t k = 0; k < classes; k++)
        sum += probabilities[k] = std::exp(FromFixed(scores[k] - largest));
    for (size_t k = 0; k < classes; k++)
        probabilities[k] /= sum;
}

double Respond(Link link, const TargetSpec& target, int64_t score) noexcept {
    if (link == Link::kLogistic)
        return 1 / (1 + std::exp(-FromFixed(score)));
    if (link == Link::kLog)
        return std::clamp(std::exp(FromFixed(score)) + LogOffset(target), target.lower(), target.upper());
    return target.Unscale(FromFixed(score));
}

}  // namespace dpboost
