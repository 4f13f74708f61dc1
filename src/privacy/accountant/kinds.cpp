#include "privacy/accountant/kinds.h"

#include <cmath>

#include "base/error.h"
#include "privacy/accountant/rdp.h"

namespace dpboost {
namespace {

// exp(x) - 1 up to log 2, then its tangent, so that the noise multiplier stays a power of mu and not its logarithm
// where sampling is rare and noise small (the central limit is far away there anyway).
double GrowthOf(double x) {
    return x <= M_LN2 ? std::expm1(x) : 1 + 2 * (x - M_LN2);
}

double InverseGrowth(double growth) {
    return growth <= 1 ? std::log1p(growth) : M_LN2 + (growth - 1) / 2;
}

double GaussianMuSquared(const Event& event) {
    const double count = static_cast<double>(event.count);
    const double squared = event.parameter * event.parameter;
    if (event.sampling_rate == 1)
        return count / squared;
    return count * event.sampling_rate * event.sampling_rate * GrowthOf(1 / squared);
}

double GaussianParameter(double sampling_rate, double mu_squared) {
    if (sampling_rate == 1)
        return 1 / std::sqrt(mu_squared);
    return 1 / std::sqrt(InverseGrowth(mu_squared / (sampling_rate * sampling_rate)));
}

double SquaredParameter(const Event& event) {
    return static_cast<double>(event.count) * (event.parameter * event.parameter);
}

double RootParameter(double, double mu_squared) {
    return std::sqrt(mu_squared);
}

// The scale of one dimension.
//
// Gaussian of multiplier s: sigma_d = sensitivity_d s / sqrt(r_d). Then the sum over d of (change_d / sigma_d)^2 is at
// most sum r_d / s^2 = 1/s^2: a Gaussian of multiplier s after rescaling each dimension ([SBDT] Thm 16).
//
// Laplace of epsilon e: b = sensitivity/e. The draws are rounded Laplace noise on integer sums, which is a
// post-processing of the continuous mechanism (mechanism/laplace.h), so the continuous one's bounds hold.
//
// Exponential mechanism: weights exp(u/T) with T = 2 sensitivity/e have the range e ([DPXGB] Thm 1).
double GaussianScaleOf(double multiplier, double sensitivity, double weight_share) {
    return sensitivity * multiplier / std::sqrt(weight_share);
}
double LaplaceScaleOf(double epsilon, double sensitivity, double) {
    return sensitivity / epsilon;
}
double TemperatureOf(double epsilon, double sensitivity, double) {
    return 2 * sensitivity / epsilon;
}

constexpr MechanismKind kKinds[] = {
    {EventKind::kGaussian, kDraws | kSamples | kIsGaussian | kParameterIsNoise,
     [](const Event& event, uint32_t order) {
         return SubsampledGaussianRdp(order, event.parameter, event.sampling_rate);
     },
     DiscretiseGaussian, GaussianMuSquared, GaussianParameter, GaussianScaleOf},
    {EventKind::kLaplace, kDraws | kHasLossAtoms | kSplitsByWeight,
     [](const Event& event, uint32_t order) { return LaplaceRdp(order, event.parameter); }, DiscretiseLaplace,
     SquaredParameter, RootParameter, LaplaceScaleOf},
    {EventKind::kExponential, kDraws | kSharperByRdp,
     [](const Event& event, uint32_t order) { return ExponentialMechanismRdp(order, event.parameter); },
     DiscretiseBoundedRange,
     [](const Event& event) {
         return static_cast<double>(event.count) * (event.parameter * event.parameter) / 4;
     },
     [](double, double mu_squared) { return 2 * std::sqrt(mu_squared); }, TemperatureOf},
    {EventKind::kPure, kHasLossAtoms,
     [](const Event& event, uint32_t order) { return PureRdp(order, event.parameter); }, DiscretisePure,
     SquaredParameter, RootParameter, nullptr},
    {EventKind::kGdp, kIsGaussian,
     [](const Event& event, uint32_t order) { return GdpRdp(order, event.parameter); }, DiscretiseGdp,
     SquaredParameter, RootParameter, nullptr},
};

}  // namespace

const MechanismKind& KindOf(EventKind kind) {
    for (const MechanismKind& row : kKinds)
        if (row.kind == kind)
            return row;
    throw Error(ErrorCode::kInvalidParameter, "unknown kind of privacy event");
}

}  // namespace dpboost
