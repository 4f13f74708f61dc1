// The state of boosting: every row's score, gradient and Hessian, and its leaf in the current tree. Scores
// change after every tree or after every batch of trees (A2 of [FEDGBDT]); sums of integers, so
// neither blocks nor threads can change a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/boosted/framework_options.h"
#include "learner/objective/objective.h"
#include "learner/rows/leaf_index.h"
#include "learner/rows/leaf_sums.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

class BoostState {
  public:
    static size_t BytesPerRow(const FrameworkOptions& options);

    // All rows start with the score `base`. References must outlive the state.
    BoostState(const Dataset& dataset, const FrameworkOptions& options, int32_t base, Simd simd,
               WorkerPool& pool);

    // Gradients and Hessians of all rows at their scores, in lattice steps: |gradient| <= kClipSteps and 0 <=
    // Hessian <= kClipSteps. Averaging leaves take the centred label and a count, gradient leaves a count as
    // Hessian.
    void Evaluate(Interrupt& interrupt);
    const int32_t* gradients() const { return gradients_.data(); }
    const int32_t* hessians() const { return hessians_.data(); }

    // Finds every row's leaf in the tree.
    void AssignLeaves(const Tree& tree, Interrupt& interrupt);

    // Raw sums over the leaves assigned, of each unit with probability `rate`.
    //
    // Neighbours: add or remove one unit. Sensitivity: a row adds at most kClipSteps to one Hessian sum and
    // one gradient sum; a unit of several rows is scaled down to the same weighted norm (leaf_sums.h).
    const LeafSums& SumLeaves(SamplingRate rate, Random& random, Interrupt& interrupt);

    // Adds a tree's leaf values to the scores that the next batch will see. Call after AssignLeaves.
    void AddLeaves(const std::vector<int32_t>& values, Interrupt& interrupt);
    // Makes them visible.
    void FinishBatch();

  private:
    static constexpr size_t kUnitItem = 1024;            // units per piece of parallel work
    static constexpr size_t kSegment = size_t{1} << 18;  // units that are sampled together

    struct Worker {
        Worker(const Dataset& dataset, const FrameworkOptions& options, Simd simd);
        LeafIndexer indexer;
        std::vector<uint64_t> words;
        LeafSums sums;
        UnitSum unit;
    };

    void SumRows(size_t block, LeafSums* sums) const;
    void SumUnit(size_t unit, Worker* worker) const;
    void SumSegment(size_t first, size_t units, SamplingRate rate, Random& random, Interrupt& interrupt);

    const Dataset& dataset_;
    WorkerPool& pool_;
    const Simd simd_;
    const std::unique_ptr<const Objective> objective_;
    const bool count_rows_;  // the Hessian is a count
    const LeafPacking packing_;
    std::vector<int32_t> scores_;
    std::vector<int32_t> pending_;  // scores with the current batch; unused for batches of one
    std::vector<int32_t> gradients_;
    std::vector<int32_t> hessians_;
    std::vector<uint16_t> leaves_;
    std::vector<uint32_t> sample_;
    std::vector<Worker> workers_;
    LeafSums total_;
};

}  // namespace dpboost
