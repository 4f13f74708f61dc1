// Privacy loss distributions: the tightest (epsilon, delta) of many events together. Each event's loss is
// discretised pessimistically, all are convolved by FFT under an exponential tilt, and everything that is cut
// off, aliased or rounded is bounded and counted into delta: results are upper bounds.
#pragma once

#include <vector>

#include "privacy/events.h"

namespace dpboost {

// How finely to discretise: relative error allowed in epsilon. Any value is sound.
struct PldPrecision {
    double relative_error = 1.5e-5;
};

// Upper bound of delta at epsilon, over adding and removing a unit (the larger). Throws kUnsupported for
// filtered events.
double PldDelta(const std::vector<Event>& events, double epsilon, const PldPrecision& precision = {});

// Upper bound of epsilon at delta in (0, 1), over adding and removing a unit (the larger).
double PldEpsilon(const std::vector<Event>& events, double delta, const PldPrecision& precision = {});

}  // namespace dpboost
