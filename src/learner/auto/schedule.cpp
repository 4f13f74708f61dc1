#include "learner/auto/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "dataset/grid.h"
#include "learner/ramp.h"

namespace dpboost {
namespace {

template <typename... Numbers>
constexpr NumberCurve At(Numbers... numbers) {
    const double given[] = {static_cast<double>(numbers)...};
    NumberCurve curve{};
    static_assert(sizeof...(numbers) <= 2 * sizeof(curve.points) / sizeof(curve.points[0]));
    for (std::size_t k = 0; k < sizeof...(numbers) / 2; k++)
        curve.points[k] = {given[2 * k], given[2 * k + 1]};
    return curve;
}
constexpr NumberCurve Always(double value) {
    return At(1, value);
}
// Another value below the first nu.
template <typename... Numbers>
constexpr NumberCurve Step(double below, double nu, Numbers... numbers) {
    return At(nu * (1 - 1e-9), below, nu, numbers...);
}
// Nothing below it.
template <typename... Numbers>
constexpr NumberCurve From(double nu, Numbers... numbers) {
    return Step(0, nu, numbers...);
}

}  // namespace

constexpr NumberRow kAutoNumbers[] = {
#define NUMBER(name, classes, numbers, counts, tried, meaning, effect) \
    {#name, &AutoSchedule::name, classes, numbers, counts, tried, meaning, effect},
#include "learner/auto/numbers.inc"
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

// More than two classes: more for the linear stage.
void FitToClasses(double classes, AutoSchedule& schedule) {
    const double little = schedule.few_rows_per_class * (classes - 2);
    const double few = Ramp(schedule.nu, little, 2 * little, 1, 0);
    const double strength = portable::Pow(
        std::min(schedule.most_class_strength, portable::Pow(classes / 2, schedule.class_power)), few);
    schedule.linear_time *= strength;
    schedule.linear_kappa *= strength;
    schedule.norm_per_feature *= strength;
    schedule.residual_share *= 1 - few;
    // Measured for two classes only.
    schedule.many_time = schedule.many_share = schedule.many_kappa = 1;
    schedule.many_centre = 0;
}

}  // namespace

// Adult, 3 parties of which one may collude, 4 splits each, beside draws one by one with the same noise: AUC .9120 at epsilon 1
// (.9107), in 37 draws instead of 224. More than 16 features at once overshoot where columns say the same. Steps get longer as
// draws get fewer, so `most_step` and `product_step` must hold here: without them Adult has .8889 at epsilon 1, and California
// Housing an RMSE of 110 at 4 (58.7; 56.6 one by one). The sum of the steps of a draw is at most 2 for squared errors, whose curvature is
// known: then nothing that is wrong gets larger, even if all columns are the same. Probabilities are less curved than their bound and
// stand more (16 and 4, chosen on other splits of Adult and on MAGIC, with columns twice to six times over).
void FitToFewDraws(AutoSchedule& schedule) {
    schedule.block_features = schedule.servers_block;
    schedule.residual_epochs *= schedule.servers_epochs;
    schedule.smooth_steps = schedule.servers_smooth;
    schedule.trees_per_draw = schedule.servers_trees;
    schedule.lead_most = 0;
    schedule.many_centre = 0;
}

void FitToProducts(AutoSchedule& schedule) {
    schedule.residual_time *= schedule.lead_time;
    schedule.early_share *= schedule.lead_early;
    schedule.product_query *= schedule.lead_query;
}

void FitToManyColumns(uint32_t features, AutoSchedule& schedule) {
    const double many = Ramp(features, schedule.few_columns, schedule.many_columns, 0, 1);
    const auto towards = [&](double factor) { return 1 + many * (factor - 1); };
    schedule.linear_steps *= towards(1 + Ramp(schedule.nu, schedule.little_nu, schedule.enough_nu, 0, 1));
    schedule.linear_time *= towards(schedule.many_time);
    schedule.many_centre *= many;
    schedule.residual_share *= towards(schedule.many_share);
    schedule.residual_kappa *= towards(schedule.many_kappa);
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
        // What scores gain at small nu was measured for two classes only.
        const bool reaches_less = classes > 2 && row.field == &AutoSchedule::score_clip;
        schedule.*row.field = curve.At(reaches_less ? HUGE_VAL : schedule.nu);
    }
    for (const NumberChange& change : changes) {
        const auto row = std::find_if(std::begin(kAutoNumbers), std::end(kAutoNumbers),
                                      [&](const NumberRow& one) { return change.name == one.name; });
        CheckInternal(row != std::end(kAutoNumbers), "auto has no such number");
        schedule.*(row->field) *= change.factor;
    }
    if (classes > 2)
        FitToClasses(static_cast<double>(classes), schedule);
    if (features >= schedule.sparse_features && schedule.nu >= schedule.least_feature_look)
        schedule.feature_prior = std::max(schedule.feature_prior, schedule.many_prior);
    if (objective == ObjectiveKind::kQuantile)
        schedule.linear_clip = std::min(schedule.linear_clip, schedule.most_quantile_clip);
    // The variance of the query's noise is as the number of pairs: where it could do with less, that is for few of them.
    if (schedule.nu > schedule.query_needs_less) {
        const double query = schedule.product_query, relative = features / schedule.few_features;
        schedule.product_query =
            std::clamp(query * relative * relative, query, std::max(query, schedule.most_for_many));
    }
    if (features < 2)
        schedule.product_query = 0;
    const double signal = noisy_rows * mu;
    if (signal < schedule.least_calibration || objective == ObjectiveKind::kSoftmax)
        schedule.probabilities = 0;
    if (signal < schedule.least_target_search)
        schedule.target_histogram = 0;
    return schedule;
}

}  // namespace dpboost
