// Every kind of mechanism in one table: what it may do and each fact that a proof needs. A new kind is a value of
// EventKind and a row here; nothing else in the accountant names a kind.
#pragma once

#include <cstdint>

#include "privacy/accountant/loss_grid.h"
#include "privacy/events.h"

namespace dpboost {

enum KindTrait : unsigned {
    kDraws = 1,          // a plan may draw it; the others only describe what happened elsewhere
    kSamples = 2,        // proven under Poisson sampling and under the Renyi filter
    kIsGaussian = 4,     // with all rows exactly mu-Gaussian-DP; has no pure epsilon
    kSharperByRdp = 8,   // its Renyi divergence can be the tighter proof than its privacy loss distribution
    kHasLossAtoms = 16,  // at +- its parameter
    kSplitsByWeight =
        32,  // each dimension is an event of its own, with epsilons by weight; else all are one event
    kParameterIsNoise = 64  // more of it is more privacy; else it is an epsilon
};

struct MechanismKind {
    EventKind kind;
    unsigned traits;
    bool Has(KindTrait trait) const { return (traits & trait) != 0; }

    // Renyi divergence of one use at an integer order, rounded up.
    double (*rdp)(const Event& event, uint32_t order);
    // One use on a grid, pessimistically; both directions.
    LossGridPair (*discretise)(const Event& event, const GridOptions& options);
    // The mu^2 of Gaussian DP that all uses together equal in first order, and the parameter of one use that has so much
    // of it. For allocation; no privacy claim, but for full-batch Gaussians, where both are exact.
    double (*mu_squared)(const Event& event);
    double (*parameter_of)(double sampling_rate, double mu_squared);
    // The scale of the noise in lattice steps for sums of this sensitivity, of which the dimension has this share of the
    // weights; null if the kind draws nothing.
    double (*scale)(double parameter, double sensitivity, double weight_share);
};

// Throws kInvalidParameter for a number that is no kind.
const MechanismKind& KindOf(EventKind kind);
inline const MechanismKind& KindOf(const Event& event) {
    return KindOf(event.kind);
}

// mu^2 of all uses of the event together: count/s^2 for Gaussians; count g^2 (exp(1/s^2) - 1) for sampled ones (central
// limit; [BDLS20]); count e^2 for Laplace and pure; count e^2/4 for the exponential mechanism, whose
// loss has half the deviation.
inline double EffectiveMuSquared(const Event& event) {
    return KindOf(event).mu_squared(event);
}

}  // namespace dpboost
