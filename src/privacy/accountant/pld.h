// Privacy loss distributions: the tightest (epsilon, delta) of many events together. Each event's loss is
// discretised pessimistically, all are convolved by FFT under an exponential tilt, and everything that is cut
// off, aliased or rounded is bounded and counted into delta: results are upper bounds.
#pragma once

#include <vector>

#include "privacy/events.h"

namespace dpboost {

// How finely to discretise: relative error allowed in epsilon. Any value is sound.
struct PldPrecision {
    double relative_error = 3e-5;
};

// Upper bound of delta at epsilon > 0, over adding and removing a unit (the larger). Throws kUnsupported for
// filtered events. The first form is told the magnitude of delta that matters (at least 1e-30), and is
// accurate there; the second finds it.
double PldDeltaNear(const std::vector<Event>& events, double epsilon, double delta,
                    const PldPrecision& precision = {});
double PldDelta(const std::vector<Event>& events, double epsilon, const PldPrecision& precision = {});

// Upper bound of epsilon at delta in [1e-30, 1), over adding and removing a unit (the larger); infinite above
// 300.
double PldEpsilon(const std::vector<Event>& events, double delta, const PldPrecision& precision = {});

}  // namespace dpboost
