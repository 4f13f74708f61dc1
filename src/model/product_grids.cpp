#include "model/product_grids.h"

#include <algorithm>

namespace dpboost {
namespace {

constexpr size_t kMostQuestions = 128;         // that are compared about one feature
constexpr size_t kMostClassEntries = 1 << 17;  // a feature with many levels takes as many in every factor
constexpr size_t kMostAnswers = 1 << 22;  // to questions, looked at in search of classes; some milliseconds
constexpr size_t kMostComparisons = 1 << 22;  // of questions, or of words of their subsets; likewise

bool SameQuestion(const Split& a, const Split& b, const Tree& tree, size_t subset_words) {
    if (a.kind != b.kind)
        return false;
    if (a.kind != SplitKind::kSubset)
        return a.threshold == b.threshold && a.missing_left == b.missing_left;
    return std::equal(tree.subset_words.begin() + a.subset,
                      tree.subset_words.begin() + a.subset + subset_words,
                      tree.subset_words.begin() + b.subset);
}

// The nodes that ask the distinct questions about a feature; empty if there are too many, or too many comparisons, which
// are counted at their most.
std::vector<size_t> QuestionsAbout(const Tree& tree, uint16_t feature, uint32_t cells, size_t* comparisons) {
    std::vector<size_t> nodes;
    for (size_t node = 0; node < tree.splits.size(); node++) {
        const Split& split = tree.splits[node];
        if (split.feature != feature)
            continue;
        *comparisons += nodes.size() * (split.kind == SplitKind::kSubset ? SubsetWords(cells) : 1);
        if (*comparisons > kMostComparisons)
            return {};
        const auto same = [&](size_t other) {
            return SameQuestion(split, tree.splits[other], tree, SubsetWords(cells));
        };
        if (std::any_of(nodes.begin(), nodes.end(), same))
            continue;
        if (nodes.size() == kMostQuestions)
            return {};
        nodes.push_back(node);
    }
    return nodes;
}

}  // namespace

ProductGrids::ProductGrids(const Model& model, std::vector<const Tree*>* trees, Polling* polling)
    : outputs_(model.outputs()) {
    const auto taken = [&](const Tree* tree) {
        polling->BeforeTree();
        return Take(model, *tree);
    };
    trees->erase(std::remove_if(trees->begin(), trees->end(), taken), trees->end());
}

bool ProductGrids::Take(const Model& model, const Tree& tree) {
    std::vector<uint16_t> features;
    for (const Split& split : tree.splits) {
        if (std::find(features.begin(), features.end(), split.feature) != features.end())
            continue;
        if (features.size() == kMostFeatures)
            return false;
        features.push_back(split.feature);
    }
    std::vector<Classes> classes(features.size());
    size_t cells = 1;
    for (size_t i = 0; i < features.size(); i++) {
        if (!FindClasses(tree, features[i], model.features()[features[i]], &classes[i]))
            return false;
        cells *= classes[i].some_code.size();
        if (cells > 2 * tree.leaf_count())
            return false;
    }
    Grid grid{{0, 0, 0}, {0, 0, 0}, values_.size()};
    for (size_t i = 0; i < features.size(); i++) {
        const size_t factor = AddFactor(features[i], model.features()[features[i]], classes[i]);
        if (factor == kMostFactors)
            return false;
        grid.factors[i] = static_cast<uint16_t>(factor);
    }
    AddGrid(model, tree, features, classes, grid);
    return true;
}

// Codes are of one class if every question about the feature has the same answer for them.
bool ProductGrids::FindClasses(const Tree& tree, uint16_t feature, const FeatureSpec& spec,
                               Classes* classes) {
    const std::vector<size_t> nodes = QuestionsAbout(tree, feature, spec.cells(), &comparisons_);
    answers_ += nodes.size() * spec.cells();
    if (nodes.empty() || answers_ > kMostAnswers)
        return false;
    classes->of_code.assign(spec.cells(), 0);
    uint32_t count = 1;
    std::vector<uint32_t> numbers;  // of the classes before, by answer
    for (const size_t node : nodes) {
        numbers.assign(2 * size_t{count}, UINT32_MAX);
        count = 0;
        for (uint32_t code = 0; code < spec.cells(); code++) {
            const bool left = tree.SplitGoesLeft(node, static_cast<uint16_t>(code), spec.missing());
            uint32_t& number = numbers[2 * size_t{classes->of_code[code]} + left];
            if (number == UINT32_MAX)
                number = count++;
            classes->of_code[code] = static_cast<uint16_t>(number);
        }
    }
    classes->some_code.resize(count);
    for (uint32_t code = 0; code < spec.cells(); code++)
        classes->some_code[classes->of_code[code]] = static_cast<uint16_t>(code);
    return true;
}

size_t ProductGrids::AddFactor(uint16_t feature, const FeatureSpec& spec, const Classes& classes) {
    for (size_t i = 0; i < factors_.size(); i++)
        if (factors_[i].feature == feature &&
            std::equal(classes.of_code.begin(), classes.of_code.end(), classes_.begin() + factors_[i].offset))
            return i;
    if (factors_.size() == kMostFactors || classes_.size() + spec.cells() > kMostClassEntries)
        return kMostFactors;
    factors_.push_back({feature, spec.missing(), classes_.size()});
    classes_.insert(classes_.end(), classes.of_code.begin(), classes.of_code.end());
    return factors_.size() - 1;
}

// One cell after the other, the last feature's class the fastest.
void ProductGrids::AddGrid(const Model& model, const Tree& tree, const std::vector<uint16_t>& features,
                           const std::vector<Classes>& classes, Grid grid) {
    uint32_t cells = 1;
    for (size_t i = features.size(); i-- > 0;) {
        grid.steps[i] = cells;
        cells *= static_cast<uint32_t>(classes[i].some_code.size());
    }
    std::vector<uint16_t> codes(model.features().size(), 0);
    for (uint32_t cell = 0; cell < cells; cell++) {
        for (size_t i = 0; i < features.size(); i++)
            codes[features[i]] = classes[i].some_code[cell / grid.steps[i] % classes[i].some_code.size()];
        const size_t leaf = tree.Leaf(codes.data(), model.features());
        values_.insert(values_.end(), tree.leaves.begin() + leaf * outputs_,
                       tree.leaves.begin() + (leaf + 1) * outputs_);
    }
    grids_.push_back(grid);
}

void ProductGrids::AddValues(const uint16_t* codes, int64_t* scores) const noexcept {
    uint32_t row[kMostFactors];
    for (size_t i = 0; i < factors_.size(); i++)
        row[i] = classes_[factors_[i].offset + std::min(codes[factors_[i].feature], factors_[i].missing)];
    int64_t sum = 0;
    for (const Grid& grid : grids_) {
        const size_t cell = row[grid.factors[0]] * grid.steps[0] + row[grid.factors[1]] * grid.steps[1] +
                            row[grid.factors[2]] * grid.steps[2];
        const int32_t* values = values_.data() + grid.offset + cell * outputs_;
        sum += values[0];
        for (size_t output = 1; output < outputs_; output++)
            scores[output] += values[output];
    }
    scores[0] += sum;
}

size_t ProductGrids::memory_used() const noexcept {
    return factors_.size() * sizeof(Factor) + classes_.size() * sizeof(uint16_t) +
           grids_.size() * sizeof(Grid) + values_.size() * sizeof(int32_t);
}

}  // namespace dpboost
