// How a share of the privacy budget becomes the strength of a mechanism. Shares are fractions of mu^2, which
// adds up for Gaussians; other mechanisms get what is equivalent to first order. An allocation decides only
// who gets how much; that the total keeps its promise is proven afterwards from the events.
#pragma once

#include "privacy/events.h"

namespace dpboost {

// mu^2 of all uses of the event together: count/s^2 for Gaussians; count g^2 (exp(1/s^2) - 1) for sampled
// ones (central limit; Bu, Dong, Long and Su 2020); count e^2 for Laplace and pure; count e^2/4 for the
// exponential mechanism, whose loss has half the deviation.
double EffectiveMuSquared(const Event& event);

// The parameter for which EffectiveMuSquared is mu_squared.
double ParameterForMuSquared(EventKind kind, double sampling_rate, uint64_t count, double mu_squared);

}  // namespace dpboost
