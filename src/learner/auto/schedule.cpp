#include "learner/auto/schedule.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// From `start` to `end` while nu goes from `low` to `high`, linear in log(nu), constant outside.
double Ramp(double nu, double start, double end, double low, double high) {
    const double t = std::log(nu / low) / std::log(high / low);
    return start + (end - start) * std::clamp(t, 0.0, 1.0);
}

void SetBinary(double nu, AutoSchedule& s) {
    s.second_histogram = Ramp(nu, 0.25, 0, 4, 150);
    s.second_cells = nu < 6 ? 5 : 0;
    s.initial_score = nu < 8 ? 0 : 0.03;
    s.residual_share = nu < 12 ? 0 : nu < 50 ? Ramp(nu, 0, 0.4, 10, 50) : Ramp(nu, 0.4, 0.88, 50, 1500);
    s.linear_steps = 10;
    s.linear_time = nu < 50 ? Ramp(nu, 3, 7, 3, 20) : Ramp(nu, 7, 10, 50, 150);
    s.linear_momentum = 0.5;
    s.linear_clip = Ramp(nu, 0.2, 0.3, 200, 1500);
    s.linear_kappa = 100;
    s.score_clip = 2;
    s.wave_weight = nu > 30 ? 0.5 : 0;
    s.level_weight = 1;
    s.intercept = 0.5;
    s.norm_per_feature = Ramp(nu, 0.35, 0.5, 5, 100);
    s.residual_epochs = static_cast<uint32_t>(std::lround(Ramp(nu, 10, 20, 50, 1000)));
    s.residual_leaves = static_cast<uint32_t>(
        std::lround(nu < 1000 ? Ramp(nu, 5, 8, 50, 1000) : Ramp(nu, 8, 14, 1000, 2000)));
    s.residual_time = Ramp(nu, 1.5, 11, 50, 1500);
    s.residual_clip = nu < 300 ? Ramp(nu, 0.3, 0.4, 30, 300) : Ramp(nu, 0.4, 0.5, 300, 2000);
    s.residual_kappa = Ramp(nu, 50, 200, 50, 1500);
    s.uniform_cuts = Ramp(nu, 0.3, 0.8, 400, 1000);
    s.interaction_clip = 0.5;
}

void SetRegression(double nu, AutoSchedule& s) {
    s.second_histogram = 0.05;
    s.initial_score = 0.03;
    s.residual_share = 0.35;
    s.linear_steps = 20;
    s.linear_time = Ramp(nu, 8, 50, 12, 200);
    s.linear_momentum = 0.8;
    s.linear_clip = 0.15;
    s.linear_kappa = Ramp(nu, 100, 300, 12, 250);
    s.score_clip = 2.5;
    s.level_weight = 0.5;
    s.intercept = 1;
    s.norm_per_feature = 0.8;
    s.residual_epochs = 10;
    s.residual_leaves = 4;
    s.residual_time = 1;
    s.residual_clip = 0.2;
    s.residual_kappa = 30;
    s.uniform_cuts = Ramp(nu, 0.3, 0.8, 800, 2000);
    s.interaction_clip = 0.2;
}

}  // namespace

uint32_t HistogramCells(Task task) {
    return task == Task::kBinary ? 12 : 8;
}

AutoSchedule MakeAutoSchedule(Task task, double noisy_rows, double mu, uint32_t features) {
    AutoSchedule schedule;
    const double nu = std::max(0.5, noisy_rows * mu / std::sqrt(static_cast<double>(features)));
    schedule.nu = nu;
    if (task == Task::kBinary)
        SetBinary(nu, schedule);
    else
        SetRegression(nu, schedule);
    schedule.calibration = nu < 8 ? 0 : 0.015;
    schedule.interaction_query = nu > 50 && features >= 2 ? 0.02 : 0;
    schedule.interaction_trees = 30;
    schedule.interaction_time = 8;
    schedule.interaction_kappa = 50;
    schedule.count_share = 0.2;
    return schedule;
}

}  // namespace dpboost
