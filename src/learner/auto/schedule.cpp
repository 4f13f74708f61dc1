#include "learner/auto/schedule.h"

#include <algorithm>
#include <cmath>

#include "learner/ramp.h"

namespace dpboost {
namespace {

void SetLogistic(double nu, AutoSchedule& s) {
    s.second_histogram = Ramp(nu, 4, 150, 0.25, 0);
    s.second_cells = nu < 6 ? 5 : 0;
    s.initial_score = nu < 8 ? 0 : 0.03;
    s.residual_share = nu < 12 ? 0 : nu < 50 ? Ramp(nu, 10, 50, 0, 0.4) : Ramp(nu, 50, 1500, 0.4, 0.88);
    s.linear_steps = 10;
    s.linear_time = nu < 50 ? Ramp(nu, 3, 20, 3, 7) : Ramp(nu, 50, 150, 7, 10);
    s.linear_momentum = 0.5;
    s.linear_clip = Ramp(nu, 200, 1500, 0.2, 0.3);
    s.linear_kappa = 100;
    s.score_clip = 2;
    s.wave_weight = nu > 30 ? 0.5 : 0;
    s.level_weight = 1;
    s.level_reference = true;
    s.intercept = 0.5;
    s.norm_per_feature = Ramp(nu, 5, 100, 0.35, 0.5);
    s.residual_epochs = static_cast<uint32_t>(std::lround(Ramp(nu, 50, 1000, 10, 20)));
    s.residual_leaves = static_cast<uint32_t>(
        std::lround(nu < 1000 ? Ramp(nu, 50, 1000, 5, 8) : Ramp(nu, 1000, 2000, 8, 14)));
    s.residual_time = Ramp(nu, 50, 1500, 1.5, 11);
    s.residual_clip = nu < 300 ? Ramp(nu, 30, 300, 0.3, 0.4) : Ramp(nu, 300, 2000, 0.4, 0.5);
    s.residual_kappa = Ramp(nu, 50, 1500, 50, 200);
    s.uniform_cuts = Ramp(nu, 400, 1000, 0.3, 0.8);
    s.interaction_clip = 0.5;
}

void SetSquared(double nu, AutoSchedule& s) {
    s.second_histogram = 0.05;
    s.initial_score = 0.03;
    s.residual_share = 0.35;
    s.linear_steps = 20;
    s.linear_time = Ramp(nu, 12, 200, 8, 50);
    s.linear_momentum = 0.8;
    s.linear_clip = 0.15;
    s.linear_kappa = Ramp(nu, 12, 250, 100, 300);
    s.score_clip = 2.5;
    s.level_weight = 0.5;
    s.intercept = 1;
    s.norm_per_feature = 0.8;
    s.residual_epochs = 10;
    s.residual_leaves = 4;
    s.residual_time = 1;
    s.residual_clip = 0.2;
    s.residual_kappa = 30;
    s.uniform_cuts = Ramp(nu, 800, 2000, 0.3, 0.8);
    s.interaction_clip = 0.2;
}

// Clips are in spreads of counts (Objective::spread), the model in logarithms.
void SetPoisson(double nu, AutoSchedule& s) {
    SetSquared(nu, s);
    s.linear_clip = 1;
    s.residual_clip = 1;
    s.interaction_clip = 1;
    s.linear_kappa = 100;
    s.residual_share = Ramp(nu, 50, 1500, 0.35, 0.7);
    s.residual_epochs = static_cast<uint32_t>(std::lround(Ramp(nu, 50, 1000, 10, 20)));
    s.residual_leaves = static_cast<uint32_t>(std::lround(Ramp(nu, 50, 1500, 4, 8)));
    s.residual_time = Ramp(nu, 50, 1500, 1, 4);
    s.residual_kappa = 150;
}

}  // namespace

uint32_t HistogramCells(ObjectiveKind objective) {
    return objective == ObjectiveKind::kLogistic ? 12 : 8;
}

AutoSchedule MakeAutoSchedule(ObjectiveKind objective, double noisy_rows, double mu, uint32_t features) {
    AutoSchedule schedule;
    const double nu = std::max(0.5, noisy_rows * mu / std::sqrt(static_cast<double>(features)));
    schedule.nu = nu;
    if (objective == ObjectiveKind::kLogistic)
        SetLogistic(nu, schedule);
    else if (objective == ObjectiveKind::kPoisson)
        SetPoisson(nu, schedule);
    else
        SetSquared(nu, schedule);
    schedule.calibration = nu < 8 ? 0 : 0.015;
    schedule.interaction_query = nu > 50 && features >= 2 ? 0.02 : 0;
    schedule.interaction_trees = 30;
    schedule.interaction_time = 8;
    schedule.interaction_kappa = 50;
    return schedule;
}

}  // namespace dpboost
