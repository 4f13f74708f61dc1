// How many of the rows have the positive class, as far as a training has released it anyway. Post-processing: no draw
// is made for it.
#pragma once

namespace dpboost {

struct BaseRate {
    bool known = false;
    double value = 0;  // as released: noise may put it below 0 or above 1
    double noise = 0;  // its standard deviation

    // From noisy sums over rows of 1, and of 1 for a row of the positive class and -1 for others.
    static BaseRate Of(double rows, double rows_noise, double signs, double signs_noise);
};

}  // namespace dpboost
