// What a leaf of a tree asks of each feature on its path: a set of codes, however many splits are on that feature, and
// what mass the reference gives it. Explanations of trees are sums over leaves of such products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/code_classes.h"
#include "model/tree.h"

namespace dpboost {

// Valid while it is visited.
struct Region {
    size_t place = 0;                 // of the feature in the tree's classes
    const uint8_t* inside = nullptr;  // per class of codes: whether it belongs
    double mass = 1;
};
using Regions = std::vector<Region>;

// Walks trees of one list of features. Its memory is used again for every tree.
class RegionWalk {
  public:
    RegionWalk(const std::vector<FeatureSpec>& features, const ReferenceMasses& masses, Interrupt& interrupt)
        : features_(features), masses_(masses), interrupt_(interrupt) {}

    // Looks at another tree, which must outlive the visit.
    void Enter(const Tree& tree);
    // The classes of its features, ascending by feature.
    std::vector<CodeClasses>& classes() noexcept { return classes_; }

    // Every node but the root: on_node(node, region) with the region of its parent's feature that leads to it. Every leaf
    // that some row can reach: on_leaf(leaf, regions), one region per feature on its path.
    template <typename OnNode, typename OnLeaf>
    void Visit(const OnNode& on_node, const OnLeaf& on_leaf) {
        regions_.clear();
        Descend(0, 0, on_node, on_leaf);
    }
    template <typename OnLeaf>
    void VisitLeaves(const OnLeaf& on_leaf) {
        Visit([](size_t, const Region&) {}, on_leaf);
    }

  private:
    template <typename OnNode, typename OnLeaf>
    void Descend(size_t node, unsigned level, const OnNode& on_node, const OnLeaf& on_leaf) {
        if (node >= tree_->split_count()) {
            on_leaf(node - tree_->split_count(), regions_);
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
        Region sides[2];
        bool is_empty[2];
        Divide(node, before, inside_.data() + 2 * level * widest_, sides, is_empty);
        for (const size_t side : {0, 1}) {
            regions_[at] = sides[side];
            on_node(2 * node + 1 + side, regions_[at]);
            if (!is_empty[side])
                Descend(2 * node + 1 + side, level + 1, on_node, on_leaf);
        }
        if (is_new)
            regions_.pop_back();
        else
            regions_[at] = before;
    }
    // What of a region goes left, and what right.
    void Divide(size_t node, const Region& region, uint8_t* inside, Region* sides, bool* is_empty) const;

    const std::vector<FeatureSpec>& features_;
    const ReferenceMasses& masses_;
    Interrupt& interrupt_;
    const Tree* tree_ = nullptr;
    std::vector<CodeClasses> classes_;
    std::vector<size_t> places_;  // per split: of its feature in classes_
    Regions regions_;
    size_t widest_ = 0;            // classes of any feature
    std::vector<uint8_t> all_;     // of a region that no split has narrowed
    std::vector<uint8_t> inside_;  // of the narrowed ones, two per level of the tree
};

// The features on which what the tree says depends, ascending: those of splits with different leaves below them.
std::vector<uint16_t> FeaturesOf(const Tree& tree);

}  // namespace dpboost
