#include "learner/evaluation/figures/value_figures.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kWidestR2 = 0.3;

double Square(double x) {
    return x * x;
}

// E e^4 / (E e^2)^2 by the ratio g of the mean absolute error to the root mean square ([GEARY35]): 3 for the normal
// distribution's g, 6 for Laplace's, in between and beyond by a power. At least 1.5, and no more than errors up to the
// clip can have.
double Kurtosis(double mean_absolute, double mean_square) {
    const double normal = std::sqrt(2 / M_PI), laplace = std::sqrt(0.5);
    const double power = std::log(2.0) / std::log(normal / laplace);
    const double g = std::clamp(mean_absolute / std::sqrt(mean_square), 0.2, 1.0);
    return std::clamp(3 * std::pow(normal / g, power), 1.5, std::max(1.5, 1 / mean_square));
}

}  // namespace

std::array<double, kValueSums> ValueTerms(double prediction, double label) {
    const double y = std::clamp(label, -1.0, 1.0);
    const double t = std::clamp((prediction - label) / kErrorClip, -1.0, 1.0);
    const double q = std::fabs(t);
    return {1,
            2 * q * q - 1,
            kValueWeight * (2 * q - 1),
            kValueWeight * t,
            kValueWeight * y,
            kValueWeight * (2 * y * y - 1)};
}

std::vector<Figure> ValueFigures(const TargetSpec& target, const ValueTotals& totals) {
    const double unit = (target.upper() - target.lower()) / 2;  // of the label, in the target's units
    const double clip = kErrorClip * unit;
    const double range = target.upper() - target.lower();
    const double n = totals.sums[kRowsSum], sigma = totals.sigma;
    const FigureRange size{0, range}, explained{kAnyNumber.lower, 1};
    const Figure rows = FigureOf("rows", n, sigma * sigma, {0, kAnyNumber.upper});
    if (!(n > 0) || n < kNoiseWins * sigma)
        return {rows, UnknownFigure("rmse", size), UnknownFigure("mae", size), UnknownFigure("r2", explained),
                UnknownFigure("bias", {-range, range})};
    // Means in [0, 1] or [-1, 1], with the part of sigma^2 / n^2 that their noise has: a mean (s / w + n) / 2n has
    // derivatives 1 / (2 w n) by s and (1/2 - mean) / n by n.
    const double noise = Square(sigma / n);
    const double square = (totals.sums[kSquareSum] / n + 1) / 2;
    const double square_noise = noise * (0.25 + Square(0.5 - square));
    const double absolute = (totals.sums[kAbsoluteSum] / kValueWeight / n + 1) / 2;
    const double absolute_noise = noise * (Square(0.5 / kValueWeight) + Square(0.5 - absolute));
    const double error = totals.sums[kErrorSum] / kValueWeight / n;
    const double label = totals.sums[kLabelSum] / kValueWeight / n;
    const double label_square = (totals.sums[kLabelSquareSum] / kValueWeight / n + 1) / 2;
    const double variance = label_square - label * label;

    // Chance of the rows: Var(q^2) = (kurtosis - 1) (E q^2)^2.
    const double safe_square = std::clamp(square, 1e-6, 1.0);
    const double safe_absolute = std::clamp(absolute, 1e-6, 1.0);
    const double square_chance = (Kurtosis(safe_absolute, safe_square) - 1) * Square(safe_square) / n;
    const Figure mean_square = FigureOf("", square, square_noise + square_chance, kFraction);
    const auto root = [&](double x) { return clip * std::sqrt(x); };
    const Figure rmse{"rmse", root(*mean_square.value), root(mean_square.lower), root(mean_square.upper)};
    const double absolute_chance = std::max(0.0, safe_square - Square(safe_absolute)) / n;
    const double error_chance = std::max(0.0, safe_square - Square(error)) / n;
    const double error_noise = noise * (Square(1 / kValueWeight) + Square(error));

    // R2 = 1 - c^2 E q^2 / Var y; the label's variance m2 - m1^2 has derivatives 1 and -2 m1 by the means.
    const double safe_variance = std::max(variance, 1e-6);
    const double ratio = Square(kErrorClip) * square / safe_variance;
    const double variance_noise = noise * (Square(0.5 / kValueWeight) + Square(2 * label / kValueWeight) +
                                           Square(0.5 - label_square + 2 * label * label));
    const double variance_chance = 2 * Square(safe_variance) / n;  // as of a normal distribution
    const double ratio_variance =
        Square(Square(kErrorClip) / safe_variance) * (square_noise + square_chance) +
        Square(ratio / safe_variance) * (variance_noise + variance_chance);
    Figure r2 = FigureOf("r2", 1 - ratio, ratio_variance, explained);
    if (variance <= 1e-6 || !(r2.upper - r2.lower < kWidestR2))
        r2.value.reset();
    return {rows, rmse,
            FigureOf("mae", clip * absolute, Square(clip) * (absolute_noise + absolute_chance), size), r2,
            FigureOf("bias", clip * error, Square(clip) * (error_noise + error_chance), {-range, range})};
}

}  // namespace dpboost
