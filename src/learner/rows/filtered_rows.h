// The rows of trees under pure privacy ([DPBOOST] Alg 2): every unit takes part in one tree of an ensemble, and there
// only if its gradient is within the bound. Scores, subsets and the filter stay inside; nodes() hands out raw sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "learner/rows/node/node_sums.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

class Dataset;

// Gradient-based data filtering (GDF): the rows whose gradient label - score is at most the bound, all three
// in steps of 2^-kFixedBits, with the gradient in steps of bound / kClipSteps, at most kClipSteps in
// magnitude.
//
// It costs no privacy: whether a row takes part is a function of that row and of the trees released before,
// so adding or removing a row changes the filtered set by at most that row, and neighbours stay neighbours.
// The filter must not depend on other rows (a quantile of gradients would), and how many it drops is never
// shown. A row beyond the bound is left out of sum and count, rather than clipped, as Lemma 2 needs |G| <= n
// g*.
class GradientFilter {
  public:
    explicit GradientFilter(double bound);

    bool Passes(int64_t label_fixed, int64_t score_fixed) const {
        const int64_t gradient = label_fixed - score_fixed;
        return gradient <= bound_fixed_ && gradient >= -bound_fixed_;
    }
    int32_t Steps(int64_t label_fixed, int64_t score_fixed) const;

  private:
    int64_t bound_fixed_;
};

class FilteredRows {
  public:
    // Score and leaf, gradient, the row's place in a subset and in the filtered rows.
    static constexpr size_t kBytesPerRow =
        sizeof(int32_t) + sizeof(uint64_t) + sizeof(int32_t) + 2 * sizeof(uint32_t) + NodeSums::kBytesPerRow;

    // `subset_ends`: which part of the units the trees of an ensemble up to and including the k-th get together, times
    // 2^32. Dataset and pool must outlive the object. The loss is the squared one; a binary label is -1 or 1. Throws
    // kOutOfMemory if its state would not fit.
    FilteredRows(const Dataset& dataset, std::vector<uint64_t> subset_ends, double gradient_clip, int depth,
                 Simd simd, WorkerPool& pool);
    ~FilteredRows();

    // Draws who takes part in which tree of the next ensemble (subsets.h).
    void DrawSubsets(PrivateRandom& coins, Interrupt& interrupt);

    // The filtered rows of tree k of the ensemble, all at its root and counting one each.
    NodeSums& Begin(size_t k, Interrupt& interrupt);

    // Adds the tree that was grown on them, with its leaf values, to the scores.
    void AddTree(const Tree& tree, Interrupt& interrupt);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace dpboost
