// A figure that follows the magnitude of another: how defaults move with epsilon, and schedules with the signal.
#pragma once

#include <algorithm>
#include <cmath>

namespace dpboost {

// `low` up to x = from, `high` from x = to on, linear in log(x) between. 0 < from < to; x that is not positive counts
// as `from`.
inline double Ramp(double x, double from, double to, double low, double high) {
    if (!(x > 0))
        return low;
    const double position = std::log(x / from) / std::log(to / from);
    return low + (high - low) * std::clamp(position, 0.0, 1.0);
}

}  // namespace dpboost
