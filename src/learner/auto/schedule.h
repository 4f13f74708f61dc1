// All numbers of method `auto`: how the pool is shared out and how far each stage goes, as functions of the objective and
// of nu = n mu / sqrt(m) (noisy n), the signal to noise ratio of the training. A field's meaning stands here, its values
// and the range that was tried in schedule.cpp; `make sensitivity-of-auto` shows what halving and doubling each of them
// does. The first of them were chosen on synthetic data and on one half of each of three public datasets (rows whose hashed
// number is odd), those of products, calibration, sparse columns and target ranges on all rows of six (doc/accuracy.md);
// none of them knows a dataset.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "learner/objective/objective.h"

namespace dpboost {

// What keeps figures within their types, and what a proof or a format rests on.
namespace auto_numbers {

constexpr double kScoreRoom =
    1000;  // for all tables together: scores of up to 2048 fit, base and products need some
constexpr double kMaxEntry = 30;    // largest magnitude of a table's entry and of the base
constexpr double kEdge = 0.0005;    // probabilities are taken to be at least so far from 0 and 1
constexpr double kEdgeRank = 1e-3;  // ranks are kept so far from 0 and 1: their normal scores are finite

// The lattice (LatticeShift): no stage gets less than kLeastStage of the pool, or splits it into more than kMostDraws
// draws (or as many as the caller asks epochs for); of a draw at least kCountShare is for one kind of sum.
constexpr double kLeastStage = 0.02;
constexpr uint32_t kMostDraws = 50;
constexpr double kCountShare = 0.2;

// Products of features. A feature's ranks are in 2^5 groups: a product of two is a tree of depth 10; one of three, whose
// groups are told apart by 8s, of depth 9.
constexpr uint32_t kRankGroups = 32;
constexpr uint32_t kTripleStep = kRankGroups / 8;
constexpr uint32_t kCountDigits =
    8;  // of a feature, for the counts of a pair's cells, which a chain's follow from
constexpr uint32_t kSmoothDigits = 8;           // and for the smooth functions
constexpr double kMaxProductEntry = 3;          // scores have room for 2048, kScoreRoom of it is for tables:
constexpr uint32_t kMaxProductAdds = 300;       // products take 900 at the most
constexpr std::size_t kMostProductSums = 8000;  // of several outputs, that are held in memory at once

}  // namespace auto_numbers

// Fractions are of the whole pool, shares of what a stage has.
struct AutoSchedule {
    double nu = 0;

    // Histograms.
    double histogram_fraction = 0;  // for the first release, when nu is not known yet
    double histogram_cells = 0;     // of a numeric feature in it
    double second_histogram = 0;    // spent on them once more,
    double second_cells = 0;        // with so many cells instead (0: refining the first ones)
    double least_second = 0;        // a second release that would get less is left out
    double like_features = 0;       // so many features on one grid are shrunk towards their mean,
    double many_like_features = 0;  // and so many share one estimate of how far they scatter
    double clearly_different = 0;   // standard deviations by which a feature must differ to keep more
    double fine_histogram = 0;      // fraction for finer cells, which a cell's count is spread over,
    double fine_cells = 0;          // so many, or every bin,
    double fine_evidence = 0;  // where halves differ from an even spread by the root of so many variances

    double row_count = 0;  // of an update: fraction for the number of rows alone,
    double old_trust = 0;  // and for how far its model still holds

    // Base score.
    double initial_score = 0;  // fraction for the mean label
    double mean_variance = 0;  // prior variance of it
    double calibration = 0;    // fraction for the base at the end
    double calibration_draws = 0;
    double error_variance = 0;  // prior variance of the mean error that calibration finds

    double probabilities = 0;      // instead, where n mu is large: fraction for classes by score
    double counted_sigmas = 0;     // an interval of scores counts if it holds so many sigmas of noise
    double probability_ridge = 0;  // towards no change, in sigmas of noise

    // A target far narrower than its range (squared loss, where n mu is large).
    double target_histogram = 0;  // fraction
    double false_targets = 0;     // in this part of trainings at the most, noise far out counts as rows;
    double target_reach = 0;      // as far as so many widths of what is held surely,
    double target_tail = 0;       // what exceeds this part of the rows
    double held_sigmas = 0;       // by so many sigmas is held, too,
    double target_pad = 0;        // this part of the width is added on either side,
    double target_narrow = 0;     // and what is left must be narrower than this part of the range

    // Steps that went too far (OvershootGuard, StableRate).
    double overshoot_rate_cut = 0;  // what is left of the rate
    double overshoot_sigmas = 0;    // a reversal of the slope counts if it is so far above its noise
    double overshoot_reversal = 0;  // and if it takes back this part of what the step promised
    double stable_sigmas = 0;  // a drop of the gradient tells about curvature if it is so far above noise
    double stable_part = 0;    // of the largest stable rate is taken

    // That rows are a sample: what a clipped gradient varies by is this times AdditiveStage::sampling times its clip squared.
    double sampling = 0;

    // Linear stage: steps, total time (a time of 1 / curvature would solve an orthogonal problem), momentum,
    // gradient clip, shrinkage kappa in units of C^2 / mu_stage^2, and the parts of the basis.
    double linear_steps = 0;
    double linear_time = 0;
    double weak_spread = 0;  // scores closer together than this at the first look slow down what is left of
    double weak_power = 0;   // it, by their ratio to this power, but not to less than
    double weak_least = 0;   // this part: where p (1 - p) is at its bound, less time is enough
    double linear_momentum = 0;
    double linear_clip = 0;
    double linear_cut = 0;  // 1: |g| |phi| is clipped, with twice the clip for g
    double linear_kappa = 0;
    double score_clip = 0;       // of a numeric feature's normal score
    double wave_weight = 0;      // of the cosine of its rank
    double level_weight = 0;     // of a category's indicator
    double level_reference = 0;  // 1: the most frequent category has none
    double intercept = 0;
    double norm_per_feature = 0;  // C^2 = norm_per_feature * m + intercept^2
    double least_variance = 0;    // of a feature's normal scores; one value everywhere has none

    // Features that look like noise after the first steps are left out,
    double sparse_look = 0;      // this part of all,
    double sparse_features = 0;  // if there are so many,
    double sparse_quiet =
        0;  // this part of them is within one standard deviation of noise (0.84 would if all were),
    double sparse_best = 0;     // and the best one is so many beyond it;
    double sparse_least = 0;    // then those within so many
    double sparse_kappa = 0;    // coordinates count as in a step, with this kappa in variances of noise
    double least_evidence = 0;  // of all features together, in standard deviations; with less, they speak
    double quiet_voice = 0;     // so much lower: the order of rows stays, but nothing is said with confidence

    // How strong the signal is: how far apart the scores are that the linear stage gives (their standard deviation), over
    // `usual_strength`, to this power, within these bounds. Where it is weak, the residual stage goes less far and
    // products have to show more: what is left to find is little beside the noise, that rows are a sample included.
    double usual_strength = 0;  // 0: all is as usual
    double strength_power = 0;
    double least_strength = 0;
    double most_strength = 0;

    // Residual stage: its share of what is left for it and the linear stage, epochs, leaves per numeric feature, ...
    double residual_share = 0;
    double residual_epochs = 0;
    double residual_leaves = 0;
    double residual_time = 0;
    double most_step =
        0;  // of the features that move together, in all: where they say the same they overshoot beyond 2
    double residual_clip = 0;
    double residual_kappa = 0;  // in units of m / mu_stage^2
    double uniform_cuts = 0;    // how many thresholds are uniform over the bins, not at noisy quantiles
    double block_features = 0;  // that move together
    double feature_prior =
        0;  // signal to noise, over all epochs, at which a feature moves at half speed; 0: all alike

    double feature_doubt =
        0;  // how much of a feature's speed follows from that, the rest being the same for all
    double many_prior =
        0;  // at least this prior where there are `sparse_features`: what all of them add up to
            // is mostly noise if each moves whatever it says

    // Products of features: the query that finds them, at half of the residual stage's epochs.
    double early_share = 0;    // of the residual stage, for the epochs before it
    double product_query = 0;  // its share of the residual stage; 0: no products
    double most_products = 0;  // that are asked about, of two features and of three each; random ones of more
    double most_triples = 0;   // where there are more, none is asked about
    double wave_clip = 0;      // of the functions of a rank in it, in standard deviations
    double least_line = 0;     // variance of a feature's ranks: one value everywhere has none
    double least_bow = 0;      // variance of what their cosine adds, else it is left out
    double bow_weight = 0;     // of the cosines in it
    double product_norm = 0;   // squared norm of a row's vector, in what it has on average
    double false_finds =
        0;  // pairs that are found where there is none, on average: a score that noise has so rarely,
    double triple_sigmas = 0;   // or of a triple so many standard deviations,
    double found_relative = 0;  // this part of the best one's,
    double found_least = 0;     // and this part of what the gradients could be at the most;
    double found_most = 0;      // and no more than so many
    double product_share = 0;   // of what is left for the residual stage, where the scores are clear,
    double clear_sigmas = 0;    // that is so many standard deviations in all
    double much_explained = 0;  // and they explain this part of what the gradients could be at the most
    double query_clip = 0;      // small, for little noise
    double triple_weight = 0;   // of all triples together in the query, to 1 for all pairs

    // Smooth steps on them, then trees of random intervals.
    double smooth_rate = 0;
    double smooth_steps = 0;
    double smooth_share = 0;  // of the products' part
    double count_share = 0;   // of the products' part, for how many rows their cells hold
    double product_trees = 0;
    double trees_per_draw =
        0;  // that are made from the same scores, on different groups if there are as many
    double pair_intervals = 0;    // of each feature of a pair in a tree
    double chain_intervals = 0;   // of each feature of two pairs that share one
    double triple_intervals = 0;  // of each feature of a triple that was found
    double most_chains = 0;       // that have trees
    double most_groups = 0;       // more of them share the trees of so many
    double least_pair_cell = 0;   // of an even spread, that a cell of a pair is taken to hold at least
    double chain_weight = 0;      // how much of the trees is on chains
    double product_kappa = 0;     // in units of groups / mu_stage^2
    double product_time = 0;
    double product_prior = 0;  // signal to noise at which a product moves at half speed
    double product_rate = 0;   // of a tree, at the most
    double product_step = 0;   // of the trees of a draw, in all
    double product_push = 0;   // power of a strength above 1 by which trees on products go further still
    double least_cell = 0;     // of an even spread, that a cell of a tree is taken to hold at least
};

// A field that counts something.
inline uint32_t Whole(double number) {
    return static_cast<uint32_t>(std::lround(number));
}

// A number as a function of nu: linear in log(nu) between points, constant outside.
struct NumberPoint {
    double nu;
    double value;
};
struct NumberCurve {
    NumberPoint points[5];  // ascending; those behind the last have nu 0
    double At(double nu) const;
};

// One number of the table.
struct NumberRow {
    const char* name;
    double AutoSchedule::*field;
    NumberCurve logistic, squared, poisson;
    const char* tried;
};
extern const NumberRow kAutoNumbers[];
extern const std::size_t kAutoNumberCount;

// For experiments: a number times a factor. No user can ask for it.
struct NumberChange {
    std::string name;
    double factor = 1;
};

// Where every draw is an exchange between servers: more in each of them, and fewer. A draw of twice as many leaves with twice
// the part of the pool has the same noise in each of them (the root of two times the sensitivity); what is lost is that
// one can look at the result before the next step.
void FitToFewDraws(AutoSchedule& schedule);

// Elsewhere: many columns say much of the same, and the linear stage takes more and shorter steps.
void FitToManyColumns(uint32_t features, AutoSchedule& schedule);

// `classes`: of the softmax loss.
AutoSchedule MakeAutoSchedule(ObjectiveKind objective, double noisy_rows, double mu, uint32_t features,
                              const std::vector<NumberChange>& changes = {}, std::size_t classes = 2);

}  // namespace dpboost
