// All numbers of method `auto`: how the pool is shared out and how far each stage goes, as functions of the
// task and of nu = n mu / sqrt(m) (noisy n), the signal to noise ratio of the training. They were chosen on
// synthetic data and on one half of each of the public datasets (rows whose hashed number is odd).
#pragma once

#include <cstdint>

#include "dataset/target.h"

namespace dpboost {

// The first histogram is released before nu is known.
constexpr double kHistogramFraction = 0.05;
uint32_t HistogramCells(Task task);

// Fractions are of the whole pool.
struct AutoSchedule {
    double nu = 0;
    double second_histogram = 0;  // spent on the histograms once more,
    uint32_t second_cells = 0;    // with so many cells instead of the first one (0: refining it)
    double initial_score = 0;
    double interaction_query = 0;
    double calibration = 0;     // of the base score, at the end
    double residual_share = 0;  // of what is left after the above; the linear stage gets the rest of it

    // Linear stage: steps, total time (a time of 1 / curvature would solve an orthogonal problem), momentum,
    // gradient clip, shrinkage kappa in units of C^2 / mu_stage^2, and the parts of the basis.
    uint32_t linear_steps = 0;
    double linear_time = 0;
    double linear_momentum = 0;
    double linear_clip = 0;
    double linear_kappa = 0;
    double score_clip = 0;    // of a numeric feature's normal score
    double wave_weight = 0;   // of the cosine of its rank
    double level_weight = 0;  // of a category's indicator
    double intercept = 0;
    double norm_per_feature = 0;  // C^2 = norm_per_feature * m + intercept^2

    // Residual stage: epochs, leaves per numeric feature, ...
    uint32_t residual_epochs = 0;
    uint32_t residual_leaves = 0;
    double residual_time = 0;
    double residual_clip = 0;
    double residual_kappa = 0;  // in units of m / mu_stage^2
    double uniform_cuts = 0;    // how many thresholds are uniform over the bins, not at noisy quantiles

    // Interaction trees.
    uint32_t interaction_trees = 0;
    double interaction_time = 0;
    double interaction_clip = 0;
    double interaction_kappa = 0;  // in units of 1 / mu_stage^2
    double count_share = 0;        // of a tree's draw for the counts of its leaves
};

AutoSchedule MakeAutoSchedule(Task task, double noisy_rows, double mu, uint32_t features);

}  // namespace dpboost
