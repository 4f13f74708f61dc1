#include "learner/evaluation/exact_metrics.h"

#include <algorithm>
#include <cmath>

#include "learner/evaluation/figures/class_figures.h"

namespace dpboost {
namespace {

constexpr size_t kWorkPerPoll = 8192;

ScorePoint PointOf(double prediction) {
    return {LogOdds(prediction), prediction, prediction > 0.5};
}

double Square(double x) {
    return x * x;
}

}  // namespace

void ExactClassMetrics::Add(double prediction, bool positive) {
    rows_.push_back({std::clamp(prediction, 0.0, 1.0), positive});
}

std::vector<Figure> ExactClassMetrics::Figures(Interrupt& interrupt) {
    size_t compared = 0;
    std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
        if (++compared % kWorkPerPoll == 0)
            interrupt.Poll();
        return a.prediction < b.prediction;
    });
    ScoredRows scored;
    for (size_t i = 0; i < rows_.size(); i++) {
        if (i == 0 || rows_[i].prediction != rows_[i - 1].prediction) {
            scored.points.push_back(PointOf(rows_[i].prediction));
            scored.masses.positives.push_back(0);
            scored.masses.negatives.push_back(0);
        }
        scored.masses.of(rows_[i].positive).back() += 1;
        if (i % kWorkPerPoll == 0)
            interrupt.Poll();
    }
    rows_ = {};
    return ExactClassFigures(scored);
}

void ExactValueMetrics::Add(double prediction, double value) {
    const double error = prediction - value;
    rows_ += 1;
    error_ += error;
    absolute_ += std::fabs(error);
    square_ += Square(error);
    fourth_ += Square(Square(error));
    const double before = value - mean_;
    mean_ += before / rows_;
    squares_about_mean_ += before * (value - mean_);
}

std::vector<Figure> ExactValueMetrics::Figures() const {
    const FigureRange size{0, kAnyNumber.upper}, explained{kAnyNumber.lower, 1};
    const double n = rows_;
    const Figure rows = FigureOf("rows", n, 0, size);
    if (n == 0)
        return {rows, UnknownFigure("rmse", size), UnknownFigure("mae", size), UnknownFigure("r2", explained),
                UnknownFigure("bias", kAnyNumber)};
    const double square = square_ / n, absolute = absolute_ / n, error = error_ / n;
    const double square_chance = std::max(0.0, fourth_ / n - Square(square)) / n;
    const Figure mean_square = FigureOf("", square, square_chance, size, kNormal95);
    const double variance = squares_about_mean_ / n;
    const double ratio = square / variance;
    const double ratio_chance = square_chance / Square(variance) + 2 * Square(ratio) / n;
    return {rows,
            {"rmse", std::sqrt(square), std::sqrt(mean_square.lower), std::sqrt(mean_square.upper)},
            FigureOf("mae", absolute, std::max(0.0, square - Square(absolute)) / n, size, kNormal95),
            variance > 0 ? FigureOf("r2", 1 - ratio, ratio_chance, explained, kNormal95)
                         : UnknownFigure("r2", explained),
            FigureOf("bias", error, std::max(0.0, square - Square(error)) / n, kAnyNumber, kNormal95)};
}

}  // namespace dpboost
