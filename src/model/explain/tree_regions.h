// What the nodes and leaves of a tree ask of each feature on their path: a set of codes, however many splits are on that
// feature, and what mass the reference gives it.
//
// Explanations of trees are sums over leaves of a value times such masses, and a leaf's part in the figure of one feature
// depends on the last split on that feature alone. So they are sums over nodes: let V(n) be the sum of value times masses
// over the leaves below node n, and r a function of a region. Then the sum of V r(last region of feature i) over leaves is
// the sum, over the children c of nodes that split on i, of V(c) (r(c) - r(the region of i that c's parent has)). A region
// without mass gets kNoMass in such sums, so small that what is 0 stays 0, and that what is left once it has been divided by
// its mass again is what it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/code_classes.h"
#include "model/tree.h"

namespace dpboost {

constexpr double kNoMass = 1e-30;

// Valid until another tree is entered.
struct Region {
    size_t place = 0;                  // of the feature in the tree's classes
    const uint64_t* inside = nullptr;  // the classes of codes that belong to it
    double mass = 1;

    double weight() const noexcept { return mass > 0 ? mass : kNoMass; }
};
using Regions = std::vector<Region>;

// Of one tree after the other, all on one list of features. Memory is used again for every tree.
class TreeRegions {
  public:
    TreeRegions(const std::vector<FeatureSpec>& features, const ReferenceMasses& masses, Interrupt& interrupt)
        : features_(features), interrupt_(interrupt), finder_(features, masses, interrupt) {}

    // Looks at another tree, which must outlive what is asked about it.
    void Enter(const Tree& tree);

    // The classes of its features, ascending by feature.
    const std::vector<CodeClasses>& classes() const noexcept { return finder_.classes(); }
    // Words of a set of one feature's classes.
    size_t words(size_t place) const noexcept { return ClassWords(classes()[place].count()); }
    // The most features on the path of a leaf.
    size_t width() const noexcept { return width_; }
    // Whether some row can come to a node or leaf (which are numbered on).
    bool is_met(size_t node) const noexcept { return nodes_[node].is_met; }
    // On the feature of its parent's split, what leads to a node or leaf that is met. The root's is everything.
    const Region& region(size_t node) const noexcept { return nodes_[node].region; }
    // Of the feature of a node's split, before the split: the node or leaf whose region it is; the root if there is none.
    size_t before(size_t node) const noexcept { return nodes_[node].before; }
    // Of the feature of a node's split, in classes().
    size_t place(size_t node) const noexcept { return nodes_[node].place; }
    // Masses of the regions of all features on the path of a node or leaf, multiplied.
    double path(size_t node) const noexcept { return nodes_[node].path; }

    // sums: [node * outputs + output], of what `value` (leaf, output) says times `mass` (node of the leaf), over the leaves
    // below each node and leaf.
    template <typename Value, typename Mass>
    void SumBelow(size_t outputs, const Value& value, const Mass& mass, std::vector<double>* sums) const;

    // Of the values of leaves times the masses on their paths.
    void SumLeaves(size_t outputs, std::vector<double>* sums) const {
        SumBelow(
            outputs, [&](size_t leaf, size_t k) { return tree_->leaves[leaf * outputs + k]; },
            [&](size_t node) { return path(node); }, sums);
    }

    // Calls on_leaf(leaf, regions), one region per feature on its path, for every leaf that is met.
    template <typename OnLeaf>
    void VisitLeaves(const OnLeaf& on_leaf);

  private:
    struct Node {
        size_t place;
        size_t before;
        Region region;
        double path;
        size_t features;  // on the path
        bool is_met;
    };

    void FindLeft(size_t node, uint64_t* left) const;
    // What of a region goes left, and what right.
    void Divide(size_t node, const Region& region, uint64_t* inside);

    const std::vector<FeatureSpec>& features_;
    Interrupt& interrupt_;
    ClassFinder finder_;
    const Tree* tree_ = nullptr;
    std::vector<Node> nodes_;       // nodes, then leaves
    std::vector<uint64_t> all_;     // of a region that no split has narrowed
    std::vector<uint64_t> inside_;  // of the narrowed ones
    size_t width_ = 0;
    Regions regions_;
};

template <typename Value, typename Mass>
void TreeRegions::SumBelow(size_t outputs, const Value& value, const Mass& mass,
                           std::vector<double>* sums) const {
    const size_t splits = tree_->split_count();
    sums->assign(nodes_.size() * outputs, 0.0);
    double* const all = sums->data();
    for (size_t node = splits; node < nodes_.size(); node++)
        for (size_t k = 0; k < outputs && is_met(node); k++)
            all[node * outputs + k] = mass(node) * value(node - splits, k);
    for (size_t node = splits; node-- > 0;)
        for (size_t k = 0; k < outputs; k++)
            all[node * outputs + k] = all[(2 * node + 1) * outputs + k] + all[(2 * node + 2) * outputs + k];
}

template <typename OnLeaf>
void TreeRegions::VisitLeaves(const OnLeaf& on_leaf) {
    const size_t splits = tree_->split_count();
    for (size_t leaf = 0; leaf <= splits; leaf++) {
        if (!is_met(splits + leaf))
            continue;
        regions_.clear();
        for (size_t node = splits + leaf; node > 0; node = (node - 1) / 2) {
            const Region& region = nodes_[node].region;
            bool is_last = true;  // of its feature on the path
            for (const Region& later : regions_)
                is_last = is_last && later.place != region.place;
            if (is_last)
                regions_.push_back(region);
        }
        on_leaf(leaf, regions_);
    }
}

// The features on which what the tree says depends, ascending: those of splits with different leaves below them.
std::vector<uint16_t> FeaturesOf(const Tree& tree);

}  // namespace dpboost
