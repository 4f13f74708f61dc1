// The range that the target really has, where the declared one is far too wide: clips and noise follow the declared range,
// so a model on a hundredth of it would see noise only.
#include <algorithm>
#include <cmath>

#include "dataset/feature.h"
#include "learner/auto/additive_stage.h"

namespace dpboost {
namespace {

// How many bins from the front hold next to nothing: so few rows that their number is within noise of `most`.
size_t EmptyBins(const std::vector<double>& counts, double most, double sigma, double sigmas) {
    double sum = 0;
    for (size_t bins = 0; bins + 1 < counts.size(); bins++) {
        sum += counts[bins];
        if (sum > most + sigmas * sigma * std::sqrt(static_cast<double>(bins + 1)))
            return bins;
    }
    return counts.size() - 1;
}

}  // namespace

// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::LabelCounts). Charge: one draw.
void NarrowLabels(const AdditiveStage& stage) {
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
    std::vector<double> counts;
    for (const int64_t value : sums.values)
        counts.push_back(static_cast<double>(value) / steps);
    const double sigma = sums.sigma / steps, most = stage.schedule.target_tail * stage.counts.rows;
    const size_t first = EmptyBins(counts, most, sigma, stage.schedule.held_sigmas);
    std::reverse(counts.begin(), counts.end());
    const size_t behind = EmptyBins(counts, most, sigma, stage.schedule.held_sigmas);
    if (first + behind >= counts.size())
        return;
    const size_t last = counts.size() - 1 - behind;
    const double lower = first == 0 ? -1 : edges[first - 1], upper = last < edges.size() ? edges[last] : 1;
    const double width = upper - lower, pad = stage.schedule.target_pad * width;
    if (!(width + 2 * pad < 2 * stage.schedule.target_narrow))
        return;
    const double new_half = std::max(width / 2 + pad, 1e-5), new_middle = (lower + upper) / 2;
    stage.rows.SetLabelWindow(new_middle, new_half);
    stage.tables.SetFinal(new_half, new_middle);
}

}  // namespace dpboost
