// The linear stage of `auto`: full-batch gradient descent with momentum on a handful of functions of each
// feature. Each step releases sum g_i phi(x_i) with noise; what is known about the noise shrinks the step (a
// Wiener filter per coordinate: without it the method fails at small epsilon).
#include <algorithm>
#include <cmath>
#include <limits>

#include "learner/auto/additive_stage.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// Quantile of the normal distribution, to 1 % (Tukey's lambda distribution).
double NormalScore(double rank) {
    return 4.91 * (std::pow(rank, 0.14) - std::pow(1 - rank, 0.14));
}

int32_t ToBasis(double value) {
    return static_cast<int32_t>(std::lround(value * kBasisUnit));
}

// A numeric feature: the normal score of its noisy rank, scaled to unit variance and clipped; and a cosine of
// the rank, which tells the middle from the ends. Missing values are at zero.
void AddNumericColumns(const std::vector<double>& counts, const AutoSchedule& schedule, BasisBlock& block) {
    const size_t bins = counts.size() - 1;
    double total = 0;
    for (size_t bin = 0; bin < bins; bin++)
        total += counts[bin];
    total = std::max(total, 1e-9);
    std::vector<double> ranks(bins), scores(bins);
    double below = 0, variance = 0;
    for (size_t bin = 0; bin < bins; bin++) {
        ranks[bin] = std::clamp((below + counts[bin] / 2) / total, kEdgeRank, 1 - kEdgeRank);
        below += counts[bin];
        scores[bin] = NormalScore(ranks[bin]);
        variance += counts[bin] / total * scores[bin] * scores[bin];
    }
    const double scale = 1 / std::sqrt(std::max(variance, schedule.least_variance));
    BasisColumn score, wave;
    score.values.assign(bins + 1, 0);
    wave.values.assign(bins + 1, 0);
    for (size_t bin = 0; bin < bins; bin++) {
        score.values[bin] =
            ToBasis(std::clamp(scores[bin] * scale, -schedule.score_clip, schedule.score_clip));
        wave.values[bin] = ToBasis(schedule.wave_weight * std::cos(2 * M_PI * ranks[bin]));
    }
    block.columns.push_back(std::move(score));
    if (schedule.wave_weight > 0)
        block.columns.push_back(std::move(wave));
}

// A feature of levels: an indicator of each; the most frequent one may be the reference.
void AddLevelIndicators(const std::vector<double>& counts, const AutoSchedule& schedule, BasisBlock& block) {
    const size_t top = static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    BasisPartition& partition = block.partition;
    partition.on = ToBasis(schedule.level_weight);
    partition.leaf.resize(counts.size());
    for (size_t cell = 0; cell < counts.size(); cell++)
        partition.leaf[cell] =
            schedule.level_reference > 0 && cell == top ? BasisPartition::kNoLeaf : partition.leaves++;
}

Basis MakeLinearBasis(const AdditiveStage& stage) {
    Basis basis;
    for (uint32_t f = 0; f < stage.features.size(); f++) {
        BasisBlock block;
        block.view = CodeView::Column(f, stage.features[f].cells());
        if (stage.features[f].ordered())
            AddNumericColumns(stage.counts.cells[f], stage.schedule, block);
        else
            AddLevelIndicators(stage.counts.cells[f], stage.schedule, block);
        basis.Add(std::move(block));
    }
    basis.SetIntercept(ToBasis(stage.schedule.intercept));
    return basis;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); k++)
        sum += a[k] * b[k];
    return sum;
}

void Move(const AdditiveStage& stage, const Basis& basis, const std::vector<double>& step) {
    for (size_t f = 0; f < stage.features.size(); f++) {
        std::vector<double> change(stage.features[f].cells(), 0.0);
        basis.Expand(f, step.data(), change.data());
        stage.tables.Add(f, change);
    }
    stage.tables.AddToBase(step.back() * basis.intercept() / kBasisUnit);
}

// Gain of each coordinate: 1 / (expected sum of phi_k^2), Wiener-filtered.
std::vector<double> Gains(const AdditiveStage& stage, const Basis& basis, double kappa) {
    std::vector<double> squares(basis.coordinates(), 0.0);
    for (size_t f = 0; f < stage.features.size(); f++)
        basis.AddSquares(f, stage.counts.cells[f].data(), squares.data());
    const double intercept = static_cast<double>(basis.intercept()) / kBasisUnit;
    squares.back() = stage.counts.rows * intercept * intercept;
    for (double& square : squares)
        square = square / (square * square + kappa);
    return squares;
}

// Steps with momentum m on a problem of curvature c (in units of the gains) swing ever further once the rate is above
// 2 (1 + m) / ((1 - m) c): columns that say the same add up to a large c. The last step and what it did to the gradient
// show the curvature along it, the largest one where a swing has begun: what rate is safe, or infinity where noise hides
// it. Post-processing of released gradients.
struct LastStep {
    const std::vector<double>& previous;  // gradient before it
    const std::vector<double>& gradient;  // and after it
    const std::vector<double>& step;
    const std::vector<double>& gains;
};

double StableRate(const LastStep& last, double sigma, const AutoSchedule& schedule) {
    const double momentum = schedule.linear_momentum;
    double drop = 0, energy = 0, squares = 0;
    for (size_t k = 0; k < last.step.size(); k++) {
        drop += last.step[k] * (last.previous[k] - last.gradient[k]);
        energy += last.gains[k] > 0 ? last.step[k] * last.step[k] / last.gains[k] : 0;
        squares += last.step[k] * last.step[k];
    }
    const double noise = sigma * std::sqrt(2 * squares);  // both gradients have it
    if (!(energy > 0 && drop > schedule.stable_sigmas * noise))
        return std::numeric_limits<double>::infinity();
    return schedule.stable_part * 2 * (1 + momentum) / (1 - momentum) * energy / drop;
}

}  // namespace

void RunLinearStage(const AdditiveStage& stage, double leave) {
    const double fraction = stage.pool.left() - leave;
    const AutoSchedule& schedule = stage.schedule;
    const Basis basis = MakeLinearBasis(stage);
    const double features = static_cast<double>(stage.features.size());
    stage.rows.SetBasis(basis, static_cast<uint64_t>((schedule.norm_per_feature * features +
                                                      schedule.intercept * schedule.intercept) *
                                                     kBasisUnit * kBasisUnit));
    const double clip = stage.Clip(schedule.linear_clip);
    const double unit = clip / stage.rows.StepsPerUnit();
    const double bound = stage.rows.Sensitivity() / stage.rows.StepsPerUnit();  // C, for gradients within +-1
    const double mu = stage.pool.mu() * std::sqrt(fraction);
    const std::vector<double> gains =
        Gains(stage, basis, schedule.linear_kappa * stage.spread * stage.spread * bound * bound / (mu * mu));
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(clip);
    double rate = schedule.linear_time / schedule.linear_steps / objective->curvature();
    std::vector<double> gradient(basis.coordinates()), step(basis.coordinates(), 0.0), previous;
    OvershootGuard guard(schedule);
    const uint32_t steps = Whole(schedule.linear_steps);
    StepNoise noise;
    bool fresh = false;  // the last step had no momentum
    for (uint32_t t = 0; t < steps; t++) {
        const NoisySums sums =
            stage.pool.Release(stage.pool.Slice(leave, steps - t), stage.rows.GradientSums(*objective));
        previous = gradient;
        for (size_t k = 0; k < gradient.size(); k++)
            gradient[k] = static_cast<double>(sums.values[k]) * unit;
        if (fresh && guard.Overshot(Dot(gradient, step), sums.sigma * unit * std::sqrt(Dot(step, step)))) {
            for (double& change : step)
                change = -change;
            Move(stage, basis, step);
            std::fill(step.begin(), step.end(), 0.0);
            noise.TakeBack();
            rate *= schedule.overshoot_rate_cut;
            continue;
        }
        const double stable = StableRate({previous, gradient, step, gains}, sums.sigma * unit, schedule);
        if (t > 0 && stable < rate) {
            rate = stable;
            if (Dot(gradient, step) < 0) {  // no swing is carried on
                std::fill(step.begin(), step.end(), 0.0);
                noise.Forget();
            }
        }
        fresh = std::all_of(step.begin(), step.end(), [](double change) { return change == 0; });
        for (size_t k = 0; k < step.size(); k++)
            step[k] = schedule.linear_momentum * step[k] +
                      (1 - schedule.linear_momentum) * rate * gains[k] * gradient[k];
        guard.Expect(Dot(gradient, step));
        Move(stage, basis, step);
        noise.Move(schedule.linear_momentum, (1 - schedule.linear_momentum) * rate, sums.sigma * unit);
    }
    for (size_t f = 0; f < stage.features.size(); f++)
        stage.bands.AddBlock(f, basis.blocks()[f], gains.data() + basis.blocks()[f].first, noise.Sd());
    stage.bands.Commit();
}

}  // namespace dpboost
