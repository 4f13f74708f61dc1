#include "learner/rows/clip_norm.h"

#include <algorithm>
#include <cmath>

namespace dpboost {

double NormSquared(const std::vector<int64_t>& vector) {
    constexpr size_t kPiece = 1024;
    double norm = 0;
    for (size_t begin = 0; begin < vector.size(); begin += kPiece) {
        double piece = 0;
        for (size_t k = begin; k < std::min(begin + kPiece, vector.size()); k++)
            piece += static_cast<double>(vector[k]) * static_cast<double>(vector[k]);
        norm += piece;
    }
    return norm;
}

int64_t ScaleDown(double norm, double limit_squared, int64_t unit) {
    if (norm <= limit_squared * (1 - 1e-9))
        return unit;
    return static_cast<int64_t>(
        std::floor(static_cast<double>(unit) * std::sqrt(limit_squared / norm) * (1 - 1e-9)));
}

void AddWithin(double limit_squared, const std::vector<int64_t>& vector, std::vector<int64_t>& sums) {
    constexpr int64_t kScaleUnit = int64_t{1} << 20;
    const int64_t scale = ScaleDown(NormSquared(vector), limit_squared, kScaleUnit);
    for (size_t k = 0; k < vector.size(); k++) {
        const __int128 scaled = static_cast<__int128>(vector[k]) * scale / kScaleUnit;  // towards zero
        sums[k] += static_cast<int64_t>(scaled);
    }
}

}  // namespace dpboost
