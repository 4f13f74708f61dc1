// Which two features of a forest do most together. A leaf of value w and regions of mass q gives a pair (i, j) of codes
// w prod q (a_i / q_i) (a_j / q_j), a says whether a code is inside; so a pair's grid is a sum over a node that splits on one
// feature and the splits on the other above it, as tree_regions.h says, each time a product of two vectors over parts. Nodes
// below a split that are on the same feature are added up first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/simd.h"
#include "model/explain/part_grids.h"
#include "model/explain/tree_regions.h"
#include "model/model.h"

namespace dpboost {

// Two features, and the pure interaction of the pair in every cell of their parts' grid.
struct PairEffect {
    uint16_t features[2];
    std::vector<double> grid;  // by part of the first feature, then of the second
    double size = 0;           // mean over the reference of its absolute value
};

using FeaturePair = std::pair<uint16_t, uint16_t>;  // ascending

// A feature's parts as runs of codes.
struct PartRuns {
    std::vector<uint32_t> ends;
    std::vector<uint16_t> part;  // per run
    std::vector<double> whole;   // per part: its mass, or the number of its codes where it has none
    std::vector<uint8_t> has_mass;

    explicit PartRuns(const CodeParts& parts);
    // Which share of each part a class of codes is, by mass, or by codes where the part has none.
    void Measure(const CodeClasses& classes, const ReferenceMasses& masses,
                 std::vector<double>* shares) const;
};

// The grids of some pairs of features while trees are added to them. Pairs and parts (of every feature of the model; those
// of features in no pair may be empty) must outlive it.
class ForestPairs {
  public:
    ForestPairs(const Model& model, const ReferenceMasses& masses, const std::vector<FeaturePair>& pairs,
                const std::vector<CodeParts>& parts, Interrupt& interrupt);

    // sums: of what leaves say times the masses on their paths, below each node.
    void Add(const Tree& tree, const TreeRegions& regions, const std::vector<double>& sums);
    // Once all trees were added.
    void Finish();
    // The pure interactions of one output.
    std::vector<PairEffect> Effects(size_t output) const;
    // Per output at most so many, the strongest first.
    std::vector<std::vector<PairEffect>> Strongest(size_t most) const;

  private:
    struct Pair {
        size_t first;          // slot of its first feature
        size_t begin;          // of its grids, [output][part][part in lanes]
        size_t rows, columns;  // of a grid
        size_t pending;        // products
        bool is_met;           // by a tree
    };

    // Sums over the nodes below one, by feature.
    struct Level {
        std::vector<size_t> slots;  // that have any
        std::vector<double> moves;  // [slot][output][part in lanes]
    };

    bool Enter(const Tree& tree, const TreeRegions& regions);
    void MeasureNode(const TreeRegions& regions, size_t node);
    void Descend(size_t node, unsigned level);
    void AddMoves(unsigned level, size_t slot, const double* moves);
    void AddPending(size_t pair);
    void AddProducts(size_t slot, const double* steps, size_t below, const double* moves);
    size_t WidthOf(size_t slot) const noexcept;
    // Of a node or leaf, or of one of those above it, and of its sibling.
    size_t OnPath(size_t node) const noexcept {
        const auto level = 63 - static_cast<size_t>(__builtin_clzll(node + 1));
        return (2 * level + node % 2) * widest_;
    }
    double* Shares(size_t node) noexcept { return shares_.data() + OnPath(node); }
    double* Steps(size_t node) noexcept { return steps_.data() + OnPath(node); }
    double* Pending(size_t pair, size_t output) noexcept;
    double* Moves(unsigned level, size_t slot) noexcept {
        return levels_[level].moves.data() + slot * outputs_ * widest_;
    }

    const ReferenceMasses& masses_;
    Interrupt& interrupt_;
    const std::vector<FeaturePair>& pairs_;
    const std::vector<CodeParts>& parts_;
    const size_t outputs_;
    const Simd simd_ = BestSimd();
    std::vector<size_t> slot_of_;  // per feature of the model, among those in pairs; their number for others
    std::vector<PartRuns> runs_;   // per slot
    std::vector<size_t> pair_of_;  // [slot * slots + slot]
    std::vector<Pair> pair_;
    std::vector<double> grids_;
    std::vector<double> pending_;  // [pair][output], see AddProducts
    size_t widest_ = 0;            // vector over parts
    std::vector<double> everything_;
    // Of the tree that is being added:
    const TreeRegions* regions_ = nullptr;
    const double* sums_ = nullptr;
    std::vector<Level> levels_;
    std::vector<std::vector<double>> class_shares_;  // per place of a feature: of its parts, per class
    std::vector<size_t> slots_;                      // per node
    std::vector<double> shares_;  // per node on the path: which share of each part is in its region
    std::vector<double> steps_;   // likewise: shares over mass, minus what they were before
    std::vector<double> moves_;   // of one node, per output
};

// All pairs of some features, which are ascending.
std::vector<FeaturePair> PairsOf(const std::vector<uint16_t>& features);

// Those of some pairs that are strongest over all outputs where the parts of each feature are merged into few; at most so
// many, ascending.
std::vector<FeaturePair> LikelyPairs(const Model& model, const ReferenceMasses& masses,
                                     const std::vector<FeaturePair>& pairs,
                                     const std::vector<CodeParts>& parts, size_t most, Interrupt& interrupt);

// Per output, the strongest of these pairs, exactly, at most so many, the strongest first.
std::vector<std::vector<PairEffect>> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                                    const std::vector<FeaturePair>& pairs,
                                                    const std::vector<CodeParts>& parts, size_t most,
                                                    Interrupt& interrupt);

}  // namespace dpboost
