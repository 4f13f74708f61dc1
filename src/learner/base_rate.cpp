#include "learner/base_rate.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

BaseRate BaseRate::Of(double rows, double rows_noise, double signs, double signs_noise) {
    const double count = std::max({rows, rows_noise, 1.0});
    const double mean = std::clamp(signs / count, -1.0, 1.0);
    return {true, (1 + signs / count) / 2, std::hypot(signs_noise, mean * rows_noise) / count / 2};
}

}  // namespace dpboost
