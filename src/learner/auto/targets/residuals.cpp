#include "learner/auto/targets/final_draws.h"

namespace dpboost {
// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::ResidualCounts). Charge: all that
// is left of the pool.
ResidualHistogram DrawResiduals(const AdditiveStage& stage, double log_shift) {
    const uint32_t bins = Whole(stage.schedule.interval_bins);
    std::vector<float> edges;
    for (uint32_t k = 1; k < bins; k++)
        edges.push_back(static_cast<float>(2.0 * k / bins - 1));
    const NoisySums sums = stage.pool.Release(stage.pool.Slice(0, 1), stage.rows.ResidualCounts(edges));
    const double steps = stage.rows.StepsPerOne();
    ResidualHistogram histogram;
    // From the scale that the stages had to the label's, and to what the mean was adjusted by.
    const double half = stage.target.logarithmic() ? stage.target.LogWidth() / 2 : 1;
    const double unit = stage.tables.final_factor() / half, shift = log_shift / half;
    histogram.lower = -unit - shift;
    histogram.upper = unit - shift;
    for (const int64_t value : sums.values)
        histogram.counts.push_back(static_cast<float>(static_cast<double>(value) / steps));
    histogram.count_sd = static_cast<float>(sums.sigma / steps);
    return histogram;
}

}  // namespace dpboost
