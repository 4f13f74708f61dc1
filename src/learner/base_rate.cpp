#include "learner/base_rate.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

BaseRate BaseRate::Of(double rows, double rows_noise, double signs, double signs_noise) {
    const double count = std::max({rows, rows_noise, 1.0});
    const double mean = std::clamp(signs / count, -1.0, 1.0);
    return {true, (1 + signs / count) / 2, std::hypot(signs_noise, mean * rows_noise) / count / 2};
}

// With p = c / total and the same variance s^2 of all K counts: its own is s^2 ((1 - p)^2 + (K - 1) p^2) / total^2.
ClassShares ClassShares::Of(const std::vector<int64_t>& counts, double noise, double steps_per_row) {
    double total = 0;
    for (const int64_t count : counts)
        total += static_cast<double>(count);
    total = std::max({total, noise, steps_per_row});
    ClassShares shares;
    for (const int64_t count : counts) {
        const double value = static_cast<double>(count) / total, share = std::clamp(value, 0.0, 1.0);
        const double others = static_cast<double>(counts.size()) - 1;
        shares.values.push_back(value);
        shares.noise.push_back(std::hypot(1 - share, share * std::sqrt(others)) * noise / total);
    }
    return shares;
}

}  // namespace dpboost
