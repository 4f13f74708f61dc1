// Spends charges on noisy sums.
#include "mechanism/noisy_sum.h"

#include <vector>

namespace dpboost {

static_assert(MechanismNoise::kScaleFractionBits == GaussianScale::kFractionBits, "one unit of scale");
static_assert(MechanismNoise::kScaleFractionBits == LaplaceScale::kFractionBits, "one unit of scale");

void AddGaussianNoise(Charge&& charge, NoiseSource& noise, SumBlock sums) {
    const std::vector<uint64_t>& units = charge.Spend(EventKind::kGaussian, {sums.count});
    noise.AddGaussian(GaussianScale::FromUnits(units[0]), sums.values, sums.count);
}

void AddGaussianNoise(Charge&& charge, NoiseSource& noise, SumBlock first, SumBlock second) {
    const std::vector<uint64_t>& units = charge.Spend(EventKind::kGaussian, {first.count, second.count});
    const GaussianScale first_sigma = GaussianScale::FromUnits(units[0]);
    const GaussianScale second_sigma = GaussianScale::FromUnits(units[1]);
    noise.AddGaussian(first_sigma, first.values, first.count);
    noise.AddGaussian(second_sigma, second.values, second.count);
}

void AddLaplaceNoise(Charge&& charge, NoiseSource& noise, SumBlock sums) {
    const std::vector<uint64_t>& units = charge.Spend(EventKind::kLaplace, {sums.count});
    noise.AddLaplace(LaplaceScale::FromUnits(units[0]), sums.values, sums.count);
}

}  // namespace dpboost
