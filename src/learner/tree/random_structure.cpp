#include "learner/tree/random_structure.h"

#include <algorithm>

#include "base/error.h"

namespace dpboost {
namespace {

// How often a node draws again when its choice would leave one side empty. A node that stays unlucky keeps a
// useless split, which is harmless.
constexpr int kDraws = 8;

}  // namespace

RandomStructure::RandomStructure(const std::vector<FeatureSpec>& features, int depth,
                                 FeatureSchedule schedule)
    : features_(features), depth_(depth), schedule_(schedule) {
    CheckInternal(!features.empty() && depth >= 1, "random trees need a feature and a depth");
}

// Which thresholds of an ordered feature still cut the cell that reaches `node`: its ancestors on the same
// feature have narrowed the range of codes.
RandomStructure::Cuts RandomStructure::LiveCuts(const Tree& tree, size_t node, uint16_t feature) const {
    Cuts cuts{0, static_cast<int>(features_[feature].bins()) - 2};
    for (size_t child = node; child > 0;) {
        const size_t parent = (child - 1) / 2;
        const Split& split = tree.splits[parent];
        if (split.feature == feature) {
            const int threshold = split.threshold;
            if (child == 2 * parent + 1)
                cuts.last = std::min(cuts.last, threshold - 1);
            else
                cuts.first = std::max(cuts.first, threshold + 1);
        }
        child = parent;
    }
    return cuts;
}

// Whether "code == level" still divides what reaches `node`.
bool RandomStructure::LevelIsLive(const Tree& tree, size_t node, uint16_t feature, uint16_t level) const {
    for (size_t child = node; child > 0;) {
        const size_t parent = (child - 1) / 2;
        const Split& split = tree.splits[parent];
        if (split.feature == feature && (child == 2 * parent + 1 || split.threshold == level))
            return false;
        child = parent;
    }
    return true;
}

Split RandomStructure::DrawSplit(const Tree& tree, size_t node, PublicRandom& random) const {
    Split split;
    for (int draw = 0; draw < kDraws; draw++) {
        if (schedule_ == FeatureSchedule::kCyclic)
            split.feature = tree.splits[0].feature;
        else
            split.feature = static_cast<uint16_t>(random.Below(features_.size()));
        const FeatureSpec& spec = features_[split.feature];
        if (!spec.ordered()) {
            split.kind = SplitKind::kLevel;
            split.missing_left = false;
            split.threshold = static_cast<uint16_t>(random.Below(spec.bins()));
            if (LevelIsLive(tree, node, split.feature, split.threshold))
                break;
            continue;
        }
        split.kind = SplitKind::kThreshold;
        split.missing_left = random.Bernoulli(1, 2);
        Cuts cuts = LiveCuts(tree, node, split.feature);
        const bool live = cuts.first <= cuts.last;
        if (!live)
            cuts = Cuts{0, std::max(0, static_cast<int>(spec.bins()) - 2)};
        split.threshold = static_cast<uint16_t>(
            cuts.first + random.Below(static_cast<uint64_t>(cuts.last - cuts.first) + 1));
        if (live)
            break;
    }
    return split;
}

// One-feature tree over levels: the levels (missing included) in random order are cut into halves down to the
// leaves.
void RandomStructure::DrawLevelHalves(Tree* tree, uint16_t feature, PublicRandom& random) const {
    const FeatureSpec& spec = features_[feature];
    const uint32_t cells = spec.cells();
    const uint32_t leaves = static_cast<uint32_t>(tree->leaf_count());
    std::vector<uint32_t> order(cells);
    random.Permutation(order.data(), cells);
    for (size_t node = 0; node < tree->split_count(); node++) {
        Split& split = tree->splits[node];
        split.feature = feature;
        split.kind = SplitKind::kSubset;
        split.subset = tree->AddSubset(spec);
    }
    for (uint32_t place = 0; place < cells; place++) {
        const uint32_t leaf = static_cast<uint32_t>(uint64_t{place} * leaves / cells);
        size_t node = tree->split_count() + leaf;
        while (node > 0) {
            const size_t parent = (node - 1) / 2;
            if (node == 2 * parent + 1)
                tree->AddToSubset(tree->splits[parent].subset, order[place]);
            node = parent;
        }
    }
}

Tree RandomStructure::Draw(uint64_t tree_index, PublicRandom& random) const {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(depth_));
    if (schedule_ == FeatureSchedule::kCyclic) {
        const uint16_t feature = static_cast<uint16_t>(tree_index % features_.size());
        if (!features_[feature].ordered()) {
            DrawLevelHalves(&tree, feature, random);
            return tree;
        }
        tree.splits[0].feature = feature;
    }
    for (size_t node = 0; node < tree.split_count(); node++)
        tree.splits[node] = DrawSplit(tree, node, random);
    return tree;
}

}  // namespace dpboost
