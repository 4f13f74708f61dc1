#include "learner/evaluation/figures/value_figures.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kWidestR2 = 0.3;
constexpr double kLeastVariance = 1e-6;
constexpr double kClipSquare = kErrorClip * kErrorClip;

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

// Errors above the clip are there if their sum is so many standard deviations of its noise.
constexpr double kEvident = 2;

// What errors above the clip c add to a mean: at least, as told, and at the most. Each by the mean of x, with
// x = min(1, e^2 - c^2): an error of at most 2 adds x to 4 - c^2 times x to the square, and x / 2 to 1.25 x to its size.
struct Excess {
    double lower = 0, value = 0, upper = 0;

    Excess(double mean, double sd) {
        if (mean <= 0 || mean < kEvident * sd)
            return;
        lower = std::max(0.0, mean - kNormal95 * sd);
        value = mean;
        upper = std::min(1.0, mean + kNormal95 * sd);
    }
};
constexpr double kMostSquare = 4 - kClipSquare, kLeastSize = 0.5, kMostSize = 1.25;

// A figure, and what is added to it: to its ends at least and at the most, within a range.
Figure Plus(Figure figure, double lower, double value, double upper, FigureRange range) {
    const auto within = [&](double x) { return std::clamp(x, range.lower, range.upper); };
    figure.value = within(*figure.value + value);
    figure.lower = within(figure.lower + lower);
    figure.upper = within(figure.upper + upper);
    return figure;
}

// Means over rows, in [0, 1] or [-1, 1], each with the variance of its noise: a mean (s / w + n) / 2n has derivatives
// 1 / (2 w n) by s and (1/2 - mean) / n by n, of which both have the variance noise n^2.
struct Means {
    double n, noise;
    double square, absolute, error, label, label_square, excess;

    explicit Means(const ValueTotals& totals)
        : n(totals.sums[kRowsSum]),
          noise(Square(totals.sigma / n)),
          square((totals.sums[kSquareSum] / n + 1) / 2),
          absolute((totals.sums[kAbsoluteSum] / kValueWeight / n + 1) / 2),
          error(totals.sums[kErrorSum] / kValueWeight / n),
          label(totals.sums[kLabelSum] / kValueWeight / n),
          label_square((totals.sums[kLabelSquareSum] / kValueWeight / n + 1) / 2),
          excess(totals.sums[kExcessSum] / kValueWeight / n) {}

    double safe_square() const { return std::clamp(square, 1e-6, 1.0); }
    double safe_absolute() const { return std::clamp(absolute, 1e-6, 1.0); }

    // Variances of noise and of the chance of the rows, where Var(q^2) = (kurtosis - 1) (E q^2)^2.
    double SquareVariance() const {
        return noise * (0.25 + Square(0.5 - square)) +
               (Kurtosis(safe_absolute(), safe_square()) - 1) * Square(safe_square()) / n;
    }
    double AbsoluteVariance() const {
        return noise * (Square(0.5 / kValueWeight) + Square(0.5 - absolute)) +
               std::max(0.0, safe_square() - Square(safe_absolute())) / n;
    }
    double ErrorVariance() const {
        return noise * (Square(1 / kValueWeight) + Square(error)) +
               std::max(0.0, safe_square() - Square(error)) / n;
    }
    Excess ExcessOf() const {
        const double chance = std::clamp(excess, 0.0, 1.0) / n;
        return {excess, std::sqrt(noise * (Square(1 / kValueWeight) + Square(excess)) + chance)};
    }
};

// 1 - c^2 E q^2 / Var y; the label's variance m2 - m1^2 has derivatives 1 and -2 m1 by the means.
Figure RSquared(const Means& means, const Excess& excess) {
    const FigureRange explained{kAnyNumber.lower, 1};
    const double variance = std::max(means.label_square - means.label * means.label, kLeastVariance);
    const double ratio = kClipSquare * means.square / variance;
    const double noise = means.noise * (Square(0.5 / kValueWeight) + Square(2 * means.label / kValueWeight) +
                                        Square(0.5 - means.label_square + 2 * means.label * means.label));
    const double chance = 2 * Square(variance) / means.n;  // as of a normal distribution
    const double ratio_variance =
        Square(kClipSquare / variance) * means.SquareVariance() + Square(ratio / variance) * (noise + chance);
    Figure r2 =
        Plus(FigureOf("r2", 1 - ratio, ratio_variance, explained), -kMostSquare * excess.upper / variance,
             -excess.value / variance, -excess.lower / variance, explained);
    if (variance <= kLeastVariance || !(r2.upper - r2.lower < kWidestR2))
        r2.value.reset();
    return r2;
}

}  // namespace

std::array<double, kValueSums> ValueTerms(double prediction, double label) {
    const double y = std::clamp(label, -1.0, 1.0);
    const double t = std::clamp((prediction - label) / kErrorClip, -1.0, 1.0);
    const double q = std::fabs(t);
    const double excess = std::clamp(Square(prediction - label) - Square(kErrorClip), 0.0, 1.0);
    return {1,
            2 * q * q - 1,
            kValueWeight * (2 * q - 1),
            kValueWeight * t,
            kValueWeight * y,
            kValueWeight * (2 * y * y - 1),
            kValueWeight * excess};
}

std::vector<Figure> ValueFigures(const TargetSpec& target, const ValueTotals& totals) {
    const double range = target.upper() - target.lower();
    const double unit = range / 2, clip = kErrorClip * unit;  // of the label, in the target's units
    const double n = totals.sums[kRowsSum], sigma = totals.sigma;
    const FigureRange size{0, range}, either{-range, range};
    const Figure rows = FigureOf("rows", n, sigma * sigma, {0, kAnyNumber.upper});
    if (!(n > 0) || n < kNoiseWins * sigma)
        return {rows, UnknownFigure("rmse", size), UnknownFigure("mae", size),
                UnknownFigure("r2", {kAnyNumber.lower, 1}), UnknownFigure("bias", either)};
    const Means means(totals);
    const Excess excess = means.ExcessOf();
    Figure rmse = Plus(FigureOf("rmse", kClipSquare * means.square,
                                Square(kClipSquare) * means.SquareVariance(), {0, kClipSquare}),
                       excess.lower, excess.value, kMostSquare * excess.upper, {0, 4});
    for (double* x : {&*rmse.value, &rmse.lower, &rmse.upper})
        *x = unit * std::sqrt(*x);
    const double most = unit * kMostSize * excess.upper;
    return {rows, rmse,
            Plus(FigureOf("mae", clip * means.absolute, Square(clip) * means.AbsoluteVariance(), size),
                 unit * kLeastSize * excess.lower, unit * kLeastSize * excess.value, most, size),
            RSquared(means, excess),
            Plus(FigureOf("bias", clip * means.error, Square(clip) * means.ErrorVariance(), either), -most, 0,
                 most, either)};
}

}  // namespace dpboost
