// The figures of a model with several classes, from bounded sums over rows. Everything here is post-processing of the sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/evaluation/figures/figure.h"

namespace dpboost {

// A row of class y that the model takes for class z, with l its log loss -log p_y in parts of kMostLoss, cut off at one, adds
// 1 to the count (y, z), 1/2 to the rows, +-1/2 to the right and the wrong ones, (2 l - 1) / 2 to the losses and
// (2 l^2 - 1) / 4 to their squares: a vector of squared norm 1 + 3/4 + 1/16 at the most. Rows and right ones have sums of
// their own because those over K^2 counts would have K times, and sqrt(K) times, the noise of one.
enum ClassSum { kClassRows, kRight, kLoss, kLossSquare, kFirstCount };
constexpr double kMostLoss = 6;

inline size_t ConfusionSums(size_t classes) {
    return kFirstCount + classes * classes;
}

// What one row adds, in steps of `one`, which must be a multiple of 4: whole numbers within the bounds above.
void AddClassRow(const std::vector<double>& probabilities, size_t label, int64_t one,
                 std::vector<int64_t>* sums);
// The largest squared norm of that, in steps.
uint64_t ClassNormSquared(int64_t one);

// Sums, in rows; each has independent noise of standard deviation sigma (0: exact sums).
struct ClassTotals {
    std::vector<double> sums;
    double sigma = 0;
};

// rows, accuracy, log_loss.
std::vector<Figure> ConfusionFigures(const ClassTotals& totals);
// Noisy counts, which may be negative: the true class's first, and in it one per predicted class.
std::vector<double> ConfusionCounts(const ClassTotals& totals);

}  // namespace dpboost
