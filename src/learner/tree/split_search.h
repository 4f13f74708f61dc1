// Trees whose splits are found from rows: level by level, for all nodes of a level at once, by the
// exponential mechanism or from noisy histograms. Releases on the nodes of a level touch disjoint rows and
// compose in parallel; levels and trees compose one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/boosted/framework_options.h"
#include "learner/boosted/framework_plan.h"
#include "learner/rows/node_rows.h"
#include "learner/tree/live_splits.h"
#include "learner/tree/split_candidates.h"
#include "learner/tree/split_score.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/tree.h"
#include "privacy/plan.h"

namespace dpboost {

// What a search may draw from.
struct DrawContext {
    Plan& plan;
    Random& random;
    NoiseSource& noise;
    Interrupt& interrupt;
};

class SplitSearch {
  public:
    // Bytes of the histograms of one level, whatever the rows.
    static size_t Bytes(const FrameworkOptions& options, const std::vector<FeatureSpec>& features);

    // All references must outlive the search.
    SplitSearch(const Dataset& dataset, const FrameworkOptions& options, WorkerPool& pool);

    // Greedy splits by the exponential mechanism over all live candidates of all chosen features
    // ([DPXGB] 4.2; not over the best of each feature, which would need a release of its own: its B.2).
    //
    // Neighbours: add or remove one unit, which takes part by one row (node_rows.h). Sensitivity:
    // split_score.h. Charge: per level one event of the mechanism of that level; its nodes are parts of that
    // event, because the row is in one of them. Theorem: [DPXGB] Thm 1.
    Tree GrowByExponential(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                           const int32_t* gradients, const DrawContext& context);

    // Splits with the best noisy score, among all candidates (kNoisyHistogram) or among one random candidate
    // per feature and node (kPartiallyRandom). `leaves` gets the noisy sums of each leaf as the last
    // histograms have them.
    //
    // Neighbours: add or remove one unit, which takes part by one row. Sensitivity: the row is in one node of
    // the level and there in one cell of each of the k chosen features, so it moves the vector of all Hessian
    // sums by at most sqrt(k) S in L2 norm, and that of all gradient sums likewise. Charge: per level one
    // Gaussian event, Poisson-sampled by a sample of its own ([SBDT] Thm 14, 16). Trees of one feature over
    // a histogram have one event in all: their deeper levels are read off the root's histogram.
    Tree GrowByHistogram(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                         const int32_t* gradients, const int32_t* hessians, const DrawContext& context,
                         std::vector<NoisySide>* leaves);

    // The noisy Hessian histogram over the candidates of every feature in `ordered` ([FEDGBDT]
    // 4.5.2), one after the other, in lattice steps; missing values are left out.
    //
    // Neighbours: add or remove one unit, which takes part by one row. Sensitivity: the row adds at most S
    // steps to one cell of each feature: sqrt(|ordered|) S in L2 norm. Charge: one Gaussian event.
    std::vector<double> SketchHessians(const SplitCandidates& candidates,
                                       const std::vector<uint16_t>& ordered, const int32_t* gradients,
                                       const int32_t* hessians, const DrawContext& context);

    // Cell sums of the root's histogram in the last tree of GrowByHistogram, feature by feature as chosen:
    // noisy Hessians in steps, for the iterative Hessian.
    const std::vector<double>& root_hessians() const { return root_hessians_; }

  private:
    // The cells of the chosen features of one node lie behind each other.
    struct Layout {
        std::vector<size_t> offset;  // per chosen feature
        size_t cells = 0;            // of a node
    };

    Layout LayoutOf(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen) const;
    void SumCells(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                  const Layout& layout, Interrupt& interrupt);
    void SumSides(const std::vector<uint16_t>& chosen, const std::vector<Split>& splits, const Tree& tree,
                  Interrupt& interrupt);
    void Participate(SamplingRate rate, const Tree& tree, unsigned level, const DrawContext& context);
    size_t SelectSplit(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                       const Layout& layout, const Tree& tree, size_t node, size_t place, Charge charge,
                       NoiseSource& noise);
    void AddNoise(const DrawContext& context);
    NoisySide Cell(size_t index) const;
    Split BestSplit(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                    const Layout& layout, const Tree& tree, size_t node, size_t place, NoisySide* left,
                    NoisySide* right);
    Tree GrowRandomCandidates(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                              const int32_t* gradients, const int32_t* hessians, const DrawContext& context,
                              std::vector<NoisySide>* leaves);

    const Dataset& dataset_;
    const FrameworkOptions& options_;
    WorkerPool& pool_;
    const int64_t l2_steps_;
    NodeRows rows_;
    std::vector<CellSum> sums_;                  // [node][cell], raw
    std::vector<std::vector<CellSum>> scratch_;  // per worker, one entry per code
    std::vector<int64_t> noisy_gradients_;
    std::vector<int64_t> noisy_hessians_;
    double gradient_unit_;
    double hessian_unit_;
    double gradient_variance_ = 0;  // of a cell's noise, natural units
    double hessian_variance_ = 0;
    std::vector<double> root_hessians_;
    // Scratch of one node.
    LiveCells live_;
    std::vector<uint32_t> indices_;
    std::vector<Split> splits_;
    std::vector<int64_t> utilities_;
};

}  // namespace dpboost
