#include "learner/tree/split_score.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

__extension__ using Wide = unsigned __int128;

int64_t SideUtility(int64_t gradient_sum, int64_t rows, int64_t l2_steps) {
    const uint64_t denominator = static_cast<uint64_t>(rows) * kClipSteps + static_cast<uint64_t>(l2_steps);
    if (rows == 0 || denominator == 0)
        return 0;
    const uint64_t magnitude = static_cast<uint64_t>(gradient_sum < 0 ? -gradient_sum : gradient_sum);
    if (magnitude < (uint64_t{1} << 32))
        return static_cast<int64_t>(magnitude * magnitude / denominator);
    return static_cast<int64_t>(static_cast<uint64_t>(Wide{magnitude} * magnitude / denominator));
}

double NoisySideScore(const NoisySide& side, double l2) {
    const double signal = side.gradient * side.gradient - side.gradient_variance;
    if (!(signal > 0))
        return 0;
    return signal / (std::max(side.hessian, std::sqrt(side.hessian_variance)) + l2 + 1e-9);
}

}  // namespace dpboost
