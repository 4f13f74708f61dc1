// All numbers of method `auto`: how the pool is shared out and how far each stage goes, as functions of the
// objective and of nu = n mu / sqrt(m) (noisy n), the signal to noise ratio of the training. They were chosen on
// synthetic data and on one half of each of the public datasets (rows whose hashed number is odd).
#pragma once

#include <cstddef>
#include <cstdint>

#include "learner/objective/objective.h"

namespace dpboost {

// What does not move with nu.
namespace auto_numbers {

// Histograms.
constexpr double kHistogramFraction = 0.05;     // of the pool, for the first release: nu is not known yet
constexpr double kLeastSecondHistogram = 0.01;  // a second release that would get less is left out
constexpr std::size_t kLikeFeatures = 4;        // so many features on one grid are shrunk towards their mean,
constexpr std::size_t kManyLikeFeatures = 8;    // and so many share one estimate of how far they scatter
constexpr double kClearlyDifferent = 2;  // standard deviations by which a feature must differ to keep more

// The model.
constexpr double kScoreRoom =
    1000;  // for all tables together: scores of up to 2048 fit, trees and base need some
constexpr double kMaxEntry = 30;  // largest magnitude of a table's entry and of the base

// Base score.
constexpr double kEdge = 0.0005;           // probabilities are taken to be at least so far from 0 and 1
constexpr double kMeanVariance = 0.1;      // prior variance of the mean label
constexpr double kErrorVariance = 0.0025;  // prior variance of the mean error that calibration finds
constexpr uint32_t kCalibrationDraws = 3;

// Steps that went too far (OvershootGuard).
constexpr double kOvershootRateCut = 1.0 / 8;  // what is left of the rate
constexpr double kOvershootSigmas = 3;      // a reversal of the slope counts if it is so far above its noise
constexpr double kOvershootReversal = 0.9;  // and if it takes back this part of what the step promised

// Linear stage.
constexpr double kEdgeRank = 1e-3;  // ranks are kept so far from 0 and 1: their normal scores are finite
constexpr double kStableSigmas =
    3;  // a drop of the gradient tells about curvature if it is so far above noise
constexpr double kStablePart = 0.4;      // of the largest stable rate is taken (0.2 is too strict)
constexpr double kLeastVariance = 0.05;  // of a feature's normal scores; one value everywhere has none

// Interactions.
constexpr uint32_t kDigits = 4;          // intervals, or groups of levels, per feature: two levels of a tree
constexpr uint32_t kMaxGroups = 16;      // of features that are asked about,
constexpr uint32_t kFewFeatures = 5;     // or all groups of so many features: at most 10
constexpr double kEdgeCut = 0.02;        // cuts are at noisy ranks so far from 0 and 1
constexpr double kQueryGradients = 0.7;  // of the query's draw for gradients,
constexpr double kQueryCounts = 0.3;     // and for counts
constexpr double kLeastCount = 2;        // sigmas of noise that a leaf's count is taken for at least
constexpr double kSamplingVariance = 0.6;  // of a clipped gradient, in squared clips
constexpr int kBackfittingSweeps = 10;
constexpr double kCountShare = 0.2;  // of a tree's draw for the counts of its leaves
constexpr double kFoundSigmas = 3;   // products count as found if they explain so many sigmas,
constexpr double kFoundRatio = 0.5;  // and more than this part of what single features and products explain;
constexpr double kMaxShare = 0.9;  // trees then get that part of the residual stage's fraction, at most this

// The lattice (LatticeShift): no stage gets less than kLeastStage of the pool, or splits it into more than kMostDraws
// draws (or as many as the caller asks epochs for); of a draw at least kCountShare is for one kind of sum.
constexpr double kLeastStage = 0.02;
constexpr uint32_t kMostDraws = 50;

}  // namespace auto_numbers

// Coarse cells of a numeric feature in the first histograms.
uint32_t HistogramCells(ObjectiveKind objective);

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
    double score_clip = 0;         // of a numeric feature's normal score
    double wave_weight = 0;        // of the cosine of its rank
    double level_weight = 0;       // of a category's indicator
    bool level_reference = false;  // the most frequent category has none
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
};

AutoSchedule MakeAutoSchedule(ObjectiveKind objective, double noisy_rows, double mu, uint32_t features);

}  // namespace dpboost
