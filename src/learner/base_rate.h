// How many of the rows have the positive class, or each of several, as far as a training has released it anyway.
// Post-processing: no draw is made for it. Where a person has several rows, they count as one at most.
#pragma once

#include <cstdint>
#include <vector>

namespace dpboost {

struct BaseRate {
    bool known = false;
    double value = 0;  // as released: noise may put it below 0 or above 1
    double noise = 0;  // its standard deviation

    // From noisy sums over rows of 1, and of 1 for a row of the positive class and -1 for others.
    static BaseRate Of(double rows, double rows_noise, double signs, double signs_noise);
};

struct ClassShares {
    std::vector<double> values;  // as released, class by class; empty: not known
    std::vector<double> noise;   // their standard deviations

    // From noisy counts with the same noise, in steps of which one row has `steps_per_row`.
    static ClassShares Of(const std::vector<int64_t>& counts, double noise, double steps_per_row);
};

}  // namespace dpboost
