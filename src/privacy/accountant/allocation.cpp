// First-order equivalents between mechanisms; nothing here is a privacy claim.
#include "privacy/accountant/allocation.h"

#include <cmath>

#include "base/error.h"

namespace dpboost {
namespace {

// exp(x) - 1 up to log 2, then its tangent, so that the noise multiplier stays a power of mu and not its
// logarithm where sampling is rare and noise small (the central limit is far away there anyway).
double GrowthOf(double x) {
    return x <= M_LN2 ? std::expm1(x) : 1 + 2 * (x - M_LN2);
}

double InverseGrowth(double growth) {
    return growth <= 1 ? std::log1p(growth) : M_LN2 + (growth - 1) / 2;
}

}  // namespace

double EffectiveMuSquared(const Event& event) {
    const double count = static_cast<double>(event.count);
    const double squared = event.parameter * event.parameter;
    switch (event.kind) {
        case EventKind::kGaussian:
            if (event.sampling_rate == 1)
                return count / squared;
            return count * event.sampling_rate * event.sampling_rate * GrowthOf(1 / squared);
        case EventKind::kExponential:
            return count * squared / 4;
        case EventKind::kLaplace:
        case EventKind::kPure:
        case EventKind::kGdp:
            return count * squared;
    }
    throw Error(ErrorCode::kInternal, "unknown kind of privacy event");
}

double ParameterForMuSquared(EventKind kind, double sampling_rate, uint64_t count, double mu_squared) {
    const double per_use = mu_squared / static_cast<double>(count);
    switch (kind) {
        case EventKind::kGaussian:
            if (sampling_rate == 1)
                return 1 / std::sqrt(per_use);
            return 1 / std::sqrt(InverseGrowth(per_use / (sampling_rate * sampling_rate)));
        case EventKind::kExponential:
            return 2 * std::sqrt(per_use);
        case EventKind::kLaplace:
        case EventKind::kPure:
        case EventKind::kGdp:
            return std::sqrt(per_use);
    }
    throw Error(ErrorCode::kInternal, "unknown kind of privacy event");
}

}  // namespace dpboost
