// The base score of `auto`: a first guess before the stages, and a calibration after them.
#include <algorithm>
#include <cmath>

#include "learner/auto/additive_stage.h"
#include "learner/auto/targets/final_draws.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// The mean over rows of a sum with noise, shrunk where noise is all there is.
double ShrunkMean(const NoisySums& sum, double scale, double prior_variance) {
    const double sigma = sum.sigma * scale;
    return static_cast<double>(sum.values[0]) * scale * prior_variance / (prior_variance + sigma * sigma);
}

Basis InterceptOnly() {
    Basis basis;
    basis.SetIntercept(kBasisOne);
    return basis;
}

}  // namespace

// Neighbours: add or remove one unit. Sensitivity: a row adds a label within +-1 (binary: y - 1/2, counted in
// halves), a unit is scaled down to the same. Charge: one draw of the pool.
MeanLabel DrawBase(AdditiveStage& stage, double fraction) {
    if (HasQuantileBase(stage.objective)) {
        MoveBaseToQuantile(stage, fraction);
        stage.start = stage.tables.base();
        return {0, kEdge};
    }
    const Basis basis = InterceptOnly();
    stage.rows.SetBasis(basis);
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(1);
    const NoisySums sum = stage.pool.Release(fraction, stage.rows.LabelSums(*objective));
    const double scale = 1 / (stage.rows.StepsPerOne() * stage.counts.rows);
    const MeanLabel mean{std::clamp(ShrunkMean(sum, scale, stage.schedule.mean_variance), -1.0, 1.0), kEdge,
                         sum.sigma * scale};
    stage.tables.AddToBase(objective->StartScore(mean));
    stage.start = stage.tables.base();
    stage.spread = stage.ClippedAt(1)->spread();
    if (stage.objective == ObjectiveKind::kLogistic)
        stage.sampling = std::max(kEdge, (1 - std::fabs(mean.value)) / 2);
    // A unit's labels and its counts are scaled down by factors of their own: their quotient would be no share of anything.
    if (stage.objective == ObjectiveKind::kLogistic && !stage.rows.has_units()) {
        const double steps = stage.rows.StepsPerOne();
        stage.base_rate = BaseRate::Of(stage.counts.rows, stage.counts.rows_sd,
                                       static_cast<double>(sum.values[0]) / steps, sum.sigma / steps);
    }
    return mean;
}

// Neighbours: add or remove one unit. Sensitivity: a row adds a gradient within one clip, a unit the same. Charge: what
// is left of the pool above `leave`.
void CalibrateBase(const AdditiveStage& stage, const MeanLabel& mean, double leave) {
    const Basis basis = InterceptOnly();
    stage.rows.SetBasis(basis);
    const double clip = stage.ClippedAt(1)->reach();
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(clip);
    const double scale = clip / (stage.rows.StepsPerOne() * stage.counts.rows);
    const uint32_t draws = Whole(stage.schedule.calibration_draws);
    for (uint32_t draw = 0; draw < draws; draw++) {
        const NoisySums sum =
            stage.pool.Release(stage.pool.Slice(leave, draws - draw), stage.rows.GradientSums(*objective));
        stage.tables.AddToBase(
            objective->Correction(mean, ShrunkMean(sum, scale, stage.schedule.error_variance)));
    }
}

}  // namespace dpboost
