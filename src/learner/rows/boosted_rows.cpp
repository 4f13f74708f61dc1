#include "learner/rows/boosted_rows.h"

#include <algorithm>
#include <optional>

#include "learner/rows/row_gradients.h"
#include "learner/rows/sampled_sums.h"

namespace dpboost {
namespace {

std::optional<RenyiFilter> MakeFilter(uint64_t limit, LeafWeights weights) {
    if (limit == 0)
        return std::nullopt;
    const uint32_t clip = kClipSteps;
    return RenyiFilter(limit, {clip, weights.hessian_share()}, {clip, weights.gradient_share()});
}

}  // namespace

int ThreadsFor(const Dataset& dataset, int threads) {
    constexpr size_t kFewBlocks = 4;  // for fewer, no worker is woken
    return dataset.blocks() < kFewBlocks ? 1 : threads;
}

struct BoostedRows::State {
    State(const Dataset& dataset, const BoostedRowsOptions& options, LeafWeights weights, Simd simd,
          WorkerPool& pool)
        : filter(MakeFilter(options.filter_limit, weights)),
          gradients(dataset, options, simd, pool),
          sums(dataset, weights, size_t{1} << options.depth, gradients.outputs(), filter ? &*filter : nullptr,
               options.unit_rounds, pool),
          unit_rounds(options.unit_rounds) {}

    const std::optional<RenyiFilter> filter;
    RowGradients gradients;
    SampledSums sums;
    UnitRounds* const unit_rounds;
};

size_t BoostedRows::BytesPerRow(const BoostedRowsOptions& options) {
    return EnsembleScores::BytesPerRow(std::max<size_t>(1, options.class_bases.size())) +
           (options.keep_gradients ? 2 * sizeof(int32_t) : 0) +
           (options.filter_limit > 0 ? SampledSums::kFilterBytesPerUnit : 0);
}

BoostedRows::BoostedRows(const Dataset& dataset, const BoostedRowsOptions& options, Simd simd,
                         WorkerPool& pool) {
    dataset.RequireMemory(dataset.rows() * BytesPerRow(options));
    state_ = std::make_unique<State>(dataset, options, LeafWeights(options.hessian_share), simd, pool);
}

BoostedRows::~BoostedRows() = default;

void BoostedRows::StartFrom(const Model& model, Interrupt& interrupt) {
    state_->gradients.scores().StartFrom(model, interrupt);
}

int BoostedRows::trees_per_group() const {
    return state_->gradients.scores().trees_per_group();
}

void BoostedRows::Begin(const Tree* trees, int count, Interrupt& interrupt) {
    state_->gradients.scores().BeginGroup(trees, count, interrupt);
}

RawGradientSums BoostedRows::LeafSums(int slot, SamplingRate rate, PrivateRandom& coins,
                                      Interrupt& interrupt) {
    return state_->sums.Sum(state_->gradients, slot, rate, coins, interrupt);
}

void BoostedRows::SetLeaves(int slot, const std::vector<int32_t>& leaves) {
    state_->gradients.scores().SetLeaves(slot, leaves);
}

void BoostedRows::EvaluateAll(Interrupt& interrupt) {
    state_->gradients.EvaluateAll(interrupt);
}

void BoostedRows::SettleUnits() {
    if (state_->unit_rounds != nullptr)
        state_->sums.Settle(state_->unit_rounds);
}

const KeptGradients& BoostedRows::gradients() const {
    return state_->gradients.kept();
}

}  // namespace dpboost
