// Which two features of a forest do most together. A tree tells few classes of a feature's codes apart, so what its leaves
// say is summed over classes first, and spread over the grid of the features' parts once per tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/part_grids.h"
#include "model/explain/tree_shapley.h"

namespace dpboost {

// Two features, and the pure interaction of the pair in every cell of their parts' grid.
struct PairEffect {
    uint16_t features[2];
    std::vector<double> grid;  // by part of the first feature, then of the second
    double size = 0;           // mean over the reference of its absolute value
};

using FeaturePair = std::pair<uint16_t, uint16_t>;  // ascending

// The pairs of some features (ascending) that look strongest on rows drawn from the reference, at most so many. A leaf of
// value w gives a pair w (a_i - q_i) (a_j - q_j) times the masses of the other regions on its path, in the words of
// tree_shapley.h; summed over nodes as in forest_shapley.h, with u = 0.
std::vector<FeaturePair> LikelyPairs(const Model& model, const TreeShapley& trees,
                                     const ReferenceMasses& masses, const std::vector<uint16_t>& features,
                                     size_t most, Interrupt& interrupt);

// Per output, the strongest of these pairs, exactly, at most so many, the strongest first. parts: of every feature of the
// model; those of features in no pair may be empty.
std::vector<std::vector<PairEffect>> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                                    const std::vector<FeaturePair>& pairs,
                                                    const std::vector<CodeParts>& parts, size_t most,
                                                    Interrupt& interrupt);

}  // namespace dpboost
