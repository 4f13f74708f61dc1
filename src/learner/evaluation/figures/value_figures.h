// The figures of a regression, from seven bounded sums over rows. Everything here is post-processing of the sums.
#pragma once

#include <array>
#include <vector>

#include "dataset/target.h"
#include "learner/evaluation/figures/figure.h"

namespace dpboost {

// With y the label in [-1, 1], e the prediction minus the label, t = e / c cut off at +-1, q = |t| and x the part of e^2 above
// c^2, cut off at 1: a row adds 1, 2 q^2 - 1, and kValueWeight times 2 q - 1, t, y, 2 y^2 - 1, x. Written so, each is
// within +-1 (+-kValueWeight), and the mean of q^2, from the first two, has less noise than a sum of its own would have.
// What matters most, n and the squares, has the full weight; the norm is at most sqrt(2 + 5 kValueWeight^2).
enum ValueSum {
    kRowsSum,
    kSquareSum,
    kAbsoluteSum,
    kErrorSum,
    kLabelSum,
    kLabelSquareSum,
    kExcessSum,
    kValueSums
};
constexpr double kValueWeight = 0.7;

// c, in the label's units: 3/8 of the target's range. What larger errors add is told by x, with more noise.
constexpr double kErrorClip = 0.75;

// What one row adds, each within its bound.
std::array<double, kValueSums> ValueTerms(double prediction, double label);

// Sums of the terms; each has independent noise of standard deviation sigma (0: exact sums).
struct ValueTotals {
    std::array<double, kValueSums> sums;
    double sigma = 0;
};

// rows, rmse, mae, r2, bias, in the target's units. r2 is unknown where its interval is wider than 0.3. What errors above
// c add is weighed between what x tells and what is likely by the size of the others.
std::vector<Figure> ValueFigures(const TargetSpec& target, const ValueTotals& totals);

}  // namespace dpboost
