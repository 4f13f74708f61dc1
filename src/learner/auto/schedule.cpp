#include "learner/auto/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "dataset/grid.h"
#include "learner/ramp.h"

namespace dpboost {
namespace {

constexpr NumberCurve Always(double value) {
    return {{{1, value}}};
}
// Nothing below this nu.
constexpr NumberCurve From(double nu, double value) {
    return {{{nu * (1 - 1e-9), 0}, {nu, value}}};
}
constexpr NumberRow Same(const char* name, double AutoSchedule::*field, NumberCurve curve,
                         const char* tried) {
    return {name, field, curve, curve, curve, tried};
}

using S = AutoSchedule;

// n mu from which on: classes are counted by score (below that it hurts), a narrower target is looked for (below that
// noise looks narrow).
constexpr double kLeastCalibration = 800;
constexpr double kLeastTargetSearch = 1000;
// nu from which on one can see which of many features have something to say to the residual stage.
constexpr double kLeastFeatureLook = 50;
// The query for products needs less from this nu on, where there are so few features; more get more, up to this.
constexpr double kQueryNeedsLess = 1200;
constexpr double kFewFeatures = 15;
constexpr double kMostForMany = 0.08;
// Many columns say much of the same: twice as many steps of half the length, from this nu on, for so many of them.
constexpr double kLittleNu = 20, kEnoughNu = 60;
constexpr double kFewColumns = 25, kManyColumns = 50;
// Gradients of a quantile are of two sizes: a larger clip tells them apart, and a quantile of 0.1 falls to 0.08.
constexpr double kMostQuantileClip = 0.15;

}  // namespace

// Name, field, classes, numbers, counts, the range that was tried. Clips of counts are in spreads (Objective::spread).
constexpr NumberRow kAutoNumbers[] = {
    Same("histogram_fraction", &S::histogram_fraction, Always(0.05), "0.03 .. 0.15"),
    {"histogram_cells", &S::histogram_cells, Always(12), Always(8), Always(8), "8 .. 32"},
    {"second_histogram",
     &S::second_histogram,
     {{{4, 0.25}, {150, 0}}},
     Always(0.05),
     Always(0.05),
     "0 .. 0.3"},
    {"second_cells", &S::second_cells, {{{6 * (1 - 1e-9), 5}, {6, 0}}}, Always(0), Always(0), "4 .. 8"},
    Same("least_second", &S::least_second, Always(0.01), "0 .. 0.02"),
    Same("like_features", &S::like_features, Always(4), "3 .. 8"),
    Same("many_like_features", &S::many_like_features, Always(8), "6 .. 16"),
    Same("clearly_different", &S::clearly_different, Always(2), "1 .. 3"),
    Same("fine_histogram", &S::fine_histogram, From(20, 0.03), "0.01 .. 0.1, from nu 5 .. 500"),
    Same("fine_cells", &S::fine_cells, {{{350 * (1 - 1e-9), 24}, {350, kMaxBins}}},
         "24 .. all, from nu 100 .. 500"),
    Same("fine_evidence", &S::fine_evidence, {{{350 * (1 - 1e-9), 6}, {350, 12}}}, "4 .. 24"),
    Same("row_count", &S::row_count, Always(0.02), "0.01 .. 0.05"),
    Same("old_trust", &S::old_trust, Always(0.02), "0 .. 0.04"),

    {"initial_score",
     &S::initial_score,
     {{{8 * (1 - 1e-9), 0}, {8, 0.03}, {200, 0.01}, {2000, 0.005}}},
     {{{30, 0.03}, {200, 0.015}}},
     Always(0.03),
     "0.005 .. 0.05"},
    Same("mean_variance", &S::mean_variance, Always(0.1), "0.05 .. 0.3"),
    Same("calibration", &S::calibration, From(8, 0.015), "0.005 .. 0.03"),
    Same("calibration_draws", &S::calibration_draws, Always(3), "1 .. 5"),
    {"error_variance", &S::error_variance, Always(0.0025), Always(0.0005), Always(0.0025), "0.0002 .. 0.01"},

    {"probabilities",
     &S::probabilities,
     {{{1200, 0.02}, {3500, 0.01}}},
     Always(0),
     Always(0),
     "0.01 .. 0.04"},
    Same("counted_sigmas", &S::counted_sigmas, Always(3), "1 .. 5"),
    Same("probability_ridge", &S::probability_ridge, Always(0.5), "0.5 .. 5"),

    {"target_histogram", &S::target_histogram, Always(0), Always(0.03), Always(0), "0.01 .. 0.05"},
    Same("false_targets", &S::false_targets, Always(1e-4), "1e-6 .. 1e-2"),
    Same("target_reach", &S::target_reach, Always(1.5), "0 .. 4"),
    Same("held_sigmas", &S::held_sigmas, Always(2.5), "2 .. 5"),
    Same("target_tail", &S::target_tail, Always(0.002), "0 .. 0.02"),
    Same("target_pad", &S::target_pad, Always(0.25), "0 .. 0.5"),
    Same("target_narrow", &S::target_narrow, Always(0.2), "0.05 .. 0.4"),

    Same("overshoot_rate_cut", &S::overshoot_rate_cut, Always(1.0 / 8), "1/16 .. 1/2"),
    Same("overshoot_sigmas", &S::overshoot_sigmas, Always(3), "2 .. 4"),
    Same("overshoot_reversal", &S::overshoot_reversal, Always(0.9), "0.5 .. 1"),
    Same("stable_sigmas", &S::stable_sigmas, Always(3), "2 .. 4"),
    Same("stable_part", &S::stable_part, Always(0.4), "0.2 (too strict) .. 0.8"),

    Same("sampling", &S::sampling, Always(1), "0 .. 4"),

    {"linear_steps", &S::linear_steps, Always(10), Always(20), Always(20), "6 .. 40"},
    {"linear_time",
     &S::linear_time,
     {{{3, 3}, {20, 7}, {50, 7}, {150, 10}}},
     {{{12, 8}, {200, 50}}},
     {{{12, 8}, {200, 50}}},
     "1 .. 100"},
    {"weak_spread",
     &S::weak_spread,
     {{{300 * (1 - 1e-9), 0}, {300, 0.9}, {1500, 0.9}, {4000, 0}}},
     Always(0),
     Always(0),
     "0, 0.9"},
    Same("weak_power", &S::weak_power, Always(4), "2 .. 4"),
    Same("weak_least", &S::weak_least, Always(0.4), "0.3 .. 0.5"),
    {"linear_momentum", &S::linear_momentum, Always(0.5), Always(0.8), Always(0.8), "0 .. 0.9"},
    {"linear_clip",
     &S::linear_clip,
     {{{200, 0.2}, {1500, 0.3}, {4000, 0.35}}},
     {{{1200, 0.15}, {4000, 0.21}}},
     Always(1),
     "0.1 .. 0.5"},
    {"linear_cut", &S::linear_cut, Always(0), Always(1), Always(0), "0, 1"},
    {"linear_kappa", &S::linear_kappa, Always(100), {{{12, 100}, {250, 300}}}, Always(100), "20 .. 400"},
    {"score_clip", &S::score_clip, Always(2), Always(2.5), Always(2.5), "1.5 .. 3"},
    {"wave_weight", &S::wave_weight, From(30, 0.5), Always(0), Always(0), "0 .. 1"},
    {"level_weight", &S::level_weight, Always(1), Always(0.5), Always(0.5), "0.3 .. 1"},
    {"level_reference", &S::level_reference, Always(1), Always(0), Always(0), "0, 1"},
    {"intercept", &S::intercept, Always(0.5), Always(1), Always(1), "0.3 .. 1"},
    {"norm_per_feature",
     &S::norm_per_feature,
     {{{5, 0.35}, {100, 0.5}}},
     Always(0.8),
     Always(0.8),
     "0.3 .. 1"},
    Same("least_variance", &S::least_variance, Always(0.05), "0.01 .. 0.1"),

    Same("sparse_look", &S::sparse_look, Always(0.3), "0.2 .. 0.5"),
    Same("sparse_features", &S::sparse_features, Always(20), "10 .. 50"),
    Same("sparse_quiet", &S::sparse_quiet, Always(0.8), "0.6 (costs spambase) .. 0.84"),
    Same("sparse_best", &S::sparse_best, Always(6), "3 (costs spambase) .. 12"),
    Same("sparse_least", &S::sparse_least, Always(0.5), "0.5 .. 2"),
    Same("sparse_kappa", &S::sparse_kappa, Always(100), "20 .. 200"),
    Same("quiet_voice", &S::quiet_voice, Always(0.05), "0 .. 0.5"),
    {"least_evidence", &S::least_evidence, Always(3), Always(-1e9), Always(-1e9), "1 .. 3"},

    {"usual_strength", &S::usual_strength, Always(1.5), Always(0), Always(0), "1.2 .. 1.7"},
    Same("strength_power", &S::strength_power, Always(1.5), "1 .. 2.5"),
    Same("least_strength", &S::least_strength, Always(0.4), "0.4 .. 1"),
    Same("most_strength", &S::most_strength, {{{250, 1}, {600, 1.4}}}, "1 .. 1.8"),

    {"residual_share",
     &S::residual_share,
     {{{12 * (1 - 1e-9), 0}, {12, 0.045}, {50, 0.4}, {150, 0.7}, {1500, 0.88}}},
     {{{150, 0.35}, {2000, 0.7}}},
     {{{50, 0.35}, {1500, 0.7}}},
     "0 .. 0.9"},
    {"residual_epochs",
     &S::residual_epochs,
     {{{50, 10}, {1000, 20}}},
     {{{150, 10}, {600, 20}}},
     {{{50, 10}, {1000, 20}}},
     "5 .. 40"},
    {"residual_leaves",
     &S::residual_leaves,
     {{{50, 5}, {1000, 8}, {2000, 14}}},
     {{{50, 4}, {250, 5}, {600, 8}, {4000, 15}}},
     {{{50, 4}, {1500, 8}}},
     "3 .. 32"},
    {"residual_time",
     &S::residual_time,
     {{{50, 1.5}, {250, 5}, {1500, 11}}},
     {{{30, 1}, {230, 1.45}, {600, 3.3}, {1200, 3}, {4000, 2}}},
     {{{50, 1}, {1500, 4}}},
     "0.5 .. 16"},
    {"most_step", &S::most_step, Always(16), Always(2), Always(2), "2 .. 16"},
    {"residual_clip",
     &S::residual_clip,
     {{{30, 0.3}, {300, 0.4}, {2000, 0.5}}},
     {{{300, 0.2}, {3000, 0.25}}},
     Always(1),
     "0.15 .. 0.75"},
    {"residual_kappa",
     &S::residual_kappa,
     {{{50, 50}, {1500, 200}}},
     {{{150, 30}, {500, 60}}},
     Always(150),
     "20 .. 400"},
    {"uniform_cuts",
     &S::uniform_cuts,
     {{{400, 0.3}, {1000, 0.8}}},
     {{{800, 0.3}, {2000, 0.8}}},
     {{{800, 0.3}, {2000, 0.8}}},
     "0 .. 1"},
    Same("block_features", &S::block_features, Always(4), "1 .. all"),
    {"feature_prior",
     &S::feature_prior,
     {{{300 * (1 - 1e-9), 0}, {300, 0.4}, {1000, 4}}},
     From(300, 4),
     Always(0),
     "0 .. 15"},

    {"feature_doubt",
     &S::feature_doubt,
     {{{360, 0}, {500, 0.7}, {700, 1}}},
     {{{300 * (1 - 1e-9), 1}, {300, 0.2}, {400, 0.2}, {1000, 1}}},
     Always(1),
     "0 .. 1"},
    {"many_prior", &S::many_prior, Always(0), Always(1), Always(0), "0.5 .. 4"},
    Same("early_share", &S::early_share, {{{500, 0.5}, {3500, 0.25}}}, "0.2 .. 0.5"),
    {"product_query",
     &S::product_query,
     {{{300 * (1 - 1e-9), 0}, {300, 0.06}, {400, 0.08}, {1200, 0.08}, {3500, 0.025}}},
     {{{150 * (1 - 1e-9), 0}, {150, 0.08}, {900, 0.08}, {1500, 0.12}, {3500, 0.04}}},
     {{{150 * (1 - 1e-9), 0}, {150, 0.08}, {1200, 0.08}, {3500, 0.025}}},
     "0.02 .. 0.16"},
    Same("most_products", &S::most_products, Always(2000), "500 .. 4000"),
    Same("bow_weight", &S::bow_weight, Always(0.7), "0.5 .. 1"),
    Same("product_norm", &S::product_norm, Always(1.2), "0.6 .. 3"),
    Same("false_finds", &S::false_finds, Always(0.02), "0.001 .. 1"),
    Same("triple_sigmas", &S::triple_sigmas, Always(14), "6 (finds what is not there) .. 20"),
    Same("found_relative", &S::found_relative, Always(0.02), "0.01 .. 0.1"),
    Same("found_least", &S::found_least, Always(0.0005), "0.0001 .. 0.002"),
    Same("most_triples", &S::most_triples, Always(300), "0 .. 1000"),
    Same("wave_clip", &S::wave_clip, Always(2.5), "2 .. 4"),
    Same("least_line", &S::least_line, Always(0.03), "0.01 .. 0.1"),
    Same("least_bow", &S::least_bow, Always(0.05), "0.02 .. 0.1"),
    Same("found_most", &S::found_most, Always(12), "6 .. 24"),
    Same("product_share", &S::product_share, Always(0.7), "0.4 .. 0.9"),
    Same("clear_sigmas", &S::clear_sigmas, Always(40), "20 .. 80"),
    Same("much_explained", &S::much_explained, Always(0.05), "0.02 .. 0.1"),
    {"query_clip", &S::query_clip, Always(0.3), Always(0.2), Always(1), "0.1 .. 0.5"},
    Same("triple_weight", &S::triple_weight, Always(0.25), "0.1 .. 1"),
    Same("smooth_rate", &S::smooth_rate, Always(0.4), "0.2 .. 0.8"),
    Same("smooth_steps", &S::smooth_steps, Always(5), "0 .. 10"),
    Same("smooth_share", &S::smooth_share, {{{1200, 0.25}, {3500, 0.12}}}, "0.1 .. 0.5"),
    Same("count_share", &S::count_share, Always(0.08), "0.04 .. 0.15"),
    Same("product_trees", &S::product_trees, Always(120), "60 .. 240"),
    Same("trees_per_draw", &S::trees_per_draw, Always(1), "1 .. 30"),
    {"pair_intervals", &S::pair_intervals, Always(4), {{{800, 4}, {3500, 7}}}, Always(4), "3 .. 8"},
    Same("chain_intervals", &S::chain_intervals, Always(3), "2 .. 4"),
    Same("triple_intervals", &S::triple_intervals, Always(4), "2 .. 4"),
    Same("most_chains", &S::most_chains, Always(12), "6 .. 24"),
    Same("most_groups", &S::most_groups, Always(20), "10 .. 40"),
    Same("least_pair_cell", &S::least_pair_cell, Always(0.05), "0.02 .. 0.2"),
    Same("chain_weight", &S::chain_weight, {{{1000, 0}, {5000, 0.5}}}, "0 .. 0.7"),
    Same("product_kappa", &S::product_kappa, Always(50), "20 .. 100"),
    Same("product_prior", &S::product_prior, {{{1200, 0.2}, {3500, 0.12}}}, "0 .. 1"),
    Same("product_time", &S::product_time, Always(4), "2 .. 8"),
    Same("product_push", &S::product_push, {{{2200, 0}, {3500, 1}}}, "0 .. 1"),
    Same("product_rate", &S::product_rate, Always(0.6), "0.3 .. 1"),
    {"product_step", &S::product_step, Always(4), Always(2), Always(2), "1 .. 6"},
    Same("least_cell", &S::least_cell, Always(0.125), "0.05 .. 0.5"),
};
const std::size_t kAutoNumberCount = sizeof(kAutoNumbers) / sizeof(kAutoNumbers[0]);

double NumberCurve::At(double nu) const {
    constexpr std::size_t kPoints = sizeof(points) / sizeof(points[0]);
    std::size_t k = 0;
    while (k + 1 < kPoints && points[k + 1].nu > 0 && nu >= points[k + 1].nu)
        k++;
    if (nu <= points[k].nu || k + 1 == kPoints || points[k + 1].nu == 0)
        return points[k].value;
    return Ramp(nu, points[k].nu, points[k + 1].nu, points[k].value, points[k + 1].value);
}

namespace {

// More than two classes share the rows, and what is left of a class is too little for one-feature trees up to a nu that grows
// with their number; all is then for the linear stage, which may go further: the loss is less curved than its bound. Chosen
// on digits (10 classes, nu 23 .. 79; strengths 1 .. 4, shares of the trees 0 .. 1); it leaves Adult (7, 15) and Abalone (3)
// almost as they are.
constexpr double kFewRowsPerClass = 12.5;
constexpr double kMostStrength = 2;
constexpr double kStrengthPower = 0.43;

void FitToClasses(double classes, AutoSchedule& schedule) {
    const double little = kFewRowsPerClass * (classes - 2);
    const double few = Ramp(schedule.nu, little, 2 * little, 1, 0);
    const double strength =
        portable::Pow(std::min(kMostStrength, portable::Pow(classes / 2, kStrengthPower)), few);
    schedule.linear_time *= strength;
    schedule.linear_kappa *= strength;
    schedule.norm_per_feature *= strength;
    schedule.residual_share *= 1 - few;
}

}  // namespace

// Adult, 3 parties of which one may collude, 4 splits each, beside draws one by one with the same noise: AUC .9120 at epsilon 1
// (.9107), in 37 draws instead of 224. More than 16 features at once overshoot where columns say the same. Steps get longer as
// draws get fewer, so `most_step` and `product_step` must hold here: without them Adult has .8889 at epsilon 1, and California
// Housing an RMSE of 110 at 4 (58.7; 56.6 one by one). The sum of the steps of a draw is at most 2 for squared errors, whose curvature is
// known: then nothing that is wrong gets larger, even if all columns are the same. Probabilities are less curved than their bound and
// stand more (16 and 4, chosen on other splits of Adult and on MAGIC, with columns twice to six times over).
void FitToFewDraws(AutoSchedule& schedule) {
    schedule.block_features = 16;
    schedule.residual_epochs *= 0.5;
    schedule.smooth_steps = 2;
    schedule.trees_per_draw = 20;
}

void FitToManyColumns(uint32_t features, AutoSchedule& schedule) {
    schedule.linear_steps *=
        1 + Ramp(features, kFewColumns, kManyColumns, 0, 1) * Ramp(schedule.nu, kLittleNu, kEnoughNu, 0, 1);
}

AutoSchedule MakeAutoSchedule(ObjectiveKind objective, double noisy_rows, double mu, uint32_t features,
                              const std::vector<NumberChange>& changes, std::size_t classes) {
    AutoSchedule schedule;
    schedule.nu = std::max(0.5, noisy_rows * mu / std::sqrt(static_cast<double>(features)));
    for (const NumberRow& row : kAutoNumbers) {
        const bool of_classes = objective == ObjectiveKind::kLogistic || objective == ObjectiveKind::kSoftmax;
        const NumberCurve& curve = of_classes                             ? row.logistic
                                   : objective == ObjectiveKind::kPoisson ? row.poisson
                                                                          : row.squared;
        schedule.*row.field = curve.At(schedule.nu);
    }
    if (classes > 2)
        FitToClasses(static_cast<double>(classes), schedule);
    for (const NumberChange& change : changes) {
        const auto row = std::find_if(std::begin(kAutoNumbers), std::end(kAutoNumbers),
                                      [&](const NumberRow& one) { return change.name == one.name; });
        CheckInternal(row != std::end(kAutoNumbers), "auto has no such number");
        schedule.*(row->field) *= change.factor;
    }
    if (features >= schedule.sparse_features && schedule.nu >= kLeastFeatureLook)
        schedule.feature_prior = std::max(schedule.feature_prior, schedule.many_prior);
    if (objective == ObjectiveKind::kQuantile)
        schedule.linear_clip = std::min(schedule.linear_clip, kMostQuantileClip);
    // The variance of the query's noise is as the number of pairs: where it could do with less, that is for few of them.
    if (schedule.nu > kQueryNeedsLess) {
        const double query = schedule.product_query, relative = features / kFewFeatures;
        schedule.product_query =
            std::clamp(query * relative * relative, query, std::max(query, kMostForMany));
    }
    if (features < 2)
        schedule.product_query = 0;
    const double signal = noisy_rows * mu;
    if (signal < kLeastCalibration || objective == ObjectiveKind::kSoftmax)
        schedule.probabilities = 0;
    if (signal < kLeastTargetSearch)
        schedule.target_histogram = 0;
    return schedule;
}

}  // namespace dpboost
