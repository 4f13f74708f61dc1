// Gradient, Hessian and leaf of rows while an ensemble grows. Methods whose trees look at no row evaluate gradients of the
// sampled rows alone, at the scores of that moment; the others evaluate and keep those of all rows, for as many trees
// as a batch has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/large_memory.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/objective/objective.h"
#include "learner/rows/boosted_rows.h"
#include "learner/rows/ensemble_scores.h"

namespace dpboost {

// Of all rows, in lattice steps: |gradient| <= kClipSteps and 0 <= Hessian <= kClipSteps.
struct KeptGradients {
    LargeVector<int32_t> gradients;
    LargeVector<int32_t> hessians;
};

class RowGradients {
  public:
    static constexpr size_t kBatch = 1024;  // rows whose gradients are evaluated together

    // What a worker needs for itself; allocated once.
    struct Scratch {
        explicit Scratch(size_t outputs = 1)
            : scores(kBatch * outputs),
              labels(kBatch),
              leaves(kBatch),
              gradients(kBatch * outputs),
              hessians(kBatch) {}
        std::vector<int32_t> scores;
        std::vector<float> labels;
        std::vector<uint16_t> leaves;
        std::vector<int32_t> gradients;
        std::vector<int32_t> hessians;
    };
    // Of up to kBatch rows, K gradients each; valid until the scratch is used again.
    struct View {
        const int32_t* gradients;
        const int32_t* hessians;
    };

    // Dataset and pool must outlive the object.
    RowGradients(const Dataset& dataset, const BoostedRowsOptions& options, Simd simd, WorkerPool& pool);

    EnsembleScores& scores() { return scores_; }
    const EnsembleScores& scores() const { return scores_; }
    size_t outputs() const { return objective_->outputs(); }
    bool keeps() const { return keep_; }
    const KeptGradients& kept() const { return kept_; }

    // Evaluates all rows at the scores of all trees so far, and keeps the result.
    void EvaluateAll(Interrupt& interrupt);

    // The given rows before tree `slot` of the scores' group. Also writes their leaves in that tree to the scratch.
    View Gather(const uint32_t* rows, size_t n, int slot, Scratch* scratch) const;

    // Calls use(row, n, view) for all rows of a block, in order, `row` counted in the dataset. A round that has done so
    // for every block ends with EndBlocks.
    template <typename Use>
    void ForBlock(size_t block, int slot, Scratch* scratch, const Use& use) {
        const size_t rows = dataset_.block_rows(block);
        const int32_t* const scores = keep_ ? nullptr : scores_.ApplyToBlock(block, slot);
        for (size_t i = 0; i < rows; i += kBatch) {
            const size_t n = rows - i < kBatch ? rows - i : kBatch;
            const size_t row = block * kBlockRows + i;
            if (keep_) {
                use(row, n, View{&kept_.gradients[row], &kept_.hessians[row]});
                continue;
            }
            Evaluate(scores + i * outputs(), dataset_.Labels(block) + i, n, scratch->gradients.data(),
                     scratch->hessians.data());
            use(row, n, View{scratch->gradients.data(), scratch->hessians.data()});
        }
    }
    void EndBlocks(int slot) {
        if (!keep_)
            scores_.MarkApplied(slot);
    }

  private:
    void Evaluate(const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                  int32_t* hessians) const;

    const Dataset& dataset_;
    const bool keep_;
    const bool count_rows_;
    const Simd simd_;
    WorkerPool& pool_;
    const std::unique_ptr<const Objective> objective_;
    EnsembleScores scores_;
    KeptGradients kept_;
};

}  // namespace dpboost
