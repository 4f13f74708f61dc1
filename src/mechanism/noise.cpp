// Scales and the production noise source.
#include "mechanism/noise.h"

#include <cmath>

#include "base/error.h"
#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"

namespace dpboost {

template <typename Tag>
NoiseScale<Tag> NoiseScale<Tag>::FromSteps(double steps) {
    if (!(steps > 0 && steps <= static_cast<double>(kMaxUnits >> kFractionBits)))
        throw Error(ErrorCode::kInvalidParameter,
                    "noise scale must be above 0 and at most 2^40 lattice steps");
    // A product by a power of two and a ceiling of a number below 2^60 are exact. A subnormal number times
    // 2^20 is, too: scaling up never rounds.
    return NoiseScale(static_cast<uint64_t>(std::ceil(std::ldexp(steps, kFractionBits))));
}

template <typename Tag>
NoiseScale<Tag> NoiseScale<Tag>::FromUnits(uint64_t units) {
    if (units == 0 || units > kMaxUnits)
        throw Error(ErrorCode::kInvalidParameter,
                    "noise scale must be above 0 and at most 2^40 lattice steps");
    return NoiseScale(units);
}

template class NoiseScale<GaussianTag>;
template class NoiseScale<LaplaceTag>;
template class NoiseScale<SelectionTag>;

void ExactNoise::AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) {
    GaussianSampler<>(DrawKey(), random_, sigma).AddTo(values, n);
}

void ExactNoise::AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) {
    LaplaceSampler(DrawKey(), random_, b).AddTo(values, n);
}

std::size_t ExactNoise::Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) {
    return ExponentialSampler(DrawKey(), random_, temperature).Draw(utilities, n, &bars_);
}

}  // namespace dpboost
