// The range that the target really has, where the declared one is far too wide: clips and noise follow the declared range,
// so a model on a hundredth of it would see noise only.
#include <algorithm>

#include "dataset/feature.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/targets/target_window.h"

namespace dpboost {
namespace {

// In the target's own grid.
TargetCounts CountTargets(const AdditiveStage& stage) {
    const bool logarithmic = stage.target.logarithmic();
    NumericRange range;  // its default grid tells magnitudes apart where the range is wide
    range.lower = logarithmic ? -1 : stage.target.lower();
    range.upper = logarithmic ? 1 : stage.target.upper();
    if (logarithmic)
        range.scale = Scale::kLinear;
    const double middle = (range.lower + range.upper) / 2, half = (range.upper - range.lower) / 2;
    const FeatureSpec grid = FeatureSpec::Numeric("target", range);
    std::vector<float> edges;
    for (uint32_t bin = 0; bin + 1 < grid.bins(); bin++)
        edges.push_back(static_cast<float>((grid.CellUpper(bin) - middle) / half));
    const NoisySums sums = stage.pool.Release(stage.schedule.target_histogram, stage.rows.LabelCounts(edges));
    const double steps = stage.rows.StepsPerOne();
    TargetCounts counts{{}, {-1}, sums.sigma / steps};
    for (const int64_t value : sums.values)
        counts.bins.push_back(static_cast<double>(value) / steps);
    counts.ends.insert(counts.ends.end(), edges.begin(), edges.end());
    counts.ends.push_back(1);
    return counts;
}

}  // namespace

// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::LabelCounts). Charge: one draw.
void NarrowLabels(const AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    const TargetCounts counts = CountTargets(stage);
    const BinRun held = HeldBins(counts, stage.counts.rows, schedule);
    if (held.empty())
        return;
    const double lower = counts.ends[held.first], upper = counts.ends[held.end];
    const double width = upper - lower, pad = schedule.target_pad * width;
    if (!(width + 2 * pad < 2 * schedule.target_narrow))
        return;
    const double new_half = std::max(width / 2 + pad, 1e-5), new_middle = (lower + upper) / 2;
    stage.rows.SetLabelWindow(new_middle, new_half);
    stage.tables.SetFinal(new_half, new_middle);
}

}  // namespace dpboost
