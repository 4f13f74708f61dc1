// What a leaf of a tree asks of each feature on its path: a set of codes, however many splits are on that feature, and
// what mass the reference gives it. Explanations of trees are sums over leaves of such products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

struct RegionVisitor {
    // Every node but the root: the region of its parent's feature that leads to it. May be empty.
    std::function<void(size_t node, const Region& region)> node;
    // Every leaf that some row can reach: its regions, one per feature on its path.
    std::function<void(size_t leaf, const std::vector<Region>& regions)> leaf;
};

void VisitRegions(const Tree& tree, const std::vector<FeatureSpec>& features,
                  const std::vector<CodeClasses>& classes, Interrupt& interrupt,
                  const RegionVisitor& visitor);

// The features on which what the tree says depends, ascending: those of splits with different leaves below them.
std::vector<uint16_t> FeaturesOf(const Tree& tree);

}  // namespace dpboost
