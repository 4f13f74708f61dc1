// Renyi differential privacy: the divergence of every event at an order, curves on the 64 orders that the
// ledger stores, and the way back to (epsilon, delta). All values are upper bounds, rounded up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/events.h"

namespace dpboost {

constexpr std::size_t kOrderCount = 64;
extern const std::array<uint32_t, kOrderCount> kOrders;  // 2 .. 8192, ascending

// The order "infinity", at which the divergence is the pure epsilon.
constexpr uint32_t kInfiniteOrder = UINT32_MAX;

// rho(alpha) of a release at the 64 orders and at infinity; rho adds up under adaptive composition.
struct RdpCurve {
    std::array<double, kOrderCount> rho{};
    double pure_epsilon = 0;  // at order infinity; infinite for Gaussian noise

    RdpCurve& operator+=(const RdpCurve& other);
    // The value at one of the 64 orders or kInfiniteOrder; throws kInvalidParameter at any other.
    double At(uint32_t order) const;
};

// [SBDT] Thm 14 for the Gaussian of noise multiplier s, Poisson-sampled with probability gamma; tight, both
// directions. Order: an integer in [2, 8192]. For gamma = 1 it is alpha / (2 s^2).
double SubsampledGaussianRdp(uint32_t order, double noise_multiplier, double gamma);
// [SBDT] Thm 18's f / (alpha - 1). Any order > 1.
double LaplaceRdp(double order, double epsilon);
// [DPXGB] Thm 1 in closed form. Any order >= 1 (at 1: the Kullback-Leibler divergence).
double ExponentialMechanismRdp(double order, double epsilon);
// Randomized response, the worst epsilon-DP mechanism at every order. Any order > 1.
double PureRdp(double order, double epsilon);
// A mu-Gaussian-DP mechanism, whose worst case is one Gaussian.
double GdpRdp(double order, double mu);

// The events' divergence at one order (one of [2, 8192], or kInfiniteOrder), composed.
double EventsRdp(const std::vector<Event>& events, uint32_t order);
RdpCurve EventsCurve(const std::vector<Event>& events);

// [SBDT] Cor 6 at one order: the epsilon of an (order, rho)-RDP mechanism, not below 0. delta in (0, 1).
double RdpToEpsilon(uint32_t order, double rho, double delta);
// The largest rho that Cor 6 turns into at most epsilon at this order; below 0: the order cannot certify it.
double EpsilonToRdp(uint32_t order, double epsilon, double delta);

struct RdpEpsilon {
    double epsilon;
    uint32_t order;
};
// Cor 6 at the best of the curve's orders, also the pure epsilon if that is smaller (delta = 0: only that).
RdpEpsilon CurveToEpsilon(const RdpCurve& curve, double delta);
// The same over all integer orders 2..8192, for events; slower, at most as large.
RdpEpsilon EventsRdpEpsilon(const std::vector<Event>& events, double delta);

}  // namespace dpboost
