// A figure that follows the magnitude of another: how defaults move with epsilon, and schedules with the signal.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"

namespace dpboost {

// `low` up to x = from, `high` from x = to on, linear in log(x) between. 0 < from < to; x that is not positive counts
// as `from`.
inline double Ramp(double x, double from, double to, double low, double high) {
    if (!(x > 0))
        return low;
    const double position = portable::Log(x / from) / portable::Log(to / from);
    return low + (high - low) * std::clamp(position, 0.0, 1.0);
}

}  // namespace dpboost
