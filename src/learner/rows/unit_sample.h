// Who takes part in a release, and by which row: coins that nobody may know, because the proofs of amplification and of
// units with several rows rest on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  private:
    static constexpr size_t kSegment = size_t{1} << 18;

    std::vector<uint32_t> chosen_;
};

}  // namespace dpboost
