#include "learner/evaluation/figures/confusion.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kHalf = 0.5, kQuarter = 0.25;

// Steps of a term within +-1, towards zero.
int64_t Steps(double term, int64_t bound) {
    return std::clamp(static_cast<int64_t>(term * static_cast<double>(bound)), -bound, bound);
}

double Square(double x) {
    return x * x;
}

// The number of rows, from the sum of its own and from that of all counts, each by how little noise it has.
struct RowCount {
    double value;
    double variance;
};

RowCount CountRows(const ClassTotals& totals) {
    const double own = totals.sums[kClassRows] / kHalf, own_variance = Square(totals.sigma / kHalf);
    double counted = 0;
    for (size_t i = kFirstCount; i < totals.sums.size(); i++)
        counted += totals.sums[i];
    const double cells = static_cast<double>(totals.sums.size() - kFirstCount);
    const double counted_variance = cells * Square(totals.sigma);
    const double all = own_variance + counted_variance;
    if (!(all > 0))
        return {own, 0};
    return {(own * counted_variance + counted * own_variance) / all, own_variance * counted_variance / all};
}

// The mean of a term within +-1 over the rows, with the variance of its noise.
struct TermMean {
    double value;
    double variance;
};

TermMean MeanOf(const ClassTotals& totals, ClassSum term, double weight, const RowCount& rows) {
    const double mean = std::clamp(totals.sums[term] / weight / rows.value, -1.0, 1.0);
    return {mean, (Square(totals.sigma / weight) + mean * mean * rows.variance) / Square(rows.value)};
}

}  // namespace

void AddClassRow(const std::vector<double>& probabilities, size_t label, int64_t one,
                 std::vector<int64_t>* sums) {
    const size_t classes = probabilities.size();
    const auto said = static_cast<size_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                          probabilities.begin());
    const double loss = std::clamp(-std::log(std::max(probabilities[label], 1e-300)) / kMostLoss, 0.0, 1.0);
    (*sums)[kClassRows] += one / 2;
    (*sums)[kRight] += said == label ? one / 2 : -one / 2;
    (*sums)[kLoss] += Steps(2 * loss - 1, one / 2);
    (*sums)[kLossSquare] += Steps(2 * loss * loss - 1, one / 4);
    (*sums)[kFirstCount + label * classes + said] += one;
}

uint64_t ClassNormSquared(int64_t one) {
    return static_cast<uint64_t>(one * one + 3 * (one / 2) * (one / 2) + (one / 4) * (one / 4));
}

std::vector<Figure> ConfusionFigures(const ClassTotals& totals) {
    const RowCount rows = CountRows(totals);
    const FigureRange any_count{0, kAnyNumber.upper}, losses{0, kMostLoss};
    std::vector<Figure> figures{FigureOf("rows", rows.value, rows.variance, any_count)};
    // Decided by noisy sums alone.
    if (!(rows.value > 0 && rows.value >= kNoiseWins * std::sqrt(rows.variance))) {
        figures.push_back(UnknownFigure("accuracy", kFraction));
        figures.push_back(UnknownFigure("log_loss", losses));
        return figures;
    }
    const TermMean right = MeanOf(totals, kRight, kHalf, rows);
    const double accuracy = (1 + right.value) / 2;
    figures.push_back(FigureOf("accuracy", accuracy,
                               right.variance / 4 + accuracy * (1 - accuracy) / rows.value, kFraction));
    const TermMean loss = MeanOf(totals, kLoss, kHalf, rows);
    const TermMean square = MeanOf(totals, kLossSquare, kQuarter, rows);
    const double mean = (1 + loss.value) / 2;
    // By chance of the rows, rather too much than too little where noise hides it; of numbers in [0, 1] with this mean at the
    // most mean (1 - mean).
    const double high = std::min(0.5, mean + std::sqrt(loss.variance) / 2);
    const double scatter =
        std::clamp((1 + square.value + std::sqrt(square.variance)) / 2 - mean * mean, 0.0, high * (1 - high));
    figures.push_back(FigureOf("log_loss", kMostLoss * mean,
                               Square(kMostLoss) * (loss.variance / 4 + scatter / rows.value), losses));
    return figures;
}

std::vector<double> ConfusionCounts(const ClassTotals& totals) {
    return {totals.sums.begin() + kFirstCount, totals.sums.end()};
}

}  // namespace dpboost
