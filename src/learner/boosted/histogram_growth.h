// Trees whose splits are found in noisy histograms: level by level, for all nodes of a level at once. Releases on the
// nodes of a level touch disjoint rows and compose in parallel; levels and trees compose one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/boosted/framework_options.h"
#include "learner/rows/node/node_sums.h"
#include "learner/run.h"
#include "learner/tree/live_splits.h"
#include "learner/tree/noisy_sides.h"
#include "learner/tree/split_candidates.h"
#include "model/tree.h"

namespace dpboost {

class HistogramGrowth {
  public:
    // All references must outlive the object.
    HistogramGrowth(const FrameworkOptions& options, NodeSums& sums) : options_(options), sums_(sums) {}

    // Splits with the best noisy score, among all candidates (kNoisyHistogram) or among one random candidate
    // per feature and node (kPartiallyRandom). `leaves` gets the noisy sums of each leaf as the last
    // histograms have them.
    //
    // Neighbours: add or remove one unit, which takes part by one row. Sensitivity: that of histograms of the chosen
    // features (node_sums.h). Charge: per level one Gaussian event, Poisson-sampled by a sample of its own ([SBDT] Thm
    // 14, 16). Trees of one feature over a histogram have one event in all: their deeper levels are read off the root's
    // histogram.
    Tree Grow(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
              const KeptGradients& gradients, Run& run, std::vector<NoisySide>* leaves);

    // Noisy Hessians of the root's histogram in the last tree over histograms, in steps, as CellLayout has the cells:
    // for the iterative Hessian.
    const NoisySums& root_hessians() const { return root_hessians_; }

  private:
    // A split and the noisy sums on both sides of it.
    struct Division {
        Split split;
        NoisySide left;
        NoisySide right;
        double score = -1;
    };

    Tree GrowByBestCandidate(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                             const KeptGradients& gradients, Run& run, std::vector<NoisySide>* leaves);
    Tree GrowByRandomCandidate(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                               const KeptGradients& gradients, Run& run, std::vector<NoisySide>* leaves);
    void EnterLevel(const Tree& tree, unsigned level, const KeptGradients& gradients, Run& run);
    NoisySides Release(RawGradientSums raw, Run& run) const;
    Division BestDivision(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                          const NoisySides& cells, size_t first_cell, const Tree& tree, size_t node);
    static void Take(const Division& best, unsigned level, size_t place, Tree* tree,
                     std::vector<NoisySide>* leaves);
    double Score(const NoisySide& left, const NoisySide& right) const;

    const FrameworkOptions& options_;
    NodeSums& sums_;
    NoisySums root_hessians_;
    // Scratch of one node.
    LiveCells live_;
    std::vector<uint32_t> indices_;
};

}  // namespace dpboost
