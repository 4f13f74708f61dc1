#include "model/explain/tree_regions.h"

#include <algorithm>

namespace dpboost {
namespace {

class RegionWalk {
  public:
    RegionWalk(const Tree& tree, const std::vector<FeatureSpec>& features,
               const std::vector<CodeClasses>& classes, Interrupt& interrupt, const RegionVisitor& visitor)
        : tree_(tree), features_(features), classes_(classes), interrupt_(interrupt), visitor_(visitor) {
        for (const CodeClasses& feature : classes)
            widest_ = std::max(widest_, feature.count());
        all_.assign(widest_, 1);
        inside_.assign(widest_ * tree.depth, 0);
        const auto before = [](const CodeClasses& feature, uint16_t number) {
            return feature.feature < number;
        };
        for (const Split& split : tree.splits)
            places_.push_back(static_cast<size_t>(
                std::lower_bound(classes.begin(), classes.end(), split.feature, before) - classes.begin()));
    }

    void Descend(size_t node, unsigned level) {
        if (node >= tree_.split_count()) {
            if (visitor_.leaf)
                visitor_.leaf(node - tree_.split_count(), regions_);
            return;
        }
        interrupt_.Poll();
        const size_t place = places_[node];
        size_t at = 0;
        while (at < regions_.size() && regions_[at].place != place)
            at++;
        const bool is_new = at == regions_.size();
        if (is_new)
            regions_.push_back({place, all_.data(), 1});
        const Region before = regions_[at];
        uint8_t* const inside = inside_.data() + level * widest_;
        for (const bool left : {true, false}) {
            const bool is_empty = !Enter(node, left, before, inside, &regions_[at]);
            const size_t child = 2 * node + (left ? 1 : 2);
            if (visitor_.node)
                visitor_.node(child, regions_[at]);
            if (!is_empty)
                Descend(child, level + 1);
        }
        if (is_new)
            regions_.pop_back();
        else
            regions_[at] = before;
    }

  private:
    // Whether any code does.
    bool Enter(size_t node, bool left, const Region& before, uint8_t* inside, Region* region) const {
        const CodeClasses& classes = classes_[before.place];
        const uint16_t missing = features_[classes.feature].missing();
        *region = {before.place, inside, 0};
        bool any = false;
        for (size_t i = 0; i < classes.count(); i++) {
            const bool goes =
                before.inside[i] != 0 && tree_.SplitGoesLeft(node, classes.some_code[i], missing) == left;
            inside[i] = goes;
            any = any || goes;
            region->mass += goes ? classes.masses[i] : 0;
        }
        return any;
    }

    const Tree& tree_;
    const std::vector<FeatureSpec>& features_;
    const std::vector<CodeClasses>& classes_;
    Interrupt& interrupt_;
    const RegionVisitor& visitor_;
    std::vector<size_t> places_;  // per split: of its feature in classes_
    std::vector<Region> regions_;
    size_t widest_ = 0;            // classes of any feature
    std::vector<uint8_t> all_;     // of a region that no split has narrowed
    std::vector<uint8_t> inside_;  // of the narrowed ones, per level of the tree
};

}  // namespace

void VisitRegions(const Tree& tree, const std::vector<FeatureSpec>& features,
                  const std::vector<CodeClasses>& classes, Interrupt& interrupt,
                  const RegionVisitor& visitor) {
    RegionWalk(tree, features, classes, interrupt, visitor).Descend(0, 0);
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
