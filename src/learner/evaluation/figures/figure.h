// A figure of an evaluation: its value and an interval that holds the truth about the people behind the rows in 95 of
// 100 evaluations. Noise and the chance by which rows are these and not others both count.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace dpboost {

struct Figure {
    std::string name;
    std::optional<double> value;  // none where noise wins
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

// The values that a figure can have.
struct FigureRange {
    double lower;
    double upper;
};
constexpr FigureRange kFraction{0, 1};
constexpr FigureRange kAnyNumber{-std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity()};

// How many standard deviations an interval reaches: so many hold the truth in 95 of 100 cases where the deviation is known.
constexpr double kNormal95 = 1.959964;
// Figures with noise estimate theirs from noisy sums, so they reach 7 % further: 96 of 100 if nothing were estimated.
constexpr double kNoisyReach = 2.1;

inline Figure FigureOf(const char* name, double value, double variance, FigureRange range,
                       double deviations = kNoisyReach) {
    const double reach = deviations * std::sqrt(std::max(0.0, variance));
    const auto within = [&](double x) { return std::clamp(x, range.lower, range.upper); };
    return {name, within(value), within(value - reach), within(value + reach)};
}

// Nothing is known but the range.
inline Figure UnknownFigure(const char* name, FigureRange range) {
    return {name, {}, range.lower, range.upper};
}

// Noise wins over a count below so many standard deviations of its own.
constexpr double kNoiseWins = 3;

}  // namespace dpboost
