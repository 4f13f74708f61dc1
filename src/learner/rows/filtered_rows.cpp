#include "learner/rows/filtered_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learner/objective/objective.h"
#include "learner/rows/ensemble_scores.h"
#include "learner/rows/row_gradients.h"
#include "learner/rows/subsets.h"

namespace dpboost {
namespace {

constexpr size_t kBatch = 1024;  // rows whose scores are looked up together

}  // namespace

GradientFilter::GradientFilter(double bound)
    : bound_fixed_(static_cast<int64_t>(std::floor(bound * kFixedScale))) {}

int32_t GradientFilter::Steps(int64_t label_fixed, int64_t score_fixed) const {
    // |gradient| <= bound, so that the quotient is at most kClipSteps; truncation makes it no larger.
    return static_cast<int32_t>((label_fixed - score_fixed) * kClipSteps / bound_fixed_);
}

struct FilteredRows::State {
    State(const Dataset& rows_of, std::vector<uint64_t> subset_ends, double gradient_clip, int depth,
          Simd simd, WorkerPool& pool)
        : dataset(rows_of),
          filter(gradient_clip),
          subsets(std::move(subset_ends)),
          scores(rows_of, depth, {0}, simd, pool),
          nodes(rows_of, pool) {
        values.gradients.resize(rows_of.rows());
    }

    int64_t LabelFixed(size_t row) const {
        const double label = dataset.Label(row);
        return ToFixed(dataset.target().task() == Task::kBinary ? 2 * label - 1 : label);
    }

    const Dataset& dataset;
    const GradientFilter filter;
    Subsets subsets;
    EnsembleScores scores;
    KeptGradients values;
    NodeSums nodes;
};

FilteredRows::FilteredRows(const Dataset& dataset, std::vector<uint64_t> subset_ends, double gradient_clip,
                           int depth, Simd simd, WorkerPool& pool) {
    dataset.RequireMemory(dataset.rows() * kBytesPerRow);
    state_ = std::make_unique<State>(dataset, std::move(subset_ends), gradient_clip, depth, simd, pool);
}

FilteredRows::~FilteredRows() = default;

void FilteredRows::DrawSubsets(PrivateRandom& coins, Interrupt& interrupt) {
    state_->subsets.Draw(state_->dataset, coins, interrupt);
}

NodeSums& FilteredRows::Begin(size_t k, Interrupt& interrupt) {
    const std::vector<uint32_t>& subset = state_->subsets.rows(k);
    std::vector<uint32_t> passed;
    passed.reserve(subset.size());
    int32_t scores[kBatch];
    uint16_t leaves[kBatch];
    for (size_t first = 0; first < subset.size(); first += kBatch) {
        const size_t n = std::min(kBatch, subset.size() - first);
        state_->scores.Gather(&subset[first], n, state_->scores.known(), scores, leaves);
        for (size_t i = 0; i < n; i++) {
            const uint32_t row = subset[first + i];
            const int64_t label = state_->LabelFixed(row);
            if (!state_->filter.Passes(label, scores[i]))
                continue;
            state_->values.gradients[row] = state_->filter.Steps(label, scores[i]);
            passed.push_back(row);
        }
        interrupt.Poll();
    }
    state_->nodes.BeginWith(state_->values, NodeSums::Weight::kRow, std::move(passed));
    return state_->nodes;
}

void FilteredRows::AddTree(const Tree& tree, Interrupt& interrupt) {
    state_->scores.BeginGroup(&tree, 1, interrupt);
    state_->scores.SetLeaves(0, tree.leaves);
}

}  // namespace dpboost
