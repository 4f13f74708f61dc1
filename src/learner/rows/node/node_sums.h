// Raw sums over the nodes of a tree while its splits are searched, level by level: utilities for the exponential
// mechanism, and histograms of gradients and Hessians. Which rows there are stays inside. Sums over the nodes of a level
// touch disjoint rows and compose in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/worker_pool.h"
#include "learner/rows/leaf/leaf_lattice.h"
#include "learner/rows/leaf/leaf_sums.h"
#include "learner/tree/live_splits.h"
#include "learner/tree/split_candidates.h"
#include "mechanism/random.h"
#include "mechanism/releaser.h"
#include "model/tree.h"

namespace dpboost {

class Dataset;
struct KeptGradients;

class NodeSums {
  public:
    // What a row weighs: one, or its Hessian.
    enum class Weight { kRow, kHessian };

    static constexpr size_t kBytesPerRow =
        2 * sizeof(uint32_t) + 2 * sizeof(int32_t);  // rows by node, their values

    // Dataset and pool must outlive the object.
    NodeSums(const Dataset& dataset, WorkerPool& pool);
    ~NodeSums();

    // Draws who takes part (node_rows.h): a unit does by one row. All are at the root. The gradients must outlive the
    // search.
    void Begin(const KeptGradients& gradients, Weight weight, SamplingRate rate, PrivateRandom& coins,
               Interrupt& interrupt);

    // Sends the rows of each node of level `level` of the tree to its children.
    void Descend(const Tree& tree, unsigned level, Interrupt& interrupt);
    size_t nodes() const;

    // The utilities (split_score.h) of candidates[i] at node first + i, counted within the level; at weight kRow.
    //
    // Neighbours: add or remove one row. Sensitivity: kUtilitySensitivity each, and a row is in one node.
    std::vector<RawSums> Utilities(size_t first, const std::vector<NodeCandidates>& candidates,
                                   const SplitCandidates& splits, int64_t l2_steps, Interrupt& interrupt);

    // Sums over the cells of the chosen features, laid out as CellLayout has it, node after node.
    //
    // Neighbours: add or remove one row. Sensitivity: the row is in one node of the level and there in one cell of each
    // of the k features, so it moves the vector of all Hessian sums by at most sqrt(k) S in L2 norm, and that of all
    // gradient sums likewise.
    RawGradientSums Histograms(const SplitCandidates& splits, const std::vector<uint16_t>& chosen,
                               Interrupt& interrupt);
    // The Hessian sums of Histograms at the root, without those of missing values.
    RawSums RootHessians(const SplitCandidates& splits, const std::vector<uint16_t>& chosen,
                         Interrupt& interrupt);
    // Sums left and right of single splits, `per_node` for each node, none with a subset; sensitivity likewise with k =
    // per_node.
    RawGradientSums Sides(const std::vector<Split>& splits, size_t per_node, Interrupt& interrupt);
    // sqrt(features) S, rounded up.
    static double HistogramSensitivity(size_t features);

    // The nodes of the last level as leaves (leaf_lattice.h); at weight kRow.
    RawSums Leaves(const LeafLattice& lattice, Interrupt& interrupt);

  private:
    friend class FilteredRows;  // draws by itself who takes part
    void BeginWith(const KeptGradients& gradients, Weight weight, std::vector<uint32_t> rows);

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace dpboost
