#include "model/explain/tree_regions.h"

#include <algorithm>

namespace dpboost {
namespace {

class RegionWalk {
  public:
    RegionWalk(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
               Interrupt& interrupt, const RegionVisitor& visitor)
        : tree_(tree), features_(features), masses_(masses), interrupt_(interrupt), visitor_(visitor) {}

    void Descend(size_t node) {
        if (node >= tree_.split_count()) {
            if (visitor_.leaf)
                visitor_.leaf(node - tree_.split_count(), regions_);
            return;
        }
        interrupt_.Poll();
        const uint16_t feature = tree_.splits[node].feature;
        const size_t at = PlaceOf(feature);
        const bool is_new = at == regions_.size();
        if (is_new)
            regions_.push_back({feature, std::vector<uint8_t>(features_[feature].cells(), 1), 1});
        const Region before = regions_[at];
        for (const bool left : {true, false}) {
            Enter(node, left, before, &regions_[at]);
            const size_t child = 2 * node + (left ? 1 : 2);
            if (visitor_.node)
                visitor_.node(child, regions_[at]);
            const std::vector<uint8_t>& inside = regions_[at].inside;
            if (std::find(inside.begin(), inside.end(), 1) != inside.end())
                Descend(child);
        }
        if (is_new)
            regions_.pop_back();
        else
            regions_[at] = before;
    }

  private:
    size_t PlaceOf(uint16_t feature) const {
        size_t at = 0;
        while (at < regions_.size() && regions_[at].feature != feature)
            at++;
        return at;
    }

    void Enter(size_t node, bool left, const Region& before, Region* region) const {
        const uint16_t missing = features_[before.feature].missing();
        const std::vector<double>& masses = masses_.of(before.feature);
        region->mass = 0;
        for (uint32_t code = 0; code <= missing; code++) {
            const bool goes = before.inside[code] != 0 &&
                              tree_.SplitGoesLeft(node, static_cast<uint16_t>(code), missing) == left;
            region->inside[code] = goes;
            region->mass += goes ? masses[code] : 0;
        }
    }

    const Tree& tree_;
    const std::vector<FeatureSpec>& features_;
    const ReferenceMasses& masses_;
    Interrupt& interrupt_;
    const RegionVisitor& visitor_;
    std::vector<Region> regions_;
};

}  // namespace

void VisitRegions(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
                  Interrupt& interrupt, const RegionVisitor& visitor) {
    RegionWalk(tree, features, masses, interrupt, visitor).Descend(0);
}

std::vector<uint16_t> FeaturesOf(const Tree& tree) {
    const size_t outputs = tree.leaves.size() / tree.leaf_count();
    std::vector<uint16_t> features;
    // Leaves below a node of level l are a run of 2^(depth - l).
    for (unsigned level = 0; level < tree.depth; level++) {
        const size_t first = (size_t{1} << level) - 1, run = (outputs << tree.depth) >> level;
        for (size_t i = 0; i <= first; i++) {
            const auto begin = tree.leaves.begin() + static_cast<ptrdiff_t>(i * run);
            if (!std::equal(begin, begin + static_cast<ptrdiff_t>(run - outputs),
                            begin + static_cast<ptrdiff_t>(outputs)))
                features.push_back(tree.splits[first + i].feature);
        }
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

}  // namespace dpboost
