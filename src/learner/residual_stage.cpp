// The residual stage of `auto`: boosting with one-feature trees on what the linear stage left over. In each
// epoch every feature is cut at random thresholds (levels: one leaf each), and one draw releases the centred
// sums of gradients of all leaves of all features; counts come from the histograms. One-feature trees add up
// to one table per feature.
#include <algorithm>
#include <cmath>

#include "learner/additive_stage.h"

namespace dpboost {
namespace {

// Thresholds at uniform bins and at noisy quantiles, mixed.
BasisPartition DrawPartition(const FeatureSpec& feature, const std::vector<double>& counts,
                             const AutoSchedule& schedule, Random& random) {
    BasisPartition partition;
    partition.leaf.resize(feature.cells());
    if (!feature.ordered()) {
        partition.leaves = feature.cells();
        for (uint32_t cell = 0; cell < feature.cells(); cell++)
            partition.leaf[cell] = cell;
        partition.Centre();
        return partition;
    }
    const uint32_t bins = feature.bins();
    std::vector<double> cumulated(bins);
    double total = 0;
    for (uint32_t bin = 0; bin < bins; bin++)
        cumulated[bin] = total += counts[bin];
    std::vector<char> cut_behind(bins, 0);
    for (uint32_t k = 1; k < schedule.residual_leaves; k++) {
        const bool uniform = DrawUnit(random) < schedule.uniform_cuts;
        const double position = DrawUnit(random);
        const size_t bin =
            uniform
                ? static_cast<size_t>(position * bins)
                : static_cast<size_t>(std::lower_bound(cumulated.begin(), cumulated.end(), position * total) -
                                      cumulated.begin());
        cut_behind[std::min<size_t>(bin, bins - 1)] = 1;
    }
    uint32_t leaf = 0;
    for (uint32_t bin = 0; bin < bins; bin++) {
        partition.leaf[bin] = leaf;
        if (cut_behind[bin] != 0 && bin + 1 < bins)
            leaf++;
    }
    partition.leaf[bins] = leaf + 1;
    partition.leaves = leaf + 2;
    partition.Centre();
    return partition;
}

std::vector<double> LeafMeans(const BasisPartition& partition, const std::vector<double>& values) {
    std::vector<double> means(partition.leaves, 0.0), cells(partition.leaves, 0.0);
    for (size_t cell = 0; cell < values.size(); cell++) {
        means[partition.leaf[cell]] += values[cell];
        cells[partition.leaf[cell]]++;
    }
    for (uint32_t leaf = 0; leaf < partition.leaves; leaf++)
        means[leaf] /= std::max(1.0, cells[leaf]);
    return means;
}

// The slope of the loss along the last epoch's change, as the new leaf sums see it, and its noise.
struct Slope {
    double value = 0;
    double variance = 0;
};

}  // namespace

void RunResidualStage(const AdditiveStage& stage, double fraction) {
    const AutoSchedule& schedule = stage.schedule;
    const size_t features = stage.features.size();
    const double mu = stage.pool.mu() * std::sqrt(fraction);
    const double kappa = schedule.residual_kappa * static_cast<double>(features) / (mu * mu);
    constexpr double kStepsPerUnit = static_cast<double>(kClipSteps) * kBasisUnit;
    const double unit = schedule.residual_clip / kStepsPerUnit;
    const Objective objective(stage.loss, schedule.residual_clip, 1);
    double rate = schedule.residual_time / schedule.residual_epochs / schedule.curvature;
    std::vector<std::vector<double>> changes(features);
    double expected_gain = 0;
    for (uint32_t epoch = 0; epoch < schedule.residual_epochs; epoch++) {
        Basis basis;
        for (uint32_t f = 0; f < features; f++) {
            BasisBlock block;
            block.view = CodeView::Column(f, stage.features[f].cells());
            block.partition = DrawPartition(stage.features[f], stage.counts.cells[f], schedule, stage.random);
            basis.Add(std::move(block));
        }
        stage.rows.LimitNorms(basis, basis.MaxNormSquared());
        std::vector<int64_t> sums = stage.rows.GradientSums(basis, objective);
        const double sigma =
            unit * stage.pool.AddNoise(fraction / schedule.residual_epochs, stage.rows.Sensitivity(), sums);

        Slope slope;
        std::vector<std::vector<double>> leaf_gradients(features);
        for (size_t f = 0; f < features; f++) {
            const BasisBlock& block = basis.blocks()[f];
            std::vector<double>& gradients = leaf_gradients[f];
            gradients.resize(block.partition.leaves);
            double mean = 0;
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
                gradients[leaf] = static_cast<double>(sums[block.first + leaf]) * unit;
                mean += gradients[leaf] / block.partition.leaves;
            }
            for (double& gradient : gradients)
                gradient -= mean;
            if (epoch == 0)
                continue;
            const std::vector<double> moved = LeafMeans(block.partition, changes[f]);
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
                slope.value += moved[leaf] * gradients[leaf];
                slope.variance += sigma * sigma * moved[leaf] * moved[leaf];
            }
        }
        if (slope.value < -3 * std::sqrt(slope.variance) && slope.value < -0.7 * expected_gain)
            rate /= 4;

        expected_gain = 0;
        for (size_t f = 0; f < features; f++) {
            const BasisPartition& partition = basis.blocks()[f].partition;
            std::vector<double> counts(partition.leaves, 0.0);
            for (size_t cell = 0; cell < partition.leaf.size(); cell++)
                counts[partition.leaf[cell]] += stage.counts.cells[f][cell];
            std::vector<double> values(partition.leaves);
            for (uint32_t leaf = 0; leaf < partition.leaves; leaf++) {
                values[leaf] =
                    rate * leaf_gradients[f][leaf] * counts[leaf] / (counts[leaf] * counts[leaf] + kappa);
                expected_gain += values[leaf] * leaf_gradients[f][leaf];
            }
            changes[f].resize(partition.leaf.size());
            for (size_t cell = 0; cell < partition.leaf.size(); cell++)
                changes[f][cell] = values[partition.leaf[cell]];
            stage.tables.Add(f, changes[f]);
        }
        stage.progress.Step();
    }
}

}  // namespace dpboost
