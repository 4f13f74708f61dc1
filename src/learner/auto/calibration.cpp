// Calibration of probabilities (Platt's, on a histogram): the class as a logistic function of a straight line in the score,
// fitted to a noisy count of classes by score.
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "learner/auto/additive_stage.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

struct Line {
    double shift = 0;
    double stretch = 1;
};

struct ClassCounts {
    double score;  // above the one that rows start with
    double negatives;
    double positives;
};

// Maximum likelihood with a ridge towards (0, 1).
Line Fit(const std::vector<ClassCounts>& counts, double start, double sigma, const AutoSchedule& schedule) {
    const double ridge = 1 + schedule.probability_ridge * sigma;
    Line line;
    for (int step = 0; step < kNewtonSteps; step++) {
        double slope[2] = {-ridge * line.shift, -4 * ridge * (line.stretch - 1)};
        double curve[3] = {ridge, 0, 4 * ridge};
        for (const ClassCounts& one : counts) {
            const double rows = one.negatives + one.positives;
            const double p = 1 / (1 + portable::Exp(-(start + line.shift + line.stretch * one.score)));
            // A count's noise weighs as much as so many rows would: where p is near 0 or 1, noise is all there is.
            const double information = std::max(0.0, rows * p * (1 - p));
            const double trust = information / (information + sigma * sigma * (p * p + (1 - p) * (1 - p)));
            const double error = trust * (one.positives - rows * p), weight = trust * information;
            slope[0] += error;
            slope[1] += error * one.score;
            curve[0] += weight;
            curve[1] += weight * one.score;
            curve[2] += weight * one.score * one.score;
        }
        const double det = curve[0] * curve[2] - curve[1] * curve[1];
        if (!(det > 0))
            break;
        line.shift +=
            std::clamp((curve[2] * slope[0] - curve[1] * slope[1]) / det, -kNewtonShift, kNewtonShift);
        line.stretch +=
            std::clamp((curve[0] * slope[1] - curve[1] * slope[0]) / det, -kNewtonStretch, kNewtonStretch);
        line.shift = std::clamp(line.shift, -schedule.most_shift, schedule.most_shift);
        line.stretch = std::clamp(line.stretch, schedule.least_stretch, schedule.most_stretch);
    }
    return line;
}

// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::ScoreCounts). Charge:
// `fraction` of the pool.
Line CountAndFit(const AdditiveStage& stage, double fraction) {
    const double start = FromFixed(stage.start);
    std::vector<double> ends(1, start);
    double width = stage.schedule.score_width;
    for (uint32_t k = 0; k < Whole(stage.schedule.score_intervals);
         k++, width *= 1 + stage.schedule.score_widening) {
        ends.insert(ends.begin(), ends.front() - width);
        ends.push_back(ends.back() + width);
    }
    std::vector<int32_t> edges;  // the outermost intervals are open
    for (size_t k = 1; k + 1 < ends.size(); k++)
        edges.push_back(ToFixed(ends[k]));
    const NoisySums sums = stage.pool.Release(fraction, stage.rows.ScoreCounts(edges));
    const double steps = stage.rows.StepsPerOne(), sigma = sums.sigma / steps;
    std::vector<ClassCounts> counts;
    for (size_t k = 0; k + 1 < ends.size(); k++) {
        const double negatives = static_cast<double>(sums.values[2 * k]) / steps;
        const double positives = static_cast<double>(sums.values[2 * k + 1]) / steps;
        if (negatives + positives >= stage.schedule.counted_sigmas * sigma)
            counts.push_back({(ends[k] + ends[k + 1]) / 2 - start, negatives, positives});
    }
    return Fit(counts, start, sigma, stage.schedule);
}

}  // namespace

// Takes all that is left of the pool.
void CalibrateProbabilities(const AdditiveStage& stage) {
    const double start = FromFixed(stage.start);
    const Line line = CountAndFit(stage, stage.pool.Slice(0, 1));
    stage.tables.SetFinal(line.stretch, start + line.shift - line.stretch * start);
}

double ClassSlope(const AdditiveStage& stage, double fraction) {
    return CountAndFit(stage, fraction).stretch;
}

}  // namespace dpboost
