#include "learner/rows/sampled_sums.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

namespace {

bool HasOwnRows(const Dataset& dataset) {
    if (!dataset.has_units() || dataset.units() != dataset.rows())
        return false;
    for (size_t row = 0; row < dataset.rows(); row++)
        if (dataset.row_unit()[row] != row)
            return false;
    return true;
}

}  // namespace

SampledSums::Worker::Worker(size_t leaves, LeafWeights weights, size_t outputs)
    : sums(leaves, outputs),
      unit(leaves, weights, outputs),
      rows(RowGradients::kBatch),
      owners(RowGradients::kBatch),
      scratch(outputs),
      lengths(outputs > 1 ? RowGradients::kBatch : 0) {}

SampledSums::SampledSums(const Dataset& dataset, LeafWeights weights, size_t leaves, size_t outputs,
                         const RenyiFilter* filter, const UnitRounds* rounds, WorkerPool& pool)
    : dataset_(dataset),
      weights_(weights),
      own_rows_(HasOwnRows(dataset)),
      filter_(filter),
      pool_(pool),
      workers_(static_cast<size_t>(pool.workers()), Worker(leaves, weights, outputs)),
      total_(leaves, outputs) {
    if (filter != nullptr) {
        CheckInternal(rounds == nullptr || rounds->units() == dataset.units(), "every unit has an account");
        if (rounds != nullptr)
            spent_ = rounds->Starts(*filter);
        else
            spent_.resize(dataset.units());
        active_.resize(dataset.units());
    }
}

RawGradientSums SampledSums::Sum(RowGradients& gradients, int slot, SamplingRate rate, PrivateRandom& coins,
                                 Interrupt& interrupt) {
    const Round round{gradients, slot, interrupt};
    const bool units = dataset_.has_units() && !own_rows_;
    if (filter_ != nullptr)
        units ? ChargeUnits(round) : ChargeRows(round);
    for (Worker& worker : workers_)
        worker.sums.Clear();
    if (rate.IsAll() && !units && filter_ == nullptr) {
        SumAllRows(round);
    } else {
        sample_.Draw(
            dataset_.units(), rate, coins, pool_, interrupt, [&](int worker, uint32_t* chosen, size_t drawn) {
                const size_t count = filter_ == nullptr ? drawn : DropExcluded(chosen, drawn);
                units ? SumUnits(round, worker, chosen, count) : SumRows(round, worker, chosen, count);
            });
    }
    total_.Clear();
    for (const Worker& worker : workers_)
        total_.Add(worker.sums);
    return total_.Raw();
}

const int32_t* SampledSums::Lengths(const RowGradients::View& view, size_t n, size_t outputs,
                                    Worker* worker) {
    if (outputs == 1)
        return view.gradients;
    for (size_t i = 0; i < n; i++) {
        int64_t norm = 0;
        for (size_t k = 0; k < outputs; k++)
            norm += int64_t{view.gradients[i * outputs + k]} * view.gradients[i * outputs + k];
        auto length = static_cast<int64_t>(std::sqrt(static_cast<double>(norm)));
        while (length * length < norm)
            length++;
        worker->lengths[i] = static_cast<int32_t>(length);
    }
    return worker->lengths.data();
}

// Every row is a unit: all gradients are evaluated, block by block.
void SampledSums::ChargeRows(const Round& round) {
    pool_.Run(dataset_.blocks(), round.interrupt, [&](int index, size_t block) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        round.gradients.ForBlock(
            block, round.slot, &worker.scratch, [&](size_t row, size_t n, const RowGradients::View& view) {
                if (own_rows_)
                    return ChargeOwnRows(view, row, n, round.gradients.outputs());
                const int32_t* const lengths = Lengths(view, n, round.gradients.outputs(), &worker);
                filter_->Round(view.hessians, lengths, n, &spent_[row], &active_[row]);
            });
    });
    round.gradients.EndBlocks(round.slot);
}

// As ChargeUnits does, of units that have one row each.
void SampledSums::ChargeOwnRows(const RowGradients::View& view, size_t first, size_t n, size_t outputs) {
    const int bits = filter_->bits();
    for (size_t i = 0; i < n; i++) {
        uint64_t squared = 0;
        for (size_t k = 0; k < outputs; k++)
            squared += static_cast<uint64_t>(int64_t{view.gradients[i * outputs + k]} *
                                             view.gradients[i * outputs + k]);
        const uint32_t loss = weights_.RowLoss(view.hessians[i], squared, bits);
        active_[first + i] = filter_->Admit(loss, &spent_[first + i]) ? 1 : 0;
    }
}

// Units of several rows: what a unit adds depends on the leaves of its rows, so the charge is that of its
// clipped sums.
void SampledSums::ChargeUnits(const Round& round) {
    const size_t items = (dataset_.units() + kUnitItem - 1) / kUnitItem;
    pool_.Run(items, round.interrupt, [&](int index, size_t item) {
        UnitSum& unit = workers_[static_cast<size_t>(index)].unit;
        const size_t first = item * kUnitItem;
        ForEachUnit(
            round, index, std::min(kUnitItem, dataset_.units() - first),
            [&](size_t k) { return static_cast<uint32_t>(first + k); },
            [&](size_t k) {
                const uint64_t charged = spent_[first + k] + unit.Clip(filter_->bits());
                active_[first + k] = charged <= filter_->limit();
                if (active_[first + k])
                    spent_[first + k] = static_cast<uint32_t>(charged);
            });
    });
}

// Those that the filter excludes are dropped after the draw, so that nobody's coins depend on it.
size_t SampledSums::DropExcluded(uint32_t* units, size_t count) const {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t unit = units[i];
        units[kept] = unit;
        kept += active_[unit];
    }
    return kept;
}

void SampledSums::SumAllRows(const Round& round) {
    pool_.Run(dataset_.blocks(), round.interrupt, [&](int index, size_t block) {
        Worker& worker = workers_[static_cast<size_t>(index)];
        uint16_t* const leaves = worker.scratch.leaves.data();
        round.gradients.ForBlock(block, round.slot, &worker.scratch,
                                 [&](size_t row, size_t n, const RowGradients::View& view) {
                                     round.gradients.scores().LeavesFrom(row, n, round.slot, leaves);
                                     worker.sums.AddRows(leaves, view.gradients, view.hessians, n);
                                 });
    });
    round.gradients.EndBlocks(round.slot);
}

void SampledSums::SumRows(const Round& round, int index, const uint32_t* rows, size_t count) {
    Worker& worker = workers_[static_cast<size_t>(index)];
    for (size_t first = 0; first < count; first += RowGradients::kBatch) {
        const size_t n = std::min(RowGradients::kBatch, count - first);
        const RowGradients::View view = round.gradients.Gather(rows + first, n, round.slot, &worker.scratch);
        worker.sums.AddRows(worker.scratch.leaves.data(), view.gradients, view.hessians, n);
    }
}

void SampledSums::SumKeptUnit(const Round& round, uint32_t unit, Worker* worker) const {
    const RowGradients& gradients = round.gradients;
    for (uint32_t place = dataset_.unit_begin()[unit]; place < dataset_.unit_begin()[unit + 1]; place++) {
        const uint32_t row = dataset_.unit_rows()[place];
        worker->unit.AddRow(gradients.scores().Leaf(row, round.slot), gradients.kept().gradients[row],
                            gradients.kept().hessians[row]);
    }
    worker->unit.Clip(0);
    worker->unit.AddTo(&worker->sums);
    worker->unit.Clear();
}

void SampledSums::SumUnits(const Round& round, int index, const uint32_t* units, size_t count) {
    Worker& worker = workers_[static_cast<size_t>(index)];
    for (size_t k = 0; round.gradients.keeps() && k < count; k++)
        SumKeptUnit(round, units[k], &worker);
    if (round.gradients.keeps())
        return;
    ForEachUnit(
        round, index, count, [&](size_t k) { return units[k]; },
        [&](size_t) {
            worker.unit.Clip(0);
            worker.unit.AddTo(&worker.sums);
        });
}

// Sums the rows of the units unit_at(0), ..., unit_at(count - 1) into the worker's unit, one unit after the other, and
// calls finish(k) when it holds all of unit k. Gradients are looked up in batches that span units; the calling thread
// polls between them: a unit may have millions of rows.
template <typename UnitAt, typename Finish>
void SampledSums::ForEachUnit(const Round& round, int worker_index, size_t count, const UnitAt& unit_at,
                              const Finish& finish) {
    const std::vector<uint32_t>& unit_begin = dataset_.unit_begin();
    const std::vector<uint32_t>& unit_rows = dataset_.unit_rows();
    Worker& worker = workers_[static_cast<size_t>(worker_index)];
    size_t filled = 0;
    size_t current = 0;
    const auto flush = [&] {
        const RowGradients::View view =
            round.gradients.Gather(worker.rows.data(), filled, round.slot, &worker.scratch);
        for (size_t i = 0; i < filled; i++) {
            while (current < worker.owners[i]) {
                finish(current++);
                worker.unit.Clear();
            }
            worker.unit.AddRow(worker.scratch.leaves[i], view.gradients + i * round.gradients.outputs(),
                               view.hessians[i]);
        }
        filled = 0;
        if (worker_index == 0)
            round.interrupt.Poll();
    };
    for (size_t k = 0; k < count; k++) {
        const uint32_t unit = unit_at(k);
        for (uint32_t place = unit_begin[unit]; place < unit_begin[unit + 1]; place++) {
            worker.rows[filled] = unit_rows[place];
            worker.owners[filled] = static_cast<uint32_t>(k);
            if (++filled == RowGradients::kBatch)
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
