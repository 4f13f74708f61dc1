#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "learner/auto/targets/final_draws.h"

namespace dpboost {
namespace {

// Up to how many times its prediction a row counts in full: so far that noise moves the mean of these multiples by this
// much, within limits.
struct Reach {
    double noise;
    double least;
};

// Neighbours: add or remove one unit. Sensitivity: RatioSums. Charge: one draw. The mean of (1 + value - lower) over its
// prediction is the factor by which predictions are too low, where scores are right on average as logarithms ("smearing").
double ShiftToMean(const AdditiveStage& stage, double fraction, const Reach& wanted) {
    const AutoSchedule& schedule = stage.schedule;
    const double half = stage.target.LogWidth() / 2;
    const double factor = stage.tables.final_factor(), shift = stage.tables.final_shift();
    const double nu = stage.counts.rows * stage.pool.mu() * std::sqrt(fraction);
    const double reach = std::clamp(2 * wanted.noise * nu, wanted.least, schedule.most_reach);
    const NoisySums sums =
        stage.pool.Release(fraction, stage.rows.RatioSums({half, half}, {factor, shift}, reach));
    const double unit = reach / 2 / stage.rows.StepsPerOne() / stage.counts.rows;
    const double ratio = std::max(reach / 2 + static_cast<double>(sums.values[0]) * unit,
                                  portable::Exp(-schedule.most_mean_shift));
    const double noise = sums.sigma * unit / ratio;
    const double change =
        portable::Log(ratio) * schedule.factor_variance / (schedule.factor_variance + noise * noise);
    const double moved = std::clamp(change, -schedule.most_mean_shift, schedule.most_mean_shift);
    stage.tables.ThenFinal(1, moved);
    return moved;
}

}  // namespace

// Rows beyond the reach count for less than they are, so what is found is too little where there are many. Predictions are
// put right in steps, and the same reach is further out after each: a part of the fraction for a step, until one finds little,
// and the rest for the last look, at multiples of which the mean is about 1.
double AdjustMean(const AdditiveStage& stage, double fraction) {
    const AutoSchedule& schedule = stage.schedule;
    const double half = stage.target.LogWidth() / 2;
    stage.tables.ThenFinal(half, half);
    if (!(fraction > 0))
        return 0;
    double moved = 0, left = fraction;
    for (uint32_t step = 0; step < Whole(schedule.mean_steps); step++) {
        const double by = ShiftToMean(stage, fraction * schedule.mean_step_part,
                                      {schedule.step_noise, schedule.step_reach});
        moved += by;
        left -= fraction * schedule.mean_step_part;
        if (by < schedule.little_factor)
            break;
    }
    return moved + ShiftToMean(stage, left, {schedule.last_noise, schedule.last_reach});
}

}  // namespace dpboost
