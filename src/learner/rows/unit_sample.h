// Who takes part in a release, and by which row: coins that nobody may know, because the proofs of amplification and of
// units with several rows rest on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "mechanism/random.h"

namespace dpboost {

// The row that stands for a unit: one of its rows, drawn anew with every call.
inline uint32_t DrawRowOf(const Dataset& dataset, uint32_t unit, PrivateRandom& coins) {
    if (!dataset.has_units())
        return unit;
    const uint32_t begin = dataset.unit_begin()[unit];
    const uint32_t size = dataset.unit_begin()[unit + 1] - begin;
    return dataset.unit_rows()[begin + coins.Below(size)];
}

class UnitSample {
  public:
    // Chooses each of `units` units independently with probability `rate` and calls use(chosen, count) with those of a
    // segment, ascending, segment by segment, so that drawing stays short between polls. `use` may overwrite them.
    template <typename Use>
    void Draw(size_t units, SamplingRate rate, PrivateRandom& coins, const Use& use) {
        chosen_.resize(std::min(kSegment, units));
        for (size_t first = 0; first < units; first += kSegment) {
            const size_t count = coins.PoissonSample(rate, std::min(kSegment, units - first), chosen_.data());
            for (size_t i = 0; first > 0 && i < count; i++)
                chosen_[i] += static_cast<uint32_t>(first);
            use(chosen_.data(), count);
        }
    }

    // The same on all workers of a pool: calls use(worker, chosen, count) with segments in any order. Whoever is free draws
    // the next segment, one at a time and in order, so the coins fall as for a single worker.
    template <typename Use>
    void Draw(size_t units, SamplingRate rate, PrivateRandom& coins, WorkerPool& pool, Interrupt& interrupt,
              const Use& use) {
        const size_t segment = SegmentFor(rate);
        of_worker_.resize(static_cast<size_t>(pool.workers()));
        size_t next = 0;
        std::mutex turn;
        pool.Run((units + segment - 1) / segment, interrupt, [&](int worker, size_t) {
            std::vector<uint32_t>& chosen = of_worker_[static_cast<size_t>(worker)];
            chosen.resize(segment);
            size_t first, count;
            {
                while (!turn.try_lock())
                    std::this_thread::yield();
                const std::lock_guard<std::mutex> lock(turn, std::adopt_lock);
                first = next;
                next += segment;
                count = coins.PoissonSample(rate, std::min(segment, units - first), chosen.data());
            }
            for (size_t i = 0; first > 0 && i < count; i++)
                chosen[i] += static_cast<uint32_t>(first);
            use(worker, chosen.data(), count);
        });
    }

  private:
    // Multiples of what PoissonSample reads coins for at once, so that the sample does not depend on them.
    static constexpr size_t kSegment = size_t{1} << 18;
    static constexpr size_t kChosen = 1024;  // of a segment of parallel work, about
    static size_t SegmentFor(SamplingRate rate) {
        const double units = static_cast<double>(kChosen) / rate.value();
        size_t segment = kChosen;
        while (segment < kSegment / 4 && static_cast<double>(segment) < units)
            segment *= 2;
        return segment;
    }

    std::vector<uint32_t> chosen_;
    std::vector<std::vector<uint32_t>> of_worker_;
};

}  // namespace dpboost
