// Construction and checks of events: whatever passes here has a proof in rdp or pld; whatever has none is
// refused.
#include "privacy/events.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/kinds.h"

namespace dpboost {

Event Event::Gaussian(double noise_multiplier, uint64_t count, double sampling_rate) {
    return Event{EventKind::kGaussian, noise_multiplier, sampling_rate, count, false};
}

Event Event::Laplace(double epsilon, uint64_t count) {
    return Event{EventKind::kLaplace, epsilon, 1, count, false};
}

Event Event::Exponential(double epsilon, uint64_t count) {
    return Event{EventKind::kExponential, epsilon, 1, count, false};
}

Event Event::Pure(double epsilon, uint64_t count) {
    return Event{EventKind::kPure, epsilon, 1, count, false};
}

Event Event::Gdp(double mu, uint64_t count) {
    return Event{EventKind::kGdp, mu, 1, count, false};
}

bool Event::operator==(const Event& other) const {
    return kind == other.kind && parameter == other.parameter && sampling_rate == other.sampling_rate &&
           count == other.count && filtered == other.filtered;
}

void CheckEvent(const Event& event) {
    const MechanismKind& kind = KindOf(event);
    if (!(event.parameter > 0) || !std::isfinite(event.parameter))
        throw Error(ErrorCode::kInvalidParameter,
                    "the strength of a mechanism must be a positive, finite number");
    if (!(event.sampling_rate > 0) || !(event.sampling_rate <= 1))
        throw Error(ErrorCode::kInvalidParameter,
                    "the sampling rate of a mechanism must be above 0 and at most 1");
    if (event.count == 0 || event.count > kMaxEventCount)
        throw Error(ErrorCode::kInvalidParameter,
                    "the number of uses of a mechanism must be between 1 and 10000000");
    if (!kind.Has(kSamples) && (event.sampling_rate != 1 || event.filtered))
        throw Error(
            ErrorCode::kUnsupported, "only the Gaussian mechanism can be sampled or filtered",
            "Amplification by Poisson sampling and the Renyi filter are proven for Gaussian noise only.",
            "Use Gaussian noise, or all rows in every round.");
}

void CheckEvents(const std::vector<Event>& events) {
    for (const Event& event : events)
        CheckEvent(event);
}

void CheckEpsilonDelta(double epsilon, double delta) {
    if (!(epsilon > 0) || !std::isfinite(epsilon))
        throw Error(ErrorCode::kInvalidParameter, "epsilon must be a positive, finite number");
    if (!(delta >= 0 && delta < 1))
        throw Error(ErrorCode::kInvalidParameter, "delta must be at least 0 and below 1");
}

bool PldApplies(const std::vector<Event>& events) {
    for (const Event& event : events)
        if (event.filtered)
            return false;
    return true;
}

bool IsGaussianFullBatch(const std::vector<Event>& events) {
    for (const Event& event : events)
        if (!KindOf(event).Has(kIsGaussian) || event.sampling_rate != 1 || event.filtered)
            return false;
    return true;
}

double PureEpsilon(const std::vector<Event>& events) {
    double sum = 0;
    for (const Event& event : events) {
        if (KindOf(event).Has(kIsGaussian))
            return std::numeric_limits<double>::infinity();
        sum += event.parameter * static_cast<double>(event.count);
    }
    return sum;
}

}  // namespace dpboost
