// One round of boosting up to the noise: sample units, evaluate the gradients of their rows at the current
// scores, and sum them per leaf within the bound of each unit ([SBDT] Alg 4 line 1, Alg 5 lines 1-4),
// leaving out the units that the Renyi filter excludes. Row blocks are worked on in parallel; the sample is
// drawn by the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/objective/objective.h"
#include "learner/rows/ensemble_scores.h"
#include "learner/rows/leaf_sums.h"
#include "mechanism/random.h"
#include "privacy/renyi_filter.h"

namespace dpboost {

class SampledSums {
  public:
    // Bytes per unit that a Renyi filter takes.
    static constexpr size_t kFilterBytesPerUnit = sizeof(uint32_t) + sizeof(uint8_t);

    // `filter` may be null: then no unit is ever left out. All references must outlive the object.
    SampledSums(const Dataset& dataset, const Objective& objective, LeafWeights weights, size_t leaves,
                SamplingRate rate, const RenyiFilter* filter, Simd simd, WorkerPool& pool);

    // The raw sums of tree `slot` of the scores' current group. Under a filter every unit is charged first,
    // sampled or not, and those that would exceed their limit take no part; who that is stays in here.
    const LeafSums& Sum(EnsembleScores& scores, int slot, Random& random, Interrupt& interrupt);

  private:
    static constexpr size_t kBatch = 1024;       // rows whose gradients are evaluated together
    static constexpr size_t kItem = 4096;        // sampled rows per piece of parallel work
    static constexpr size_t kUnitItem = 1024;    // units per piece of parallel work
    static constexpr size_t kSegment = 1 << 18;  // units that are sampled together

    // What a worker needs for itself; allocated once.
    struct Worker {
        Worker(size_t leaves, LeafWeights weights);
        LeafSums sums;
        UnitSum unit;
        std::vector<uint32_t> rows;
        std::vector<uint32_t> owners;
        std::vector<int32_t> scores;
        std::vector<float> labels;
        std::vector<uint16_t> leaves;
        std::vector<int32_t> gradients;
        std::vector<int32_t> hessians;
    };

    void ChargeRows(EnsembleScores& scores, int slot, Interrupt& interrupt);
    void ChargeUnits(const EnsembleScores& scores, int slot, Interrupt& interrupt);
    size_t DrawSegment(size_t first_unit, size_t units, Random& random);
    void SumRows(const EnsembleScores& scores, int slot, size_t count, Interrupt& interrupt);
    void SumUnits(const EnsembleScores& scores, int slot, size_t count, Interrupt& interrupt);
    void EvaluateRows(Worker& worker, const EnsembleScores& scores, int slot, const uint32_t* rows,
                      size_t n) const;
    template <typename UnitAt, typename Finish>
    void ForEachUnit(Worker& worker, Interrupt* interrupt, const EnsembleScores& scores, int slot,
                     size_t count, const UnitAt& unit_at, const Finish& finish) const;

    const Dataset& dataset_;
    const Objective& objective_;
    const SamplingRate rate_;
    const RenyiFilter* filter_;
    const Simd simd_;
    WorkerPool& pool_;
    std::vector<Worker> workers_;
    LeafSums total_;
    std::vector<uint32_t> sample_;  // chosen units of a segment
    std::vector<uint32_t> spent_;   // per unit, what the filter has charged
    std::vector<uint8_t> active_;   // per unit, whether it may take part in this round
};

}  // namespace dpboost
