#include "learner/pure/subsets.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

Subsets::Subsets(const PureOptions& options)
    : ends_(options.trees_per_ensemble), rows_(options.trees_per_ensemble) {
    const double whole = 4294967296.0;
    const double trees = static_cast<double>(options.trees_per_ensemble);
    // What the trees up to and including k take together.
    for (std::size_t k = 0; k < ends_.size(); k++) {
        const double next = static_cast<double>(k) + 1;
        double part = 1 - std::exp2(-next);
        if (options.subsets == SubsetPart::kGeometric) {
            const double log_left = std::log1p(-options.learning_rate);  // -infinity for eta = 1
            part = std::expm1(next * log_left) / std::expm1(trees * log_left);
        }
        ends_[k] = static_cast<uint64_t>(std::nearbyint(std::clamp(part, 0.0, 1.0) * whole));
    }
    ends_.back() = uint64_t{1} << 32;
}

std::vector<uint64_t> Subsets::Probabilities() const {
    std::vector<uint64_t> probabilities;
    uint64_t begin = 0;
    for (const uint64_t end : ends_) {
        probabilities.push_back(end - begin);
        begin = end;
    }
    return probabilities;
}

std::size_t Subsets::TreeOf(uint32_t draw) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), uint64_t{draw}) -
                                    ends_.begin());
}

void Subsets::Draw(const Dataset& dataset, Random& random, Interrupt& interrupt) {
    for (std::vector<uint32_t>& rows : rows_)
        rows.clear();
    for (std::size_t unit = 0; unit < dataset.units(); unit++) {
        uint32_t row = static_cast<uint32_t>(unit);
        if (dataset.has_units()) {
            const uint32_t begin = dataset.unit_begin()[unit];
            const uint32_t size = dataset.unit_begin()[unit + 1] - begin;
            row = dataset.unit_rows()[begin + random.Below(size)];
        }
        rows_[rows_.size() == 1 ? 0 : TreeOf(random.Next32())].push_back(row);
        if (unit % (std::size_t{1} << 16) == 0)
            interrupt.Poll();
    }
}

}  // namespace dpboost
