// Finds the least noise for (epsilon, delta): turns demands (who uses the budget, and in which proportion)
// into events whose total is proven to stay within it.
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/cost.h"
#include "privacy/events.h"

namespace dpboost {

// One mechanism's demand; `share` and `rest` as in MechanismRequest (plan.h). If any demand has a rest, the
// shares are fixed and must sum to less than 1; else the shares are proportions.
struct Demand {
    EventKind kind = EventKind::kGaussian;
    double sampling_rate = 1;
    uint64_t count = 1;
    bool filtered = false;
    double share = 0;
    double rest = 0;
};

struct Calibration {
    std::vector<Event> events;  // one per demand, in their order
    CalibratedBy by;
};

// Throws kInvalidParameter for demands that are out of range or cannot be met, and kUnsupported for
// combinations that have no proof (Gaussian noise with delta = 0, sampling of other noise).
Calibration Calibrate(const std::vector<Demand>& demands, double epsilon, double delta);

// The tightest epsilon at delta that is proven for the events: closed form, PLD, Renyi or basic composition,
// whichever applies and is smallest. `by` (optional) says which.
double ProvenEpsilon(const std::vector<Event>& events, double delta, CalibratedBy* by = nullptr);

}  // namespace dpboost
