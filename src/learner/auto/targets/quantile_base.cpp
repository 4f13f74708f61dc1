#include <algorithm>
#include <cmath>

#include "learner/auto/targets/final_draws.h"

namespace dpboost {
namespace {

// Intervals on either side of 0, on the label's scale, up to 2.
std::vector<double> Edges(const AutoSchedule& schedule) {
    std::vector<double> edges(1, 0.0);
    double width = schedule.residual_width;
    for (double edge = width; edge < 2; width *= 1 + schedule.residual_widening, edge += width) {
        edges.insert(edges.begin(), -edge);
        edges.push_back(edge);
    }
    return edges;
}

// The nearest ascending values (pool adjacent violators).
void Ascend(std::vector<double>* values) {
    std::vector<std::pair<double, double>> runs;  // mean and size
    for (const double value : *values) {
        runs.emplace_back(value, 1);
        while (runs.size() > 1 && runs[runs.size() - 2].first >= runs.back().first) {
            const auto [mean, size] = runs.back();
            runs.pop_back();
            runs.back().first =
                (runs.back().first * runs.back().second + mean * size) / (runs.back().second + size);
            runs.back().second += size;
        }
    }
    size_t i = 0;
    for (const auto& [mean, size] : runs)
        for (double k = 0; k < size; k++)
            (*values)[i++] = mean;
}

}  // namespace

// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::ResidualCounts). Charge: one
// draw. What follows is post-processing.
void MoveBaseToQuantile(const AdditiveStage& stage, double fraction) {
    const std::vector<double> edges = Edges(stage.schedule);
    const NoisySums sums =
        stage.pool.Release(fraction, stage.rows.ResidualCounts({edges.begin(), edges.end()}));
    const double steps = stage.rows.StepsPerOne(), sigma = sums.sigma / steps, tau = stage.quantile;
    // At each edge: the rows below it minus what they should be, (1 - tau) below - tau above. Ascends but for noise.
    double above = 0, below = 0;
    for (const int64_t value : sums.values)
        above += static_cast<double>(value) / steps;
    std::vector<double> excess;
    for (size_t k = 0; k < edges.size(); k++) {
        const double count = static_cast<double>(sums.values[k]) / steps;
        below += count;
        above -= count;
        excess.push_back((1 - tau) * below - tau * above);
    }
    // How clearly the base is off at all.
    const size_t middle = edges.size() / 2;
    const double half = static_cast<double>(middle + 1);
    const double noise = sigma * sigma * half * ((1 - tau) * (1 - tau) + tau * tau);
    const double off = excess[middle] * excess[middle];
    const double keep = off > 0 ? std::max(0.0, 1 - noise / off) : 0;
    Ascend(&excess);
    const size_t k =
        static_cast<size_t>(std::lower_bound(excess.begin(), excess.end(), 0.0) - excess.begin());
    double shift = k == 0 ? edges.front() : k == edges.size() ? edges.back() : edges[k];
    if (k > 0 && k < edges.size() && excess[k] > excess[k - 1])
        shift = edges[k - 1] + (edges[k] - edges[k - 1]) * -excess[k - 1] / (excess[k] - excess[k - 1]);
    stage.tables.AddToBase(keep * shift);
}

}  // namespace dpboost
