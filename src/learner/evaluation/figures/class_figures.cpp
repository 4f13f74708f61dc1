#include "learner/evaluation/figures/class_figures.h"

#include <cmath>
#include <numeric>

namespace dpboost {
namespace {

constexpr int kMostSteps = 30;

double Sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double Square(double x) {
    return x * x;
}

// The figure m for which sum / scale = m, where sum - m scale is a sum of terms(m) over rows. Its ends solve
// (sum - m scale)^2 = reach^2 Variance(terms(m)).
template <typename TermsOf>
Figure RatioFigure(const char* name, FigureRange range, const ScoredRows& rows, double sum, double scale,
                   const TermsOf& terms_of) {
    Figure figure{name, std::clamp(sum / scale, range.lower, range.upper), range.lower, range.upper};
    for (const double direction : {-1.0, 1.0}) {
        double end = sum / scale;
        for (int step = 0; step < kMostSteps; step++) {
            const double before = end;
            end = (sum + direction * rows.reach() * std::sqrt(rows.Variance(terms_of(end)))) / scale;
            if (!(end >= range.lower && end <= range.upper) || std::fabs(end - before) < 1e-7)
                break;
        }
        (direction < 0 ? figure.lower : figure.upper) = std::clamp(end, range.lower, range.upper);
    }
    return figure;
}

// A mean over rows of what one of a class at a point contributes.
template <typename LossOf>
Figure MeanOver(const char* name, FigureRange range, const ScoredRows& rows, const LossOf& loss_of) {
    ByClass losses;
    double sum = 0, scale = 0;
    for (const bool positive : {false, true})
        for (size_t i = 0; i < rows.points.size(); i++) {
            const double loss = loss_of(rows.points[i], positive), mass = rows.masses.of(positive)[i];
            losses.of(positive).push_back(loss);
            sum += mass * loss;
            scale += mass;
        }
    return RatioFigure(name, range, rows, sum, scale, [&](double mean) {
        ByClass terms = losses;
        for (const bool positive : {false, true})
            for (double& term : terms.of(positive))
                term -= mean;
        return terms;
    });
}

// The probability that a positive row has a higher score than a negative one; of equal ones half. By chance of the rows it
// varies as [DELONG88] has it: the terms are by how many of the other class a row is above, or below, beyond the mean.
Figure Auc(const ScoredRows& rows) {
    const std::vector<double>& positive = rows.masses.positives;
    const std::vector<double>& negative = rows.masses.negatives;
    const double positives = Sum(positive), negatives = Sum(negative);
    ByClass won;
    double pairs = 0, below = 0, above = positives;
    for (size_t i = 0; i < rows.points.size(); i++) {
        above -= positive[i];
        won.positives.push_back(below + negative[i] / 2);
        won.negatives.push_back(above + positive[i] / 2);
        below += negative[i];
        pairs += positive[i] * won.positives[i];
    }
    return RatioFigure("auc", kFraction, rows, pairs, positives * negatives, [&](double auc) {
        ByClass terms = won;
        for (double& term : terms.positives)
            term -= auc * negatives;
        for (double& term : terms.negatives)
            term -= auc * positives;
        return terms;
    });
}

// `sd`: of the noise in the number of rows of either class.
std::vector<Figure> FiguresOf(const ScoredRows& rows, double sd) {
    const double positives = Sum(rows.masses.positives), negatives = Sum(rows.masses.negatives);
    const double n = positives + negatives;
    // Decided by noisy counts alone.
    const bool rows_known = n > 0 && n >= kNoiseWins * sd * std::sqrt(2.0);
    const bool classes_known =
        positives > 0 && negatives > 0 && positives >= kNoiseWins * sd && negatives >= kNoiseWins * sd;
    const auto mean = [&](const char* name, FigureRange range, const auto& loss_of) {
        return rows_known ? MeanOver(name, range, rows, loss_of) : UnknownFigure(name, range);
    };
    return {
        FigureOf("rows", n, 2 * sd * sd, {0, kAnyNumber.upper}),
        classes_known ? Auc(rows) : UnknownFigure("auc", kFraction),
        mean(
            "log_loss", {0, kMaxLogLoss},
            [](const ScorePoint& point, bool positive) { return LogLoss(positive ? point.p : 1 - point.p); }),
        mean("accuracy", kFraction,
             [](const ScorePoint& point, bool positive) { return point.above_half == positive ? 1.0 : 0.0; }),
        mean("brier", kFraction,
             [](const ScorePoint& point, bool positive) { return Square(positive ? 1 - point.p : point.p); }),
        mean("base_rate", kFraction, [](const ScorePoint&, bool positive) { return positive ? 1.0 : 0.0; }),
        classes_known ? CalibrationSlope(rows) : UnknownFigure("calibration_slope", kAnyNumber),
    };
}

}  // namespace

std::vector<Figure> ExactClassFigures(const ScoredRows& rows) {
    return FiguresOf(rows, 0);
}

std::vector<Figure> ClassFigures(const ScoreBins& bins, const ClassCounts& counts) {
    const ScoreMasses masses(bins, counts);
    ScoredRows rows{{}, masses.masses(), &masses};
    for (const ScoreNode& node : bins.nodes())
        rows.points.push_back({node.odds, node.p, bins.above_half(node.bin)});
    return FiguresOf(rows, counts.sigma * std::sqrt(static_cast<double>(bins.size())));
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
        bin.observed = known ? FigureOf("observed", inside, noise + inside * (1 - inside) / n, kFraction)
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
