#include "learner/auto/interactions/product_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// Groups of a product of this many features that are told apart: 32 x 32, or 8 x 8 x 8.
unsigned GroupBits(size_t features) {
    return features == 2 ? 5 : 3;
}

// Goes left: groups up to `last` of 2^bits.
Split SplitBehind(const FeatureSpec& spec, uint32_t feature, const RankGroups& ranks, uint32_t last,
                  unsigned bits, Tree& tree) {
    const auto left = [&](uint32_t code) {
        return static_cast<uint32_t>(ranks.group[code]) * (1U << bits) / kRankGroups <= last;
    };
    Split split;
    split.feature = static_cast<uint16_t>(feature);
    if (spec.ordered() && left(0)) {
        uint32_t bin = 0;
        while (bin + 1 < spec.bins() && left(bin + 1))
            bin++;
        split.threshold = static_cast<uint16_t>(bin);
        split.missing_left = left(spec.missing());
        return split;
    }
    split.kind = SplitKind::kSubset;
    split.subset = tree.AddSubset(spec);
    for (uint32_t code = 0; code < spec.cells(); code++) {
        if (left(code))
            tree.AddToSubset(split.subset, code);
    }
    return split;
}

// The complete tree that looks up a cell of the product, bit by bit of each feature's group.
Tree LookupTree(const AdditiveStage& stage, const std::vector<RankGroups>& ranks,
                const std::vector<uint32_t>& features) {
    const unsigned bits = GroupBits(features.size());
    Tree tree = Tree::OfDepth(static_cast<unsigned>(features.size()) * bits, stage.outputs());
    std::vector<std::vector<Split>> splits(features.size());  // behind each group, one subset for all nodes
    for (size_t i = 0; i < features.size(); i++) {
        for (uint32_t last = 0; last + 1 < 1U << bits; last++)
            splits[i].push_back(
                SplitBehind(stage.features[features[i]], features[i], ranks[features[i]], last, bits, tree));
    }
    for (size_t node = 0; node < tree.split_count(); node++) {
        unsigned level = 0;
        while ((size_t{2} << level) - 1 <= node)
            level++;
        const size_t within = node + 1 - (size_t{1} << level);  // the bits that led here
        const unsigned bit = level % bits;
        const uint32_t known = static_cast<uint32_t>(within & ((size_t{1} << bit) - 1));
        // Groups begin with the known bits; those with a 0 next go left.
        const uint32_t last = ((2 * known + 1) << (bits - 1 - bit)) - 1;
        tree.splits[node] = splits[level / bits][last];
    }
    return tree;
}

}  // namespace

ProductTables::ProductTables(const AdditiveStage& stage, std::vector<RankGroups> ranks)
    : stage_(stage), ranks_(std::move(ranks)) {}

void ProductTables::Add(const std::vector<ProductFactorGroups>& factors, uint32_t digits,
                        const std::vector<double>& values, const std::vector<double>& sds) {
    if (adds_ == kMaxProductAdds)
        return;
    adds_++;
    const unsigned bits = GroupBits(factors.size());
    std::vector<uint32_t> features;
    for (const ProductFactorGroups& factor : factors)
        features.push_back(factor.feature);
    Table& table = tables_[features];
    const size_t outputs = stage_.outputs();
    table.values.resize(outputs << (bits * features.size()), 0.0);
    table.variances.resize(table.values.size(), 0.0);
    std::vector<double> bounded(values.size());
    std::vector<int32_t> fixed(values.size());
    for (size_t cell = 0; cell < values.size(); cell++) {  // and output
        bounded[cell] = std::clamp(values[cell], -kMaxProductEntry, kMaxProductEntry);
        fixed[cell] = ToFixed(bounded[cell]);
    }
    for (size_t entry = 0; entry < table.values.size() / outputs; entry++) {
        uint32_t cell = 0;
        for (size_t i = 0; i < features.size(); i++) {
            const size_t group = (entry >> (bits * (features.size() - 1 - i))) & ((size_t{1} << bits) - 1);
            cell = cell * digits + factors[i].digit[group * kRankGroups >> bits];
        }
        for (size_t k = 0; k < outputs; k++) {
            const double sd = sds[cell * outputs + k];
            table.values[entry * outputs + k] += bounded[cell * outputs + k];
            table.variances[entry * outputs + k] += sd * sd;
        }
    }
    stage_.rows.AddTable(ProductView(ranks_, factors, digits), fixed);
}

void ProductTables::Store(double factor, Model& model) const {
    for (const auto& [features, table] : tables_) {
        Tree tree = LookupTree(stage_, ranks_, features);
        for (size_t leaf = 0; leaf < table.values.size(); leaf++) {
            tree.leaves[leaf] = ToFixed(factor * table.values[leaf]);
            const double sd = std::fabs(factor) * std::sqrt(table.variances[leaf]);
            tree.leaf_sds.push_back(static_cast<float>(std::min(sd, kScoreRoom)));
        }
        model.AddTree(std::move(tree));
    }
}

}  // namespace dpboost
