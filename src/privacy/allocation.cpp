#include "privacy/allocation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dpboost {

double EffectiveMuSquared(const Event& event) {
    const double count = static_cast<double>(event.count);
    const double squared = event.parameter * event.parameter;
    switch (event.kind) {
        case EventKind::kGaussian:
            if (event.sampling_rate == 1)
                return count / squared;
            return count * event.sampling_rate * event.sampling_rate *
                   std::expm1(std::min(1 / squared, 500.0));
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
            return 1 / std::sqrt(std::log1p(per_use / (sampling_rate * sampling_rate)));
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
