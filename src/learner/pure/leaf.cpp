#include "learner/pure/leaf.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learner/objective/objective.h"
#include "mechanism/noisy_sum.h"

namespace dpboost {

double LeafRelease::Sensitivity(const PureOptions& options) {
    if (options.leaves == LeafReleasePart::kQuotient)
        return static_cast<double>(kLeafSteps + 1);
    return static_cast<double>(kClipSteps + kCountSteps);
}

std::size_t LeafRelease::Sums(const PureOptions& options) {
    const std::size_t leaves = std::size_t{1} << options.depth;
    return options.leaves == LeafReleasePart::kQuotient ? leaves : 2 * leaves;
}

LeafRelease::LeafRelease(const PureOptions& options)
    : options_(options), l2_steps_(static_cast<int64_t>(std::nearbyint(options.l2 * kClipSteps))) {}

double LeafRelease::ValueSensitivity(uint32_t tree_of_ensemble) const {
    const double bound = options_.LeafBound(tree_of_ensemble) / options_.gradient_bound;
    const double l2 = static_cast<double>(l2_steps_) / kClipSteps;
    return std::min(1 / (1 + l2), 2 * bound);
}

std::vector<int64_t> LeafRelease::RawSums(const std::vector<CellSum>& raw_leaves,
                                          uint32_t tree_of_ensemble) const {
    std::vector<int64_t> sums;
    sums.reserve(Sums(options_));
    if (options_.leaves == LeafReleasePart::kSums) {
        for (const CellSum& leaf : raw_leaves)
            sums.push_back(leaf.gradient);
        for (const CellSum& leaf : raw_leaves)
            sums.push_back(leaf.weight * kCountSteps);
        return sums;
    }
    // The factor takes a thousandth of a step off a change of kLeafSteps: |V| is below 2^30 steps, and the
    // few floating-point operations here move it by less than a millionth of a step.
    const double steps = static_cast<double>(kLeafSteps) / ValueSensitivity(tree_of_ensemble) * (1 - 1e-9);
    const double bound = options_.LeafBound(tree_of_ensemble) / options_.gradient_bound;
    for (const CellSum& leaf : raw_leaves) {
        const double denominator = static_cast<double>(leaf.weight * kClipSteps + l2_steps_);
        const double value = leaf.weight == 0 ? 0 : static_cast<double>(leaf.gradient) / denominator;
        sums.push_back(std::llround(std::clamp(value, -bound, bound) * steps));
    }
    return sums;
}

std::vector<int32_t> LeafRelease::Draw(const std::vector<CellSum>& raw_leaves, uint32_t tree_of_ensemble,
                                       Charge charge, NoiseSource& noise) const {
    std::vector<int64_t> noisy_sums = RawSums(raw_leaves, tree_of_ensemble);
    AddLaplaceNoise(std::move(charge), noise, SumBlock{noisy_sums.data(), noisy_sums.size()});
    const std::size_t leaves = raw_leaves.size();
    const double g = options_.gradient_bound;
    const double bound = options_.LeafBound(tree_of_ensemble);
    const double unit = g * ValueSensitivity(tree_of_ensemble) / kLeafSteps / (1 - 1e-9);
    std::vector<int32_t> values;
    values.reserve(leaves);
    for (std::size_t i = 0; i < leaves; i++) {
        double value = static_cast<double>(noisy_sums[i]);
        if (options_.leaves == LeafReleasePart::kQuotient) {
            value *= unit;
        } else {
            const double count = static_cast<double>(noisy_sums[leaves + i]) / kCountSteps;
            value *= g / kClipSteps / (std::max(count, 1.0) + options_.l2);
        }
        values.push_back(ToFixed(options_.learning_rate * std::clamp(value, -bound, bound)));
    }
    return values;
}

}  // namespace dpboost
