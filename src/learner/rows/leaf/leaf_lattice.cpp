#include "learner/rows/leaf/leaf_lattice.h"

#include <algorithm>
#include <cmath>

#include "learner/objective/objective.h"
#include "learner/rows/node/node_rows.h"

namespace dpboost {

double LeafLattice::Sensitivity(LeafReleasePart part) {
    return static_cast<double>(part == LeafReleasePart::kQuotient ? kLeafSteps + 1
                                                                  : kClipSteps + kCountSteps);
}

std::size_t LeafLattice::Sums(LeafReleasePart part, std::size_t leaves) {
    return part == LeafReleasePart::kQuotient ? leaves : 2 * leaves;
}

LeafLattice::LeafLattice(LeafReleasePart part, double l2, double gradient_clip, double bound)
    : part_(part),
      l2_(l2),
      l2_steps_(static_cast<int64_t>(std::nearbyint(l2 * kClipSteps))),
      gradient_clip_(gradient_clip),
      bound_(bound) {}

double LeafLattice::ValueSensitivity() const {
    const double l2 = static_cast<double>(l2_steps_) / kClipSteps;
    return std::min(1 / (1 + l2), 2 * (bound_ / gradient_clip_));
}

std::vector<int64_t> LeafLattice::Steps(const std::vector<CellSum>& raw_leaves) const {
    std::vector<int64_t> steps;
    steps.reserve(Sums(part_, raw_leaves.size()));
    if (part_ == LeafReleasePart::kSums) {
        for (const CellSum& leaf : raw_leaves)
            steps.push_back(leaf.gradient);
        for (const CellSum& leaf : raw_leaves)
            steps.push_back(leaf.weight * kCountSteps);
        return steps;
    }
    // The factor takes a thousandth of a step off a change of kLeafSteps: |V| is below 2^30 steps, and the
    // few floating-point operations here move it by less than a millionth of a step.
    const double per_unit = static_cast<double>(kLeafSteps) / ValueSensitivity() * (1 - 1e-9);
    const double bound = bound_ / gradient_clip_;
    for (const CellSum& leaf : raw_leaves) {
        const double denominator = static_cast<double>(leaf.weight * kClipSteps + l2_steps_);
        const double value = leaf.weight == 0 ? 0 : static_cast<double>(leaf.gradient) / denominator;
        steps.push_back(std::llround(std::clamp(value, -bound, bound) * per_unit));
    }
    return steps;
}

std::vector<double> LeafLattice::Values(const NoisySums& noisy) const {
    const std::size_t leaves = noisy.values.size() / Sums(part_, 1);
    const double unit = gradient_clip_ * ValueSensitivity() / kLeafSteps / (1 - 1e-9);
    std::vector<double> values;
    values.reserve(leaves);
    for (std::size_t i = 0; i < leaves; i++) {
        double value = static_cast<double>(noisy.values[i]);
        if (part_ == LeafReleasePart::kQuotient) {
            value *= unit;
        } else {
            const double count = static_cast<double>(noisy.values[leaves + i]) / kCountSteps;
            value *= gradient_clip_ / kClipSteps / (std::max(count, 1.0) + l2_);
        }
        values.push_back(std::clamp(value, -bound_, bound_));
    }
    return values;
}

}  // namespace dpboost
