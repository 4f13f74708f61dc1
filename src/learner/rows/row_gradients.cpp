#include "learner/rows/row_gradients.h"

#include <algorithm>

#include "base/error.h"

namespace dpboost {

RowGradients::RowGradients(const Dataset& dataset, const BoostedRowsOptions& options, Simd simd,
                           WorkerPool& pool)
    : dataset_(dataset),
      keep_(options.keep_gradients),
      count_rows_(options.count_rows),
      simd_(simd),
      pool_(pool),
      objective_(MakeObjective(options.objective, dataset.target(), options.gradient_clip,
                               options.hessian_clip, options.base)),
      scores_(dataset, options.depth,
              options.class_bases.empty() ? std::vector<int32_t>{options.base} : options.class_bases, simd,
              pool) {
    CheckInternal(outputs() == std::max<size_t>(1, options.class_bases.size()), "a score starts somewhere");
    CheckInternal(outputs() == 1 || !keep_, "gradients of classes are evaluated when needed");
    if (keep_) {
        kept_.gradients.resize(dataset.rows());
        kept_.hessians.resize(dataset.rows());
    }
}

void RowGradients::Evaluate(const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                            int32_t* hessians) const {
    objective_->Evaluate(simd_, scores, labels, n, gradients, hessians);
    if (count_rows_)
        std::fill_n(hessians, n, kClipSteps);
}

void RowGradients::EvaluateAll(Interrupt& interrupt) {
    const int trees = scores_.known();
    pool_.Run(dataset_.blocks(), interrupt, [&](int, size_t block) {
        const size_t first = block * kBlockRows;
        Evaluate(scores_.ApplyToBlock(block, trees), dataset_.Labels(block), dataset_.block_rows(block),
                 &kept_.gradients[first], &kept_.hessians[first]);
    });
    scores_.MarkApplied(trees);
}

RowGradients::View RowGradients::Gather(const uint32_t* rows, size_t n, int slot, Scratch* scratch) const {
    int32_t* const gradients = scratch->gradients.data();
    int32_t* const hessians = scratch->hessians.data();
    if (keep_) {
        for (size_t i = 0; i < n; i++) {
            scratch->leaves[i] = scores_.Leaf(rows[i], slot);
            gradients[i] = kept_.gradients[rows[i]];
            hessians[i] = kept_.hessians[rows[i]];
        }
    } else {
        scores_.Gather(rows, n, slot, scratch->scores.data(), scratch->leaves.data());
        for (size_t i = 0; i < n; i++)
            scratch->labels[i] = dataset_.Label(rows[i]);
        Evaluate(scratch->scores.data(), scratch->labels.data(), n, gradients, hessians);
    }
    return {gradients, hessians};
}

}  // namespace dpboost
