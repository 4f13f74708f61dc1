#include "learner/auto/targets/final_draws.h"

namespace dpboost {
double LastFraction(const AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    if (stage.objective == ObjectiveKind::kHuber)  // clipped gradients are what it asks for
        return 0;
    if (stage.target.logarithmic() && stage.objective == ObjectiveKind::kSquared)
        return schedule.calibration > 0 ? schedule.mean_fraction : 0;
    return schedule.probabilities > 0 ? schedule.probabilities : schedule.calibration;
}

double DrawLast(const AdditiveStage& stage, const MeanLabel& mean, double fraction, double leave) {
    const bool of_quantile = HasQuantileBase(stage.objective);
    const bool shape = stage.schedule.probabilities > 0;
    if (of_quantile && fraction > 0)
        MoveBaseToQuantile(stage, stage.pool.Slice(leave, 1));
    if (stage.target.logarithmic())
        return AdjustMean(stage, of_quantile || fraction == 0 ? 0 : stage.pool.Slice(leave, 1));
    if (of_quantile)
        return 0;
    if (fraction > 0)
        CalibrateBase(stage, mean, shape ? stage.pool.left() * stage.schedule.probability_share : leave);
    if (shape)
        CalibrateProbabilities(stage);
    return 0;
}

LossNote NoteOf(const AdditiveStage& stage) {
    if (stage.objective == ObjectiveKind::kHuber)
        return {LossKind::kHuber, {}};
    if (stage.objective == ObjectiveKind::kQuantile)
        return {LossKind::kQuantile, {stage.quantile}};
    return {};
}

}  // namespace dpboost
