#include "learner/rows/sampled_sums.h"

#include <algorithm>

namespace dpboost {

SampledSums::Worker::Worker(size_t leaf_count, LeafWeights weights)
    : sums(leaf_count),
      unit(leaf_count, weights),
      rows(kBatch),
      owners(kBatch),
      scores(kBatch),
      labels(kBatch),
      leaves(kBatch),
      gradients(kBatch),
      hessians(kBatch) {}

SampledSums::SampledSums(const Dataset& dataset, const Objective& objective, LeafWeights weights,
                         size_t leaves, SamplingRate rate, const RenyiFilter* filter, Simd simd,
                         WorkerPool& pool)
    : dataset_(dataset),
      objective_(objective),
      rate_(rate),
      filter_(filter),
      simd_(simd),
      pool_(pool),
      workers_(static_cast<size_t>(pool.workers()), Worker(leaves, weights)),
      total_(leaves),
      sample_(std::min(kSegment, dataset.units())) {
    if (filter != nullptr) {
        spent_.resize(dataset.units());
        active_.resize(dataset.units());
    }
}

const LeafSums& SampledSums::Sum(EnsembleScores& scores, int slot, Random& random, Interrupt& interrupt) {
    if (filter_ != nullptr) {
        if (dataset_.has_units())
            ChargeUnits(scores, slot, interrupt);
        else
            ChargeRows(scores, slot, interrupt);
    }
    for (Worker& worker : workers_)
        worker.sums.Clear();
    for (size_t first = 0; first < dataset_.units(); first += kSegment) {
        const size_t count = DrawSegment(first, std::min(kSegment, dataset_.units() - first), random);
        if (dataset_.has_units())
            SumUnits(scores, slot, count, interrupt);
        else
            SumRows(scores, slot, count, interrupt);
    }
    total_.Clear();
    for (const Worker& worker : workers_)
        total_.Add(worker.sums);
    return total_;
}

// Every row is a unit: all scores are brought up to date and all gradients evaluated, block by block.
void SampledSums::ChargeRows(EnsembleScores& scores, int slot, Interrupt& interrupt) {
    pool_.Run(dataset_.blocks(), interrupt, [&](int index, size_t block) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        const int32_t* block_scores = scores.ApplyToBlock(block, slot);
        const float* labels = dataset_.Labels(block);
        const size_t rows = dataset_.block_rows(block);
        for (size_t row = 0; row < rows; row += kBatch) {
            const size_t n = std::min(kBatch, rows - row);
            objective_.Evaluate(simd_, block_scores + row, labels + row, n, worker.gradients.data(),
                                worker.hessians.data());
            const size_t unit = block * kBlockRows + row;
            filter_->Round(worker.hessians.data(), worker.gradients.data(), n, spent_.data() + unit,
                           active_.data() + unit);
        }
    });
    scores.MarkApplied(slot);
}

// Units of several rows: what a unit adds depends on the leaves of its rows, so the charge is that of its
// clipped sums.
void SampledSums::ChargeUnits(const EnsembleScores& scores, int slot, Interrupt& interrupt) {
    const size_t items = (dataset_.units() + kUnitItem - 1) / kUnitItem;
    pool_.Run(items, interrupt, [&](int index, size_t item) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        const size_t first = item * kUnitItem;
        ForEachUnit(
            worker, index == 0 ? &interrupt : nullptr, scores, slot,
            std::min(kUnitItem, dataset_.units() - first),
            [&](size_t k) { return static_cast<uint32_t>(first + k); },
            [&](size_t k) {
                const uint64_t charged = spent_[first + k] + worker.unit.Clip(filter_->bits());
                active_[first + k] = charged <= filter_->limit();
                if (active_[first + k])
                    spent_[first + k] = static_cast<uint32_t>(charged);
            });
    });
}

// Chooses among `units` units from first_unit on; those that the filter excludes are dropped after the draw.
size_t SampledSums::DrawSegment(size_t first_unit, size_t units, Random& random) {
    const size_t drawn = random.PoissonSample(rate_, units, sample_.data());
    const uint32_t offset = static_cast<uint32_t>(first_unit);
    size_t count = 0;
    if (filter_ == nullptr) {
        if (offset != 0) {
            for (size_t i = 0; i < drawn; i++)
                sample_[i] += offset;
        }
        return drawn;
    }
    for (size_t i = 0; i < drawn; i++) {
        const uint32_t unit = sample_[i] + offset;
        sample_[count] = unit;
        count += active_[unit];
    }
    return count;
}

void SampledSums::SumRows(const EnsembleScores& scores, int slot, size_t count, Interrupt& interrupt) {
    pool_.Run((count + kItem - 1) / kItem, interrupt, [&](int index, size_t item) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        const size_t end = std::min(count, (item + 1) * kItem);
        for (size_t first = item * kItem; first < end; first += kBatch) {
            const size_t n = std::min(kBatch, end - first);
            EvaluateRows(worker, scores, slot, sample_.data() + first, n);
            worker.sums.AddRows(worker.leaves.data(), worker.gradients.data(), worker.hessians.data(), n);
        }
    });
}

void SampledSums::SumUnits(const EnsembleScores& scores, int slot, size_t count, Interrupt& interrupt) {
    pool_.Run((count + kUnitItem - 1) / kUnitItem, interrupt, [&](int index, size_t item) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        const uint32_t* units = sample_.data() + item * kUnitItem;
        ForEachUnit(
            worker, index == 0 ? &interrupt : nullptr, scores, slot,
            std::min(kUnitItem, count - item * kUnitItem), [&](size_t k) { return units[k]; },
            [&](size_t) {
                worker.unit.Clip(0);
                worker.unit.AddTo(&worker.sums);
            });
    });
}

void SampledSums::EvaluateRows(Worker& worker, const EnsembleScores& scores, int slot, const uint32_t* rows,
                               size_t n) const {
    scores.Gather(rows, n, slot, worker.scores.data(), worker.leaves.data());
    for (size_t i = 0; i < n; i++)
        worker.labels[i] = dataset_.Label(rows[i]);
    objective_.Evaluate(simd_, worker.scores.data(), worker.labels.data(), n, worker.gradients.data(),
                        worker.hessians.data());
}

// Sums the rows of the units unit_at(0), ..., unit_at(count - 1) into worker.unit, one unit after the other,
// and calls finish(k) when it holds all of unit k. Gradients are evaluated in batches
// that span units; `interrupt`, of the calling thread, is polled between them: a unit may have millions of
// rows.
template <typename UnitAt, typename Finish>
void SampledSums::ForEachUnit(Worker& worker, Interrupt* interrupt, const EnsembleScores& scores, int slot,
                              size_t count, const UnitAt& unit_at, const Finish& finish) const {
    const std::vector<uint32_t>& unit_begin = dataset_.unit_begin();
    const std::vector<uint32_t>& unit_rows = dataset_.unit_rows();
    size_t filled = 0;
    size_t current = 0;
    const auto flush = [&] {
        EvaluateRows(worker, scores, slot, worker.rows.data(), filled);
        for (size_t i = 0; i < filled; i++) {
            while (current < worker.owners[i]) {
                finish(current++);
                worker.unit.Clear();
            }
            worker.unit.AddRow(worker.leaves[i], worker.gradients[i], worker.hessians[i]);
        }
        filled = 0;
        if (interrupt != nullptr)
            interrupt->Poll();
    };
    for (size_t k = 0; k < count; k++) {
        const uint32_t unit = unit_at(k);
        for (uint32_t place = unit_begin[unit]; place < unit_begin[unit + 1]; place++) {
            worker.rows[filled] = unit_rows[place];
            worker.owners[filled] = static_cast<uint32_t>(k);
            if (++filled == kBatch)
                flush();
        }
    }
    flush();
    while (current < count) {
        finish(current++);
        worker.unit.Clear();
    }
}

}  // namespace dpboost
