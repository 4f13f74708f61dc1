#include <cmath>
#include <limits>
#include <optional>

#include "learner/evaluation/figures/scored_rows.h"

namespace dpboost {
namespace {

constexpr int kMostSteps = 50;
constexpr double kFarthestSlope = 64;

double Square(double x) {
    return x * x;
}

double Logistic(double x) {
    return 1 / (1 + std::exp(-std::clamp(x, -30.0, 30.0)));
}

// The likelihood's equations at some a and b: linear in the masses, so that noise does not bias them.
struct Equations {
    double u0 = 0, u1 = 0, i00 = 0, i01 = 0, i11 = 0;

    Equations(const ScoredRows& rows, double a, double b) {
        for (size_t i = 0; i < rows.points.size(); i++) {
            const double odds = rows.points[i].odds, p = Logistic(a + b * odds);
            const double positive = rows.masses.positives[i], negative = rows.masses.negatives[i];
            const double rest = positive * (1 - p) - negative * p;
            const double curvature = (positive + negative) * p * (1 - p);
            u0 += rest, u1 += rest * odds;
            i00 += curvature, i01 += curvature * odds, i11 += curvature * odds * odds;
        }
    }
    double information() const { return i11 - i01 * i01 / i00; }  // of b, where a is what it must be for it
    bool Known() const { return i00 > 0 && information() > 0; }
};

// The equation of b as a sum over rows, a being what it must be.
ByClass Terms(const ScoredRows& rows, const Equations& at, double a, double b) {
    ByClass terms;
    const double middle = at.i01 / at.i00;
    for (const ScorePoint& point : rows.points) {
        const double p = Logistic(a + b * point.odds), far = point.odds - middle;
        terms.positives.push_back((1 - p) * far);
        terms.negatives.push_back(-p * far);
    }
    return terms;
}

// The a for a given b, from a start; none if noise makes the curvature vanish.
std::optional<double> BaseFor(const ScoredRows& rows, double b, double start) {
    double a = start;
    for (int step = 0; step < kMostSteps; step++) {
        const Equations at(rows, a, b);
        if (!at.Known())
            return {};
        const double move = at.u0 / at.i00;
        a += std::clamp(move, -1.0, 1.0);
        if (std::fabs(move) < 1e-6)
            return a;
    }
    return {};
}

// How far from its estimate the slope may be in a direction: as long as its equation does not refute it.
double End(const ScoredRows& rows, double a, double b, double guess, double direction) {
    const auto holds = [&](double far) {
        const std::optional<double> base = BaseFor(rows, b + direction * far, a);
        if (!base)
            return true;
        const Equations at(rows, *base, b + direction * far);
        return Square(at.u1) <=
               Square(rows.reach()) * rows.Variance(Terms(rows, at, *base, b + direction * far));
    };
    double inside = 0, outside = guess;
    while (holds(outside)) {
        inside = outside;
        outside *= 1.3;
        if (outside > kFarthestSlope)
            return direction * std::numeric_limits<double>::infinity();
    }
    while (outside - inside > 0.01 * guess && outside - inside > 1e-6)
        (holds((inside + outside) / 2) ? inside : outside) = (inside + outside) / 2;
    return b + direction * outside;
}

}  // namespace

Figure CalibrationSlope(const ScoredRows& rows) {
    const Figure unknown = UnknownFigure("calibration_slope", kAnyNumber);
    double a = 0, b = 1;
    for (int step = 0; step < kMostSteps; step++) {
        const Equations at(rows, a, b);
        if (!at.Known())
            return unknown;
        const double step_b = (at.u1 - at.i01 / at.i00 * at.u0) / at.information();
        const double step_a = (at.u0 - at.i01 * step_b) / at.i00;
        const double size = std::max(std::fabs(step_a), std::fabs(step_b));
        a += step_a / std::max(1.0, size);
        b += step_b / std::max(1.0, size);
        if (size >= 1e-9)
            continue;
        const double variance = rows.Variance(Terms(rows, at, a, b)) / Square(at.information());
        if (!std::isfinite(variance))
            return unknown;
        if (rows.noisy == nullptr)
            return FigureOf("calibration_slope", b, variance, kAnyNumber, rows.reach());
        const double guess = std::max(1e-4, rows.reach() * std::sqrt(variance));
        return {"calibration_slope", b, End(rows, a, b, guess, -1), End(rows, a, b, guess, 1)};
    }
    return unknown;
}

}  // namespace dpboost
