// Closed forms of Gaussian DP. Values carry a relative error below 1e-12, and inverses are rounded by that
// much against the spender.
#include "privacy/accountant/gdp.h"

#include <cmath>

#include "base/error.h"
#include "privacy/accountant/numeric.h"
#include "privacy/accountant/quadrature.h"
#include "privacy/events.h"

namespace dpboost {
namespace {

// Numerical error of GdpDelta and of the solvers, covered by rounding results by this much.
constexpr double kRounding = 1e-12;

void CheckMu(double mu) {
    if (!(mu > 0) || !std::isfinite(mu))
        throw Error(ErrorCode::kInvalidParameter, "mu must be a positive, finite number");
}

void CheckPositiveDelta(double delta) {
    if (!(delta > 0 && delta < 1))
        throw Error(ErrorCode::kInvalidParameter, "delta must be above 0 and below 1 for Gaussian noise");
}

}  // namespace

// [ADASSP] Cor 1.1. For small mu its two terms agree in most digits, so delta is taken from the
// integral that they come from, which has no cancellation: with x = epsilon/mu - mu/2,
//     delta = integral over v > 0 of phi(v + x) (1 - exp(-mu v)).
double GdpDelta(double mu, double epsilon) {
    CheckMu(mu);
    if (!(epsilon >= 0))
        throw Error(ErrorCode::kInvalidParameter, "epsilon must not be negative");
    if (std::isinf(epsilon))
        return 0;
    const double x = epsilon / mu - mu / 2;
    if (mu > 1) {
        const double second = NormalTail(x + mu);
        return NormalTail(x) - (second > 0 ? std::exp(epsilon + std::log(second)) : 0);
    }
    const double end = std::sqrt(x * x + 90) - x;  // phi falls by exp(-45) on the way
    constexpr int kPanels = 48;                    // at most one e-fold each: relative error below 1e-12
    double sum = 0;
    for (int panel = 0; panel < kPanels; ++panel)
        sum += Integrate5(end * panel / kPanels, end * (panel + 1) / kPanels,
                          [&](double v) { return std::exp(-v * (0.5 * v + x)) * -std::expm1(-mu * v); });
    return sum * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
}

double GdpEpsilon(double mu, double delta) {
    CheckMu(mu);
    CheckPositiveDelta(delta);
    const double log_delta = std::log(delta);
    auto excess = [&](double epsilon) { return std::log(GdpDelta(mu, epsilon)) - log_delta; };
    const double at_zero = excess(0);
    if (at_zero <= 0)
        return 0;
    // P(loss > epsilon) bounds delta, and the loss is normal with mean mu^2/2 and deviation mu.
    const double high = mu * (mu / 2 + std::sqrt(-2 * log_delta));
    return SolveDecreasing(excess, 0, at_zero, high, excess(high), 1e-14) * (1 + kRounding);
}

// [ADASSP] Cor 1.1 as it stands. Each of its two terms carries a relative error below 1e-15 times a small
// factor, and delta falls by the second of them per unit of epsilon, so that the error of epsilon is of that
// size where the terms are alike (small mu), and smaller elsewhere. Newton's steps on the logarithm, which is
// concave in epsilon, come from the right and never pass the root: every point on the way is a bound, and a step
// below 1e-7 leaves less than 1e-12 to go. The last point is nudged up by the rounding error.
double GdpEpsilonAbove(double mu, double delta) {
    CheckMu(mu);
    CheckPositiveDelta(delta);
    const double log_delta = std::log(delta);
    auto terms = [&](double epsilon, double* second) {
        const double x = epsilon / mu - mu / 2;
        const double tail = NormalTail(x + mu);
        *second = tail > 0 ? std::exp(epsilon + std::log(tail)) : 0;
        return NormalTail(x) - *second;
    };
    double second;
    double epsilon = mu * (mu / 2 + std::sqrt(-2 * log_delta));  // beyond the root: see GdpEpsilon
    for (int step = 0; step < 50; ++step) {
        const double value = terms(epsilon, &second);
        if (!(value > 0))
            break;
        const double move = (std::log(value) - log_delta) * value / second;
        if (!(epsilon + move > 0))
            return terms(0, &second) <= delta ? 0 : GdpEpsilon(mu, delta);
        epsilon += move;
        if (std::fabs(move) <= 1e-7 * epsilon)
            break;
    }
    return epsilon * (1 + kRounding) + 1e-13;
}

double GdpMu(double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    CheckPositiveDelta(delta);
    const double log_delta = std::log(delta);
    // In 1/mu the function decreases.
    auto excess = [&](double inverse) { return std::log(GdpDelta(1 / inverse, epsilon)) - log_delta; };
    double low = std::sqrt(-2 * log_delta) / epsilon;
    double high = low;
    double f_low = excess(low);
    double f_high = f_low;
    while (f_low <= 0) {
        low /= 2;
        f_low = excess(low);
    }
    while (f_high > 0) {
        high *= 2;
        f_high = excess(high);
    }
    return (1 - kRounding) / SolveDecreasing(excess, low, f_low, high, f_high, 1e-14);
}

}  // namespace dpboost
