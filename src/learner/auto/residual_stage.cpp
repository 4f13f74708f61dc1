#include "learner/auto/residual_stage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/portable_math.h"

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
    return partition;
}

// Counts per leaf.
std::vector<double> LeafCounts(const BasisPartition& partition, const std::vector<double>& cells) {
    std::vector<double> counts(partition.leaves, 0.0);
    for (size_t cell = 0; cell < cells.size(); cell++)
        counts[partition.leaf[cell]] += cells[cell];
    return counts;
}

// Of centred indicators of weight 1, squared.
double Norm(const BasisPartition& partition) {
    return 1 - 1.0 / partition.leaves;
}

// What noise of variance 1 in each leaf's gradient does to scores: the mean over rows of its square, up to a factor.
double Harm(const std::vector<double>& counts, double kappa) {
    double harm = 0;
    for (const double count : counts) {
        const double gain = count / (count * count + kappa);
        harm += count * gain * gain;
    }
    return harm;
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

// Where rows are spread over many leaves, noise does more harm than where most are in one. With weights w in a draw the
// harm is sum of H / w^2 and the squared sensitivity sum of N w^2: the least harm at the same charge is where w^4 is as H / N.
// A draw gets as much of the epoch as the features in it take, so that its noise is the same whatever it holds.
std::vector<std::vector<ResidualStage::Cut>> ResidualStage::CutAll() const {
    const uint32_t features = static_cast<uint32_t>(stage_.active.size()), blocks = Blocks(stage_);
    std::vector<uint32_t> order(features);
    stage_.random.Permutation(order.data(), features);
    std::vector<std::vector<Cut>> epoch(blocks);
    double most = 0, plain = 0, weighted = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t i = block; i < features; i += blocks) {
            Cut cut;
            cut.feature = stage_.active[order[i]];
            const std::vector<double>& cells = stage_.counts.cells[cut.feature];
            cut.partition = DrawPartition(stage_.features[cut.feature], cells, schedule_, stage_.random);
            cut.counts = LeafCounts(cut.partition, cells);
            cut.cost = Harm(cut.counts, kappa_) / Norm(cut.partition);
            most = std::max(most, cut.cost);
            epoch[block].push_back(std::move(cut));
        }
    }
    const auto weigh = [&](const Cut& cut) {
        return most > 0 ? portable::Pow(std::max(cut.cost / most, schedule_.least_harm), schedule_.harm_power)
                        : 1.0;
    };
    for (const std::vector<Cut>& block : epoch) {
        for (const Cut& cut : block) {
            plain += Norm(cut.partition);
            weighted += Norm(cut.partition) * weigh(cut) * weigh(cut);
        }
    }
    for (std::vector<Cut>& block : epoch) {
        for (Cut& cut : block) {
            cut.partition.Centre(weigh(cut) * std::sqrt(plain / weighted));
            cut.cost = Norm(cut.partition) * cut.partition.Weight() * cut.partition.Weight();
        }
    }
    return epoch;
}

void ResidualStage::RunEpochs(uint32_t count) {
    for (; count > 0; count--, epoch_++) {
        const std::vector<std::vector<Cut>> epoch = CutAll();
        std::vector<double> costs;
        double whole = 0;
        for (const std::vector<Cut>& block : epoch) {
            costs.push_back(0);
            for (const Cut& cut : block)
                costs.back() += cut.cost;
            whole += costs.back();
        }
        const uint32_t epochs_left = epochs_ - later_ - epoch_;
        double left = whole * epochs_left;
        for (size_t block = 0; block < epoch.size(); block++) {
            const bool last = epochs_left == 1 && block + 1 == epoch.size();
            MoveBlock(epoch[block], stage_.pool.Slice(leave_, 1) * (last ? 1 : costs[block] / left));
            left -= costs[block];
        }
        stage_.bands.Commit();
    }
}

void ResidualStage::MoveBlock(const std::vector<Cut>& cuts, double fraction) {
    Basis basis;
    for (const Cut& cut : cuts) {
        BasisBlock block;
        block.view = CodeView::Column(cut.feature, stage_.features[cut.feature].cells());
        block.partition = cut.partition;
        basis.Add(std::move(block));
    }
    stage_.rows.SetBasis(basis);
    const NoisyGradients sums =
        stage_.Gradients(stage_.pool.Release(fraction, stage_.rows.GradientSums(*objective_)));
    for (size_t i = 0; i < cuts.size(); i++) {
        const BasisBlock& block = basis.blocks()[i];
        const double unit = unit_ / block.partition.Weight();
        Leaves leaves;
        leaves.counts = cuts[i].counts;
        leaves.variance = unit * sums.sigma * unit * sums.sigma * Norm(block.partition);
        leaves.gradients.resize(block.partition.leaves * stage_.outputs());
        for (size_t output = 0; output < stage_.outputs(); output++) {
            const double* const of_output = sums.values.data() + output * basis.coordinates() + block.first;
            double* const gradients = leaves.gradients.data() + output * block.partition.leaves;
            double mean = 0;
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
                gradients[leaf] = of_output[leaf] * unit;
                mean += gradients[leaf] / block.partition.leaves;
            }
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++)
                gradients[leaf] -= mean;
        }
        MoveFeature(cuts[i].feature, block.partition, leaves);
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
