#include "learner/auto/residual_stage.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// Thresholds at uniform bins and at noisy quantiles, mixed.
BasisPartition DrawPartition(const FeatureSpec& feature, const std::vector<double>& counts,
                             const AutoSchedule& schedule, PublicRandom& random) {
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
    for (uint32_t k = 1; k < Whole(schedule.residual_leaves); k++) {
        const bool uniform = random.Fraction() < schedule.uniform_cuts;
        const double position = random.Fraction();
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

// Counts per leaf.
std::vector<double> LeafCounts(const BasisPartition& partition, const std::vector<double>& cells) {
    std::vector<double> counts(partition.leaves, 0.0);
    for (size_t cell = 0; cell < cells.size(); cell++)
        counts[partition.leaf[cell]] += cells[cell];
    return counts;
}

// Draws in which all features move once.
uint32_t Blocks(const AdditiveStage& stage) {
    const uint32_t features = static_cast<uint32_t>(stage.active.size());
    const uint32_t per_block = std::max(1U, Whole(stage.schedule.block_features));
    return (features + per_block - 1) / per_block;
}

// To a Newton step on the bound of the curvature: as far as the time goes, but all features of a block together no further
// than `most_step`.
double Step(const AdditiveStage& stage, uint32_t epochs) {
    const double together = std::ceil(static_cast<double>(stage.active.size()) / std::max(1U, Blocks(stage)));
    return std::min(stage.schedule.residual_time * stage.strength / epochs,
                    stage.schedule.most_step / std::max(1.0, together));
}

}  // namespace

ResidualStage::ResidualStage(const AdditiveStage& stage, double leave)
    : stage_(stage),
      schedule_(stage.schedule),
      leave_(leave),
      epochs_(Whole(schedule_.residual_epochs)),
      unit_(stage.Clip(schedule_.residual_clip) / stage.rows.StepsPerOne()),
      objective_(stage.ClippedAt(stage.Clip(schedule_.residual_clip))),
      rate_(Step(stage, epochs_) / objective_->curvature()),
      signals_(stage.features.size(), 0.0) {
    const double mu = stage.pool.mu() * std::sqrt(stage.pool.left() - leave);
    kappa_ = schedule_.residual_kappa * stage.NoiseSpread() * stage.NoiseSpread() *
             static_cast<double>(stage.active.size()) / (mu * mu);
}

void ResidualStage::RunEpochs(uint32_t count) {
    const uint32_t features = static_cast<uint32_t>(stage_.active.size()), blocks = Blocks(stage_);
    std::vector<uint32_t> order(features);
    for (; count > 0; count--, epoch_++) {
        stage_.random.Permutation(order.data(), features);
        for (uint32_t block = 0; block < blocks; block++) {
            std::vector<uint32_t> chosen;
            for (uint32_t i = block; i < features; i += blocks)
                chosen.push_back(stage_.active[order[i]]);
            MoveBlock(chosen, static_cast<uint64_t>(epochs_ - later_ - epoch_) * blocks - block);
        }
        stage_.bands.Commit();
    }
}

void ResidualStage::MoveBlock(const std::vector<uint32_t>& chosen, uint64_t draws_left) {
    Basis basis;
    for (const uint32_t f : chosen) {
        BasisBlock block;
        block.view = CodeView::Column(f, stage_.features[f].cells());
        block.partition = DrawPartition(stage_.features[f], stage_.counts.cells[f], schedule_, stage_.random);
        basis.Add(std::move(block));
    }
    stage_.rows.SetBasis(basis);
    const NoisyGradients sums = stage_.Gradients(
        stage_.pool.Release(stage_.pool.Slice(leave_, draws_left), stage_.rows.GradientSums(*objective_)));
    for (size_t i = 0; i < chosen.size(); i++) {
        const BasisBlock& block = basis.blocks()[i];
        Leaves leaves;
        leaves.counts = LeafCounts(block.partition, stage_.counts.cells[chosen[i]]);
        leaves.variance = unit_ * sums.sigma * unit_ * sums.sigma * (1 - 1.0 / block.partition.leaves);
        leaves.gradients.resize(block.partition.leaves * stage_.outputs());
        for (size_t output = 0; output < stage_.outputs(); output++) {
            const double* const of_output = sums.values.data() + output * basis.coordinates() + block.first;
            double* const gradients = leaves.gradients.data() + output * block.partition.leaves;
            double mean = 0;
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
                gradients[leaf] = of_output[leaf] * unit_;
                mean += gradients[leaf] / block.partition.leaves;
            }
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++)
                gradients[leaf] -= mean;
        }
        MoveFeature(chosen[i], block.partition, leaves);
    }
}

// Leaf value: rate * G N / (N^2 + kappa), a Newton step on the bound of the curvature, Wiener-filtered.
void ResidualStage::MoveFeature(uint32_t feature, const BasisPartition& partition, const Leaves& leaves) {
    signals_[feature] += SignalToNoise(leaves);
    const double rate = rate_ * Speed(feature);
    const size_t outputs = stage_.outputs();
    std::vector<double> gains(partition.leaves), change(partition.leaf.size() * outputs);
    for (uint32_t leaf = 0; leaf < partition.leaves; leaf++)
        gains[leaf] = rate * leaves.counts[leaf] / (leaves.counts[leaf] * leaves.counts[leaf] + kappa_);
    for (size_t cell = 0; cell < partition.leaf.size(); cell++) {
        const uint32_t leaf = partition.leaf[cell];
        for (size_t k = 0; k < outputs; k++)
            change[cell * outputs + k] = gains[leaf] * leaves.gradients[k * partition.leaves + leaf];
    }
    stage_.tables.Add(feature, change);
    for (size_t k = 0; k < outputs; k++)
        stage_.bands.AddLeaves(feature, partition, gains.data(), std::sqrt(leaves.variance), k);
}

// What the sums hold beyond noise, over noise. Leaves count as much as they move; an empty leaf does not.
double ResidualStage::SignalToNoise(const Leaves& leaves) const {
    const double clip = unit_ * stage_.rows.StepsPerOne();
    double signal = 0, noise = 0;
    for (size_t output = 0; output < stage_.outputs(); output++) {
        const double sampling = stage_.Sampling(output);
        for (size_t leaf = 0; leaf < leaves.counts.size(); leaf++) {
            const double weight = leaves.counts[leaf] / (leaves.counts[leaf] * leaves.counts[leaf] + kappa_);
            const double gradient = leaves.gradients[output * leaves.counts.size() + leaf];
            const double variance =
                leaves.variance + leaves.counts[leaf] * schedule_.sampling * sampling * clip * clip;
            signal += (gradient * gradient - variance) * weight;
            noise += variance * weight;
        }
    }
    return noise > 0 ? signal / noise : 0;
}

double ResidualStage::Speed(uint32_t feature) const {
    if (schedule_.feature_prior == 0)
        return 1;
    const double seen = epoch_ + 1;
    double pooled = 0;
    for (const double signal : signals_)
        pooled += signal / static_cast<double>(stage_.active.size());
    const double own = std::max(0.0, (signals_[feature] + std::max(0.0, pooled) / seen) / (seen + 1));
    return 1 - schedule_.feature_doubt * (1 - own / (own + schedule_.feature_prior / epochs_));
}

}  // namespace dpboost
