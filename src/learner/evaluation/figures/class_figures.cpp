#include "learner/evaluation/figures/class_figures.h"

#include <cmath>
#include <numeric>

namespace dpboost {
namespace {

constexpr double kMaxCorrection = 0.15;

double Sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double Square(double x) {
    return x * x;
}

// What a row of a class in a bin contributes to a mean over rows: on average over the reference, and how far rows of the
// bin are from that.
struct Loss {
    double mean;
    double spread;
};

// A figure before its interval: with the variance of its noise and of its sampling. None where noise wins.
struct Estimate {
    const char* name;
    FigureRange range;
    std::optional<double> value;
    double variance = 0;
};

// A mean over rows: M = sum w c / sum c, d M / d c = (w - M) / n.
template <typename LossOf>
Estimate MeanOver(const char* name, FigureRange range, const std::vector<ScoreBin>& bins,
                  const ClassCounts& counts, const LossOf& loss_of) {
    const double n = Sum(counts.positives) + Sum(counts.negatives);
    double sum = 0, squares = 0;
    const auto each = [&](const auto& action) {
        for (size_t i = 0; i < bins.size(); i++) {
            action(counts.positives[i], loss_of(bins[i], true));
            action(counts.negatives[i], loss_of(bins[i], false));
        }
    };
    each([&](double count, Loss loss) {
        sum += count * loss.mean;
        squares += count * (Square(loss.mean) + Square(loss.spread));
    });
    const double mean = sum / n;
    double noise = 0;
    each([&](double, Loss loss) { noise += Square((loss.mean - mean) / n); });
    const double sampling = std::max(0.0, squares / n - mean * mean) / n;
    return {name, range, mean, noise * Square(counts.sigma) + sampling};
}

// [HM82]: the variance of an AUC by chance of the rows.
double SamplingVariance(double auc, double positives, double negatives) {
    const double a = std::clamp(auc, 0.5, 0.999);
    const double q1 = a / (2 - a), q2 = 2 * a * a / (1 + a);
    return (a * (1 - a) + (positives - 1) * (q1 - a * a) + (negatives - 1) * (q2 - a * a)) /
           (positives * negatives);
}

// The probability that a positive row has a higher score than a negative one. Pairs in one bin count half, and a bit
// more by how either class lies within the bin.
Estimate Auc(const std::vector<ScoreBin>& bins, const ClassCounts& counts) {
    const double positives = Sum(counts.positives), negatives = Sum(counts.negatives);
    double pairs = 0, within = 0, below = 0;
    for (size_t i = 0; i < bins.size(); i++) {
        const double p = counts.positives[i], n = counts.negatives[i];
        pairs += p * (below + n / 2);
        within += p * n * bins[i].order;
        below += n;
    }
    const double raw = pairs / (positives * negatives);
    const double auc = raw + std::clamp(within / (positives * negatives), 0.0, kMaxCorrection);
    double noise = 0, negatives_below = 0, positives_above = positives;
    for (size_t i = 0; i < bins.size(); i++) {
        positives_above -= counts.positives[i];
        const double f = (negatives_below + counts.negatives[i] / 2) / negatives;
        const double g = (positives_above + counts.positives[i] / 2) / positives;
        negatives_below += counts.negatives[i];
        noise += Square((f - raw) / positives) + Square((g - raw) / negatives);
    }
    return {"auc", kFraction, auc,
            noise * Square(counts.sigma) + SamplingVariance(auc, positives, negatives)};
}

// Sums over the two scores that stand for a class in a bin: of the residual r, of r s, of the curvature and its moments.
struct SlopeTerms {
    double r = 0, rs = 0, c = 0, cs = 0, css = 0;

    SlopeTerms(double odds, double spread, bool positive, double a, double b) {
        for (const double s : {odds - spread, odds + spread}) {
            const double p = 1 / (1 + std::exp(-std::clamp(a + b * s, -30.0, 30.0)));
            const double residual = (positive ? 1 - p : -p) / 2, curvature = p * (1 - p) / 2;
            r += residual, rs += residual * s;
            c += curvature, cs += curvature * s, css += curvature * s * s;
        }
    }
};

// The slope b of log odds of the truth = a + b log odds of the model, by maximum likelihood on the counts as they are:
// 1 is calibrated, less is over-confident. The likelihood's equations are linear in the counts, so noise does not bias
// them; where it makes the curvature vanish, nothing is known.
Estimate CalibrationSlope(const std::vector<ScoreBin>& bins, const ClassCounts& counts) {
    const Estimate unknown{"calibration_slope", kAnyNumber, {}, 0};
    double a = 0, b = 1;
    for (int step = 0; step < 50; step++) {
        double u0 = 0, u1 = 0, i00 = 0, i01 = 0, i11 = 0, v00 = 0, v01 = 0, v11 = 0;
        const auto add = [&](double count, const SlopeTerms& terms) {
            u0 += count * terms.r, u1 += count * terms.rs;
            i00 += count * terms.c, i01 += count * terms.cs, i11 += count * terms.css;
            v00 += Square(terms.r), v01 += terms.r * terms.rs, v11 += Square(terms.rs);
        };
        for (size_t i = 0; i < bins.size(); i++) {
            add(counts.positives[i], {bins[i].odds_positive, bins[i].odds_positive_spread, true, a, b});
            add(counts.negatives[i], {bins[i].odds_negative, bins[i].odds_negative_spread, false, a, b});
        }
        const double det = i00 * i11 - i01 * i01;
        if (!(det > 0) || !(i00 > 0))
            return unknown;
        const double step_a = (i11 * u0 - i01 * u1) / det, step_b = (i00 * u1 - i01 * u0) / det;
        const double size = std::max(std::fabs(step_a), std::fabs(step_b));
        a += step_a / std::max(1.0, size);
        b += step_b / std::max(1.0, size);
        const double w0 = -i01 / det, w1 = i00 / det;  // row of the inverse for b
        const double noise = w0 * w0 * v00 + 2 * w0 * w1 * v01 + w1 * w1 * v11;
        const double variance = Square(counts.sigma) * noise + w1;
        if (size < 1e-9)
            return std::isfinite(variance) ? Estimate{"calibration_slope", kAnyNumber, b, variance} : unknown;
    }
    return unknown;
}

}  // namespace

namespace {

std::vector<Estimate> Estimates(const std::vector<ScoreBin>& bins, const ClassCounts& counts) {
    const double positives = Sum(counts.positives), negatives = Sum(counts.negatives);
    const double sd = counts.sigma * std::sqrt(static_cast<double>(bins.size()));
    const double n = positives + negatives;
    // Decided by noisy counts alone.
    const bool rows_known = n > 0 && n >= kNoiseWins * sd * std::sqrt(2.0);
    const bool classes_known =
        positives > 0 && negatives > 0 && positives >= kNoiseWins * sd && negatives >= kNoiseWins * sd;
    const auto mean = [&](const char* name, FigureRange range, const auto& loss_of) {
        return rows_known ? MeanOver(name, range, bins, counts, loss_of) : Estimate{name, range, {}, 0};
    };
    return {
        {"rows", {0, kAnyNumber.upper}, n, 2 * sd * sd},
        classes_known ? Auc(bins, counts) : Estimate{"auc", kFraction, {}, 0},
        mean("log_loss", {0, kMaxLogLoss},
             [](const ScoreBin& bin, bool positive) {
                 return positive ? Loss{bin.log_positive, bin.log_positive_spread}
                                 : Loss{bin.log_negative, bin.log_negative_spread};
             }),
        mean("accuracy", kFraction,
             [](const ScoreBin& bin, bool positive) {
                 return Loss{bin.above_half == positive ? 1.0 : 0.0, 0};
             }),
        mean("brier", kFraction,
             [](const ScoreBin& bin, bool positive) {
                 return positive ? Loss{bin.square_positive, bin.square_positive_spread}
                                 : Loss{bin.square_negative, bin.square_negative_spread};
             }),
        mean("base_rate", kFraction,
             [](const ScoreBin&, bool positive) {
                 return Loss{positive ? 1.0 : 0.0, 0};
             }),
        classes_known ? CalibrationSlope(bins, counts) : Estimate{"calibration_slope", kAnyNumber, {}, 0},
    };
}

std::vector<Figure> FiguresOf(const std::vector<Estimate>& estimates) {
    std::vector<Figure> figures;
    for (const Estimate& estimate : estimates)
        figures.push_back(estimate.value
                              ? FigureOf(estimate.name, *estimate.value, estimate.variance, estimate.range)
                              : UnknownFigure(estimate.name, estimate.range));
    return figures;
}

}  // namespace

std::vector<Figure> ExactClassFigures(const std::vector<ScoreBin>& bins, const ClassCounts& counts) {
    return FiguresOf(Estimates(bins, counts));
}

std::vector<Figure> ClassFigures(const ScoreBins& bins, const ClassCounts& counts) {
    const BinShape shape(bins, counts);
    std::vector<Estimate> estimates = Estimates(shape.Bins(), counts);
    for (size_t doubt = 0; doubt < BinShape::kDoubts; doubt++) {
        const std::vector<Estimate> doubted = Estimates(shape.Doubted(doubt), counts);
        for (size_t i = 0; i < estimates.size(); i++)
            if (estimates[i].value && doubted[i].value)
                estimates[i].variance += Square(*doubted[i].value - *estimates[i].value);
    }
    return FiguresOf(estimates);
}

std::vector<DrawnBin> DrawnBins(const std::vector<ScoreBin>& bins, const ClassCounts& counts) {
    const double positives = Sum(counts.positives), negatives = Sum(counts.negatives);
    std::vector<DrawnBin> drawn(bins.size());
    double positives_above = 0, negatives_above = 0;
    for (size_t i = bins.size(); i-- > 0;) {
        const double p = counts.positives[i], n = p + counts.negatives[i];
        positives_above += p;
        negatives_above += counts.negatives[i];
        DrawnBin& bin = drawn[i];
        bin.lower = bins[i].lower;
        bin.upper = bins[i].upper;
        bin.predicted = bins[i].predicted;
        bin.rows = n;
        const bool known = n > 0 && n >= kNoiseWins * counts.sigma * std::sqrt(2.0);
        const double rate = p / n;
        const double noise = (Square(1 - rate) + Square(rate)) * Square(counts.sigma / n);
        const double inside = std::clamp(rate, 0.0, 1.0);
        bin.observed = known ? FigureOf("observed", rate, noise + inside * (1 - inside) / n, kFraction)
                             : UnknownFigure("observed", kFraction);
        const auto part = [](double above, double all) {
            return all > 0 ? std::clamp(above / all, 0.0, 1.0) : std::numeric_limits<double>::quiet_NaN();
        };
        bin.true_positive_rate = part(positives_above, positives);
        bin.false_positive_rate = part(negatives_above, negatives);
        const double above = part(positives_above + negatives_above, positives + negatives);
        bin.lift = above > 0 ? bin.true_positive_rate / above : std::numeric_limits<double>::quiet_NaN();
    }
    return drawn;
}

}  // namespace dpboost
