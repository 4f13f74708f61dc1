// One round of boosting up to the noise: sample units, look up or evaluate the gradients of their rows, and sum them
// per leaf within the bound of each unit ([SBDT] Alg 4 line 1, Alg 5 lines 1-4), leaving out the units that the Renyi
// filter excludes. Rows are worked on in parallel; coins are drawn one after the other, whoever draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/rows/leaf/leaf_sums.h"
#include "learner/rows/row_gradients.h"
#include "learner/rows/unit_rounds.h"
#include "learner/rows/unit_sample.h"
#include "privacy/filter/renyi_filter.h"

namespace dpboost {

class SampledSums {
  public:
    // Bytes per unit that a Renyi filter takes.
    static constexpr size_t kFilterBytesPerUnit = sizeof(uint32_t) + sizeof(uint8_t);

    // `filter` may be null: then no unit is ever left out. With `rounds` each unit begins in it where its own account lets
    // it. All references must outlive the object. K outputs: those of the gradients.
    SampledSums(const Dataset& dataset, LeafWeights weights, size_t leaves, size_t outputs,
                const RenyiFilter* filter, const UnitRounds* rounds, WorkerPool& pool);

    // The sums of tree `slot` of the current group, over each unit with probability `rate`. Under a filter every unit is
    // charged first, sampled or not, and those that would exceed their limit take no part; who that is stays in here.
    RawGradientSums Sum(RowGradients& gradients, int slot, SamplingRate rate, PrivateRandom& coins,
                        Interrupt& interrupt);

    // What the filter has charged each unit, with where it began: for its account, and nothing else.
    void Settle(UnitRounds* rounds) const { rounds->Settle(*filter_, spent_); }

  private:
    static constexpr size_t kUnitItem = 1024;  // units per piece of parallel work

    // What a worker needs for itself; allocated once.
    struct Worker {
        Worker(size_t leaves, LeafWeights weights, size_t outputs);
        LeafSums sums;
        UnitSum unit;
        std::vector<uint32_t> rows;
        std::vector<uint32_t> owners;
        RowGradients::Scratch scratch;
        std::vector<int32_t> lengths;  // of the gradients of several outputs
    };
    // Tree `slot` of the group that the gradients are at.
    struct Round {
        RowGradients& gradients;
        int slot;
        Interrupt& interrupt;
    };

    // What the filter charges a row for: its gradient or, of several outputs, the length of their vector, rounded up.
    static const int32_t* Lengths(const RowGradients::View& view, size_t n, size_t outputs, Worker* worker);
    void ChargeRows(const Round& round);
    void ChargeOwnRows(const RowGradients::View& view, size_t first, size_t n, size_t outputs);
    void ChargeUnits(const Round& round);
    size_t DropExcluded(uint32_t* units, size_t count) const;
    void SumAllRows(const Round& round);
    void SumRows(const Round& round, int index, const uint32_t* rows, size_t count);
    void SumKeptUnit(const Round& round, uint32_t unit, Worker* worker) const;
    void SumUnits(const Round& round, int index, const uint32_t* units, size_t count);
    template <typename UnitAt, typename Finish>
    void ForEachUnit(const Round& round, int worker_index, size_t count, const UnitAt& unit_at,
                     const Finish& finish);

    const Dataset& dataset_;
    const LeafWeights weights_;
    // Every unit has one row, which has the unit's number. Whether that is so shows in nothing but the time: the sums, and what
    // each unit is charged, are the same to the bit.
    const bool own_rows_;
    const RenyiFilter* filter_;
    WorkerPool& pool_;
    std::vector<Worker> workers_;
    LeafSums total_;
    UnitSample sample_;
    std::vector<uint32_t> spent_;  // per unit, what the filter has charged
    std::vector<uint8_t> active_;  // per unit, whether it may take part in this round
};

}  // namespace dpboost
