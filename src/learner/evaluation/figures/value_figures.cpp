#include "learner/evaluation/figures/value_figures.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kWidestR2 = 0.3;  // wider is unknown
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

// Errors above the clip contradict what is expected if their sum does by so many standard deviations. With 2 noise alone does
// once in forty evaluations, and moves the root mean square so far that it is a fifth less precise over all.
constexpr double kEvident = 3;
constexpr double kSpread = 3;
// An error of at most 2 adds x to 4 - c^2 times x to the square of errors, with x = min(1, e^2 - c^2).
constexpr double kMostSquare = 4 - kClipSquare;
constexpr double kWideClip = 1.25;  // where x ends
// (|e| - c) / (e^2 - c^2), between 1 / 2c and 1 / (c + kWideClip).
constexpr double kSizePart = 1 / 1.75;

// E (e^2 - clip^2)+ of errors as a Laplace distribution of this mean square has them.
double LaplaceExcess(double mean_square, double clip) {
    const double scale = std::sqrt(mean_square / 2);
    return std::exp(-clip / scale) * (2 * clip * scale + 2 * scale * scale);
}

// What errors above the clip add to the mean square, by the mean of x and its standard deviation. Where errors are small it is
// hardly anything, and noise must not say otherwise; where they are large noise is all that is known: half of what a
// Laplace distribution has is expected, more or less by three times of that, and what the sum tells is weighed against it. If they
// contradict each other the sum is right.
struct Excess {
    double value, variance;
    double beyond;  // at the most, of what is above kWideClip

    Excess(double mean, double sd, double mean_square) {
        const double safe = std::clamp(mean_square + std::max(0.0, mean - sd), 1e-6, 1.0);
        const double likely = LaplaceExcess(safe, kErrorClip), most = std::max(0.0, mean) + kNormal95 * sd;
        const double spread = kSpread * likely + 1e-9;
        const bool evident = mean - likely / 2 > kEvident * std::hypot(sd, spread);
        const double sure = sd > 0 ? 1 / Square(sd) : 1e18, sure_before = evident ? 0 : 1 / Square(spread);
        value = std::max(0.0, (mean * sure + likely / 2 * sure_before) / (sure + sure_before));
        variance = 1 / (sure + sure_before);
        beyond = (kMostSquare - 1) * most;
        // Tails are about as long as a Laplace distribution's, or longer by as much as the sum is larger.
        if (!evident)
            beyond = std::min(beyond, 2 * LaplaceExcess(safe, kWideClip) +
                                          (kMostSquare - 1) * std::max(0.0, value - likely));
    }
};

// A figure whose one end may be further out.
Figure Reaching(Figure figure, double below, double above, FigureRange range) {
    figure.lower = std::max(range.lower, figure.lower - below);
    figure.upper = std::min(range.upper, figure.upper + above);
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
    double SquareNoise() const { return noise * (0.25 + Square(0.5 - square)); }
    double KurtosisOf() const { return Kurtosis(safe_absolute(), safe_square()); }
    double SquareChance() const { return (KurtosisOf() - 1) * Square(safe_square()) / n; }
    double SquareVariance() const { return SquareNoise() + SquareChance(); }
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
        return {excess, std::sqrt(noise * (Square(1 / kValueWeight) + Square(excess)) + chance),
                kClipSquare * safe_square()};
    }
};

// By chance of the rows E e^2 and Var y do not vary each by itself. Of a model whose errors say nothing about its predictions,
// and labels as of a normal distribution, the variance of their ratio r is (1 - r)^2 + 4 r (1 - r) / (kurtosis + 1) of what it were
// then (for normal errors the classical 4 R2 (1 - R2)^2 / n); of predictions that say nothing about labels 1 - 1 / r. Models are
// in between, so it is half at least: rather too much, so that the interval need not reach further.
double PartOfChance(double ratio, double kurtosis) {
    const double part =
        ratio < 1 ? Square(1 - ratio) + 4 * ratio * (1 - ratio) / (kurtosis + 1) : 1 - 1 / ratio;
    return std::max(0.5, part);
}

// 1 - E e^2 / Var y; the label's variance m2 - m1^2 has derivatives 1 and -2 m1 by the means.
Figure RSquared(const Means& means, const Excess& excess) {
    const FigureRange explained{kAnyNumber.lower, 1};
    const double variance = std::max(means.label_square - means.label * means.label, kLeastVariance);
    const double ratio = (kClipSquare * means.square + excess.value) / variance;
    const double noise = means.noise * (Square(0.5 / kValueWeight) + Square(2 * means.label / kValueWeight) +
                                        Square(0.5 - means.label_square + 2 * means.label * means.label));
    const double chance = Square(kClipSquare / variance) * means.SquareChance() + 2 * Square(ratio) / means.n;
    const double ratio_variance =
        (Square(kClipSquare) * means.SquareNoise() + excess.variance) / Square(variance) +
        Square(ratio / variance) * noise + PartOfChance(ratio, means.KurtosisOf()) * chance;
    Figure r2 = Reaching(FigureOf("r2", 1 - ratio, ratio_variance, explained, kNormal95),
                         excess.beyond / variance, 0, explained);
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
    Figure rmse =
        Reaching(FigureOf("rmse", kClipSquare * means.square + excess.value,
                          Square(kClipSquare) * means.SquareVariance() + excess.variance, {0, kMostSquare}),
                 0, excess.beyond, {0, 4});
    for (double* x : {&*rmse.value, &rmse.lower, &rmse.upper})
        *x = unit * std::sqrt(*x);
    // Of the size of errors above the clip as well; which sign they have is not told.
    const double more = unit * kSizePart, more_variance = Square(more) * excess.variance;
    const double beyond = more * excess.beyond;
    return {
        rows, rmse,
        Reaching(FigureOf("mae", clip * means.absolute + more * excess.value,
                          Square(clip) * means.AbsoluteVariance() + more_variance, size),
                 0, beyond, size),
        RSquared(means, excess),
        Reaching(FigureOf("bias", clip * means.error,
                          Square(clip) * means.ErrorVariance() + more_variance + Square(more * excess.value),
                          either),
                 beyond, beyond, either)};
}

}  // namespace dpboost
