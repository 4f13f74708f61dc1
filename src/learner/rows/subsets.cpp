#include "learner/rows/subsets.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "learner/rows/unit_sample.h"

namespace dpboost {

Subsets::Subsets(std::vector<uint64_t> ends) : ends_(std::move(ends)), rows_(ends_.size()) {
    CheckInternal(!ends_.empty() && ends_.back() == uint64_t{1} << 32, "every unit needs a tree");
}

void Subsets::Draw(const Dataset& dataset, PrivateRandom& coins, Interrupt& interrupt) {
    for (std::vector<uint32_t>& rows : rows_)
        rows.clear();
    for (std::size_t unit = 0; unit < dataset.units(); unit++) {
        const uint32_t row = DrawRowOf(dataset, static_cast<uint32_t>(unit), coins);
        const auto end = rows_.size() == 1
                             ? ends_.begin()
                             : std::upper_bound(ends_.begin(), ends_.end(), uint64_t{coins.Next32()});
        rows_[static_cast<std::size_t>(end - ends_.begin())].push_back(row);
        if (unit % (std::size_t{1} << 16) == 0)
            interrupt.Poll();
    }
}

}  // namespace dpboost
