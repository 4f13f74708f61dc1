#include "learner/rows/boost_state.h"

#include <algorithm>

namespace dpboost {
namespace {

// Averaging is the squared loss at a score that never moves: its gradient is the centred label.
std::unique_ptr<const Objective> ObjectiveOf(const FrameworkOptions& options, const TargetSpec& target) {
    const bool averaging = options.leaf == LeafPart::kAveraging;
    return MakeObjective(averaging ? ObjectiveKind::kSquared : DefaultObjective(options.task), target,
                         options.gradient_clip, options.hessian_clip);
}

}  // namespace

size_t BoostState::BytesPerRow(const FrameworkOptions& options) {
    const bool searches = options.structure != StructurePart::kTotallyRandom || options.uses_sketch();
    size_t bytes = 3 * sizeof(int32_t) + sizeof(uint16_t);               // score, gradient, Hessian, leaf
    bytes += options.batch_size() > 1 ? sizeof(int32_t) : 0;             // pending
    bytes += searches ? 2 * sizeof(uint32_t) + 2 * sizeof(int32_t) : 0;  // rows by node, their values
    return bytes;
}

BoostState::Worker::Worker(const Dataset& dataset, const FrameworkOptions& options, Simd simd)
    : indexer(dataset, options.depth, simd),
      words(kBlockRows + kLeafRowGroup),
      sums(size_t{1} << options.depth),
      unit(size_t{1} << options.depth, LeafWeights(options.hessian_share)) {}

BoostState::BoostState(const Dataset& dataset, const FrameworkOptions& options, int32_t base, Simd simd,
                       WorkerPool& pool)
    : dataset_(dataset),
      pool_(pool),
      simd_(simd),
      objective_(ObjectiveOf(options, dataset.target())),
      count_rows_(options.hessian_is_count()),
      packing_(options.depth),
      scores_(dataset.rows(), base),
      gradients_(dataset.rows()),
      hessians_(dataset.rows()),
      leaves_(dataset.rows()),
      total_(size_t{1} << options.depth) {
    if (options.batch_size() > 1)
        pending_ = scores_;
    for (int i = 0; i < pool.workers(); i++)
        workers_.emplace_back(dataset, options, simd);
}

void BoostState::Evaluate(Interrupt& interrupt) {
    pool_.Run(dataset_.blocks(), interrupt, [&](int, size_t block) {
        const size_t first = block * kBlockRows;
        const size_t rows = dataset_.block_rows(block);
        objective_->Evaluate(simd_, &scores_[first], dataset_.Labels(block), rows, &gradients_[first],
                             &hessians_[first]);
        if (count_rows_)
            std::fill_n(&hessians_[first], rows, kClipSteps);
    });
}

void BoostState::AssignLeaves(const Tree& tree, Interrupt& interrupt) {
    for (Worker& worker : workers_)
        worker.indexer.SetTrees(&tree, 1);
    pool_.Run(dataset_.blocks(), interrupt, [&](int index, size_t block) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        worker.indexer.IndexBlock(block, worker.words.data());
        uint16_t* const leaves = &leaves_[block * kBlockRows];
        for (size_t i = 0; i < dataset_.block_rows(block); i++)
            leaves[i] = static_cast<uint16_t>(packing_.Leaf(worker.words[i], 0));
    });
}

void BoostState::SumRows(size_t block, LeafSums* sums) const {
    const size_t first = block * kBlockRows;
    sums->AddRows(&leaves_[first], &gradients_[first], &hessians_[first], dataset_.block_rows(block));
}

void BoostState::SumUnit(size_t unit, Worker* worker) const {
    if (!dataset_.has_units()) {
        worker->sums.AddOne(leaves_[unit], gradients_[unit], hessians_[unit]);
        return;
    }
    for (uint32_t place = dataset_.unit_begin()[unit]; place < dataset_.unit_begin()[unit + 1]; place++) {
        const uint32_t row = dataset_.unit_rows()[place];
        worker->unit.AddRow(leaves_[row], gradients_[row], hessians_[row]);
    }
    worker->unit.Clip(0);
    worker->unit.AddTo(&worker->sums);
    worker->unit.Clear();
}

void BoostState::SumSegment(size_t first, size_t units, SamplingRate rate, Random& random,
                            Interrupt& interrupt) {
    size_t count = units;
    if (!rate.IsAll()) {
        sample_.resize(kSegment);
        count = random.PoissonSample(rate, units, sample_.data());
    }
    pool_.Run((count + kUnitItem - 1) / kUnitItem, interrupt, [&](int index, size_t item) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        for (size_t i = item * kUnitItem; i < std::min(count, (item + 1) * kUnitItem); i++)
            SumUnit(first + (rate.IsAll() ? i : sample_[i]), &worker);
    });
}

const LeafSums& BoostState::SumLeaves(SamplingRate rate, Random& random, Interrupt& interrupt) {
    for (Worker& worker : workers_)
        worker.sums.Clear();
    const size_t units = dataset_.units();
    if (rate.IsAll() && !dataset_.has_units()) {
        pool_.Run(dataset_.blocks(), interrupt, [&](int index, size_t block) {
            SumRows(block, &workers_[static_cast<size_t>(index)].sums);
        });
    } else {
        // In segments, so that drawing stays short between polls.
        for (size_t first = 0; first < units; first += kSegment)
            SumSegment(first, std::min(kSegment, units - first), rate, random, interrupt);
    }
    total_.Clear();
    for (const Worker& worker : workers_)
        total_.Add(worker.sums);
    return total_;
}

void BoostState::AddLeaves(const std::vector<int32_t>& values, Interrupt& interrupt) {
    std::vector<int32_t>& scores = pending_.empty() ? scores_ : pending_;
    pool_.Run(dataset_.blocks(), interrupt, [&](int, size_t block) {
        const size_t end = block * kBlockRows + dataset_.block_rows(block);
        for (size_t row = block * kBlockRows; row < end; row++)
            scores[row] += values[leaves_[row]];
    });
}

void BoostState::FinishBatch() {
    if (!pending_.empty())
        scores_ = pending_;
}

}  // namespace dpboost
