// The splits of one tree of `dpboost` ([DPBOOST] Alg 1): level by level, each node's by the
// exponential mechanism over all candidates of all features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/pure/pure_options.h"
#include "learner/rows/node_rows.h"
#include "learner/tree/live_splits.h"
#include "learner/tree/split_candidates.h"
#include "mechanism/noise.h"
#include "model/tree.h"
#include "privacy/plan.h"

namespace dpboost {

class TreeGrower {
  public:
    // All references must outlive the grower.
    TreeGrower(const Dataset& dataset, const PureOptions& options, Plan& plan, NoiseSource& noise,
               Interrupt& interrupt);

    // Grows a tree on `rows`, which have been filtered (GDF): |gradients[row]| <= kClipSteps. Its leaves are
    // 0; leaf_sums() has what the rows of each leaf add up to.
    //
    // Neighbours: add or remove one of the rows. Sensitivity: that of the gain ([DPBOOST] eq. 3)
    // with the node's own row count in the denominator. Lemma 1's bound |dG| <= 3 g*^2 holds (split_score.h
    // proves it for every n >= 0 and lambda >= 0, which the paper does only for n to infinity), but it is not
    // what the mechanism needs: utilities change by something in [-3, 1] g*^2, the width 4 is what counts,
    // and the temperature is 4 g*^2 / epsilon where the paper has 6 g*^2 / epsilon. Charge: one event per
    // level; nodes and trees of an ensemble are its parts.
    Tree Grow(std::vector<uint32_t> rows, const int32_t* gradients);
    const std::vector<CellSum>& leaf_sums() const { return leaf_sums_; }

  private:
    Split Choose(const Tree& tree, size_t node, size_t place, Charge charge);
    void ScoreFeature(const Tree& tree, size_t node, size_t place, uint16_t feature);

    const Dataset& dataset_;
    const PureOptions& options_;
    Plan& plan_;
    NoiseSource& noise_;
    Interrupt& interrupt_;
    const int64_t l2_steps_;
    SplitCandidates candidates_;
    NodeRows rows_;
    LiveCells live_;
    std::vector<CellSum> leaf_sums_;
    // Of one node.
    std::vector<CellSum> codes_;
    std::vector<CellSum> cells_;
    std::vector<uint32_t> indices_;
    std::vector<Split> splits_;
    std::vector<int64_t> raw_utilities_;
};

}  // namespace dpboost
