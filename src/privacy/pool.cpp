#include "privacy/pool.h"

#include <cmath>

#include "base/error.h"

namespace dpboost {

GaussianPool::GaussianPool(double noise_multiplier) : noise_multiplier_(noise_multiplier) {
    CheckInternal(noise_multiplier > 0 && std::isfinite(noise_multiplier), "a pool needs a noise multiplier");
}

std::shared_ptr<const MechanismNoise> GaussianPool::Take(uint64_t parts, double sensitivity,
                                                         std::size_t sums) {
    CheckInternal(parts > 0 && parts <= parts_left_, "the plan's pool has fewer parts left");
    CheckInternal(sensitivity > 0 && std::isfinite(sensitivity) && sums > 0, "a pool's draw has no sums");
    const double fraction = static_cast<double>(parts) / static_cast<double>(kParts);  // exact
    const double steps = sensitivity * noise_multiplier_ / std::sqrt(fraction);
    // A relative 1e-15 outweighs the rounding of the three operations above (each at most 1.2e-16).
    const double units = std::ceil(steps * (1 + 1e-15) *
                                   static_cast<double>(uint64_t{1} << MechanismNoise::kScaleFractionBits));
    if (!(units >= 1 && units <= static_cast<double>(uint64_t{1} << 60)))
        throw Error(ErrorCode::kInvalidParameter, "the noise of a training is out of range",
                    "It must lie between 2^-20 and 2^40 lattice steps.", "Use a larger epsilon.");
    auto noise = std::make_shared<MechanismNoise>();
    noise->kind = EventKind::kGaussian;
    noise->scale_units = {static_cast<uint64_t>(units)};
    noise->max_sums = {sums};
    parts_left_ -= parts;
    return noise;
}

}  // namespace dpboost
