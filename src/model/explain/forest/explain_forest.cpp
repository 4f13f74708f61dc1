// What an Explainer says of a forest: trees that combine many features, whose figures are means over rows drawn from the
// reference, and pairs of features instead of groups.
#include <algorithm>
#include <cmath>

#include "model/explain/explain.h"
#include "model/explain/forest/forest_shapley.h"

namespace dpboost {
namespace {

static_assert(kRowsAtOnce == 64, "numbers of rows below are multiples of it");
// Rows drawn to measure a forest, evenly (reference_masses.h): so many, or fewer where trees are many. Of 14 columns and
// 1000 trees (Adult) importances over 64 rows are off by .017 of the largest (root mean square), over 128 by .011, over 256
// by .007; of 8 columns and 200 trees (Abalone) by .043, .029, .021. 256 rows drawn without the evenness: .012 and .029.
constexpr size_t kMostRows = 256, kLeastRows = 64;
constexpr size_t kMostRowTrees = 64000;  // rows times trees times outputs
constexpr size_t kMostPairs = 16384;     // times outputs, for which there is memory
constexpr size_t kForestFeatures = 64;   // whose pairs are looked at,
constexpr size_t kExactPairs = 512;      // all of them if they are so few, times outputs,
constexpr size_t kLikelyPairs = 12;      // else the likely ones,
constexpr size_t kForestPairs = 10;      // and so many pairs are shown

size_t ForestRows(const Model& model) {
    size_t rows = kMostRows;
    while (rows > kLeastRows && rows * model.trees().size() * model.outputs() > kMostRowTrees)
        rows /= 2;
    return rows;
}

}  // namespace

// Pairs as well, if they are to be known and few enough for all of them.
void Explainer::MeasureForest(bool with_pairs) {
    groups_measured_ = true;
    const std::vector<uint16_t>& features = groups_[0].features;
    const size_t pair_count = features.size() * (features.size() - 1) / 2;
    if (!with_pairs || pair_count * outputs_ > kExactPairs) {
        trees_ = std::make_unique<TreeShapley>(model_, masses_, interrupt_, &groups_[0]);
        return;
    }
    MakeParts(features);
    const std::vector<FeaturePair> all = PairsOf(features);
    ForestPairs pairs(model_, masses_, all, forest_parts_, interrupt_);
    trees_ = std::make_unique<TreeShapley>(model_, masses_, interrupt_, &groups_[0], &pairs);
    forest_pairs_ = pairs.Strongest(kForestPairs);
}

void Explainer::MakeParts(const std::vector<uint16_t>& features) {
    forest_parts_.resize(model_.features().size());
    for (const uint16_t feature : features)
        forest_parts_[feature] = PartsOf(model_, masses_, feature);
}

// Measured once for all outputs: a row's Shapley values take long. Where the noise of leaves is known, row by row.
const std::vector<Importance>& Explainer::ForestImportances(size_t output) {
    if (!forest_importances_.empty())
        return forest_importances_[output];
    const size_t width = model_.features().size();
    std::vector<std::vector<Importance>> result(outputs_, std::vector<Importance>(width));
    for (size_t k = 0; k < outputs_; k++)
        for (size_t f = 0; f < width; f++) {
            result[k][f].features = {f};
            result[k][f].noise = KnowsNoise(f) ? 0 : kNotKnown;
        }
    const size_t count = ForestRows(model_);
    const std::vector<uint16_t> rows = masses_.DrawEvenly(model_, count, interrupt_);
    const double share = 1 / static_cast<double>(count);
    const auto add = [&](size_t f, size_t k, double contribution, double sd) {
        result[k][f].importance += std::fabs(contribution) * unit_ * share;
        result[k][f].noise += kMeanOfNormal * sd * share;
    };
    if (knows_leaf_noise_)
        AddRowByRow(rows, add);
    else
        AddManyRows(rows, add);
    for (std::vector<Importance>& importances : result)
        SortByImportance(&importances);
    forest_importances_ = std::move(result);
    return forest_importances_[output];
}

template <typename Add>
void Explainer::AddRowByRow(const std::vector<uint16_t>& rows, const Add& add) {
    const size_t width = model_.features().size();
    std::vector<int64_t> contributions(values_.size());
    std::vector<double> sds(values_.size());
    for (size_t begin = 0; begin < rows.size(); begin += width) {
        Explain(rows.data() + begin, contributions.data(), sds.data());
        for (size_t at = 0; at < values_.size(); at++)
            add(at / outputs_, at % outputs_, static_cast<double>(contributions[at]), sds[at]);
    }
}

template <typename Add>
void Explainer::AddManyRows(const std::vector<uint16_t>& rows, const Add& add) {
    const size_t width = model_.features().size();
    for (size_t begin = 0; begin < rows.size(); begin += kRowsAtOnce * width) {
        const std::vector<float> shares = ForestShapley(model_, *trees_, rows.data() + begin, interrupt_);
        for (size_t at = 0; at < values_.size(); at++) {
            const size_t f = at / outputs_, output = at % outputs_;
            const std::vector<int32_t>& table = model_.table(f);
            for (size_t row = 0; row < kRowsAtOnce; row++) {
                const size_t code = rows[begin + row * width + f];
                const auto own = static_cast<double>(table.empty() ? 0 : table[code * outputs_ + output]);
                add(f, output,
                    own - static_cast<double>(table_means_[at]) +
                        static_cast<double>(shares[at * kRowsAtOnce + row]),
                    kNotKnown);
            }
        }
    }
}

std::vector<uint16_t> Explainer::FeaturesOfPairs() {
    std::vector<uint16_t> features = groups_[0].features;
    size_t most = kForestFeatures;
    while (most > 2 && most * (most - 1) / 2 * outputs_ > kMostPairs)
        most--;
    if (features.size() <= most)
        return features;
    std::vector<double> sizes(model_.features().size(), 0.0);
    for (size_t k = 0; k < outputs_; k++)
        for (const Importance& importance : ForestImportances(k))
            sizes[importance.features[0]] += importance.importance;
    std::stable_sort(features.begin(), features.end(),
                     [&](uint16_t a, uint16_t b) { return sizes[a] > sizes[b]; });
    features.resize(most);
    std::sort(features.begin(), features.end());
    return features;
}

// Measured once for all outputs.
std::vector<Interaction> Explainer::ForestInteractions(size_t output) {
    if (forest_pairs_.empty()) {
        const std::vector<uint16_t> features = FeaturesOfPairs();
        MakeParts(features);
        std::vector<FeaturePair> pairs = PairsOf(features);
        if (pairs.size() * outputs_ > kExactPairs)
            pairs = LikelyPairs(model_, masses_, pairs, forest_parts_, kLikelyPairs, interrupt_);
        forest_pairs_ = StrongestPairs(model_, masses_, pairs, forest_parts_, kForestPairs, interrupt_);
    }
    std::vector<Interaction> result;
    for (const PairEffect& pair : forest_pairs_[output])
        result.push_back(MakeInteraction({pair.features[0], pair.features[1]},
                                         {&forest_parts_[pair.features[0]], &forest_parts_[pair.features[1]]},
                                         pair.grid));
    return result;
}

}  // namespace dpboost
