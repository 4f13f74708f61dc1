// Privacy loss distributions of many events: merges equal events, chooses the grid, composes both directions,
// and solves for epsilon. The discretisation is in loss_grid, the convolution in composition.
#include "privacy/accountant/pld.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/current_interrupt.h"
#include "base/error.h"
#include "privacy/accountant/composition.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/loss_grid.h"

namespace dpboost {
namespace {

constexpr std::size_t kMaxSize = std::size_t{1} << 18;
constexpr double kSmallestDelta = 1e-30;
// Above, exp(loss) would leave the range of numbers; no epsilon of this size protects anyone.
constexpr double kLargestEpsilon = 300;

// Equal events become one with the sum of their counts, and all full-batch Gaussians one of Gaussian DP.
std::vector<Event> Merge(const std::vector<Event>& events) {
    CheckEvents(events);
    if (!PldApplies(events))
        throw Error(ErrorCode::kUnsupported, "a Renyi-filtered training has no privacy loss distribution",
                    "The filter's charge is proven order by order.");
    std::vector<Event> merged;
    double mu_squared = 0;
    for (const Event& event : events) {
        if (IsGaussianFullBatch({event})) {
            mu_squared += EffectiveMuSquared(event);
        } else {
            auto same = std::find_if(merged.begin(), merged.end(), [&](const Event& other) {
                return other.kind == event.kind && other.parameter == event.parameter &&
                       other.sampling_rate == event.sampling_rate;
            });
            if (same == merged.end())
                merged.push_back(event);
            else
                same->count += event.count;
        }
    }
    if (mu_squared > 0)
        merged.push_back(Event::Gdp(std::sqrt(mu_squared) * (1 + 1e-15), 1));
    return merged;
}

// The composed losses of both directions around one epsilon.
class BothDirections {
  public:
    // delta: the magnitude of interest; decides what may be cut off.
    BothDirections(const std::vector<Event>& merged, double epsilon, double delta, double relative_error) {
        double uses = 0;
        for (const Event& event : merged)
            uses += static_cast<double>(event.count);
        const double mu = GdpMu(epsilon, delta);
        const double lambda = std::max(1.0, epsilon / (mu * mu) - 0.5);
        // The grid raises log E exp(lambda L) by lambda (lambda+1) h^2 / 12 per use, and epsilon by 1/lambda
        // of it.
        double step = std::sqrt(12 * relative_error * epsilon / (uses * (lambda + 1)));
        // Atoms of the loss should fall on grid points, where they need not be spread.
        double atom = 0;
        for (const Event& event : merged)
            if (KindOf(event).Has(kHasLossAtoms))
                atom = std::max(atom, event.parameter);
        for (;;) {
            if (atom > step)
                step = atom / std::ceil(atom / step);
            if (Compose(merged, epsilon, lambda, GridOptions{step, epsilon, delta, uses}))
                return;
            step *= 1.05 * std::max(static_cast<double>(too_large_) / kMaxSize, 1.5);
        }
    }

    double Delta(double epsilon) const {
        return std::max(compositions_[0].Delta(epsilon), compositions_[1].Delta(epsilon));
    }
    double Epsilon(double delta) const {
        return std::max(compositions_[0].Epsilon(delta), compositions_[1].Epsilon(delta));
    }
    bool Accurate(double epsilon) const { return compositions_[0].Accurate(epsilon); }

  private:
    bool Compose(const std::vector<Event>& merged, double epsilon, double lambda,
                 const GridOptions& options) {
        std::vector<LossGridPair> grids;
        for (const Event& event : merged) {
            grids.push_back(KindOf(event).discretise(event, options));
            InterruptScope::Poll();
        }
        for (LossGrid LossGridPair::*direction : {&LossGridPair::remove, &LossGridPair::add}) {
            std::vector<GridUse> uses;
            for (std::size_t i = 0; i < merged.size(); ++i)
                uses.push_back({&(grids[i].*direction), merged[i].count});
            Composition composition(uses, epsilon, options.delta, lambda, kMaxSize);
            if (composition.TooLarge()) {
                too_large_ = composition.size();
                compositions_.clear();
                return false;
            }
            lambda = composition.lambda();
            compositions_.push_back(std::move(composition));
        }
        return true;
    }

    std::vector<Composition> compositions_;  // remove, add
    std::size_t too_large_ = 0;
};

void CheckDelta(double delta) {
    if (!(delta >= kSmallestDelta && delta < 1))
        throw Error(ErrorCode::kInvalidParameter, "delta must be 0, or at least 1e-30 and below 1");
}

}  // namespace

double PldDeltaNear(const std::vector<Event>& events, double epsilon, double delta,
                    const PldPrecision& precision) {
    CheckEpsilonDelta(epsilon, delta);
    CheckDelta(delta);
    if (epsilon > kLargestEpsilon)
        throw Error(ErrorCode::kUnsupported, "epsilon is too large for a privacy loss distribution");
    return BothDirections(Merge(events), epsilon, delta, precision.relative_error).Delta(epsilon);
}

double PldDelta(const std::vector<Event>& events, double epsilon, const PldPrecision& precision) {
    double magnitude = 1e-6;
    for (int attempt = 0; attempt < 8; ++attempt) {  // a coarse grid finds the magnitude
        const double coarse =
            PldDeltaNear(events, epsilon, magnitude, PldPrecision{std::max(0.03, precision.relative_error)});
        const double next = std::min(0.5, std::max(kSmallestDelta, coarse));
        const bool found = next >= 0.03 * magnitude && next <= 30 * magnitude;
        magnitude = next;
        if (found)
            break;
    }
    return PldDeltaNear(events, epsilon, magnitude, precision);
}

double PldEpsilon(const std::vector<Event>& events, double delta, const PldPrecision& precision) {
    CheckDelta(delta);
    const std::vector<Event> merged = Merge(events);
    if (merged.empty())
        return 0;
    // Start from an effective mu, which is exact for Gaussians and close when there are many uses.
    double mu_squared = 0;
    for (const Event& event : merged)
        mu_squared += EffectiveMuSquared(event);
    double guess = std::max(GdpEpsilon(std::sqrt(mu_squared), delta), 1e-6 * std::sqrt(mu_squared));
    double epsilon = std::numeric_limits<double>::infinity();
    double relative_error = std::max(1e-3, precision.relative_error);  // coarse until the guess is right
    for (int iteration = 0; iteration < 40; ++iteration) {
        guess = std::min(guess, kLargestEpsilon);
        const BothDirections composed(merged, guess, delta, relative_error);
        epsilon = composed.Epsilon(delta);
        if (epsilon == 0)
            return 0;
        if (composed.Accurate(epsilon)) {
            if (relative_error <= precision.relative_error)
                return epsilon;
            relative_error = precision.relative_error;
        }
        guess = std::min(std::max(epsilon, guess / 2), guess * 2);
    }
    return epsilon;
}

}  // namespace dpboost
