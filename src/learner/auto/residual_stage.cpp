// The residual stage of `auto`: boosting with one-feature trees on what the linear stage left over. In each
// epoch every feature is cut at random thresholds (levels: one leaf each), and one draw releases the centred
// sums of gradients of all leaves of all features; counts come from the histograms. One-feature trees add up
// to one table per feature.
#include <algorithm>
#include <cmath>

#include "learner/auto/additive_stage.h"

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
    for (uint32_t k = 1; k < schedule.residual_leaves; k++) {
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

// Mean over each leaf's cells.
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

class ResidualStage {
  public:
    ResidualStage(const AdditiveStage& stage, double leave)
        : stage_(stage),
          schedule_(stage.schedule),
          leave_(leave),
          unit_(stage.Clip(schedule_.residual_clip) / stage.rows.StepsPerUnit()),
          objective_(stage.ClippedAt(stage.Clip(schedule_.residual_clip))),
          rate_(schedule_.residual_time / schedule_.residual_epochs / objective_->curvature()),
          changes_(stage.features.size()) {
        const double mu = stage.pool.mu() * std::sqrt(stage.pool.left() - leave);
        kappa_ = schedule_.residual_kappa * stage.spread * stage.spread *
                 static_cast<double>(stage.features.size()) / (mu * mu);
        for (size_t f = 0; f < changes_.size(); f++)
            changes_[f].assign(stage.features[f].cells(), 0.0);
    }

    void RunEpoch(uint32_t epoch) {
        Basis basis;
        for (uint32_t f = 0; f < stage_.features.size(); f++) {
            BasisBlock block;
            block.view = CodeView::Column(f, stage_.features[f].cells());
            block.partition =
                DrawPartition(stage_.features[f], stage_.counts.cells[f], schedule_, stage_.random);
            basis.Add(std::move(block));
        }
        stage_.rows.SetBasis(basis);
        const NoisySums sums =
            stage_.pool.Release(stage_.pool.Slice(leave_, schedule_.residual_epochs - epoch),
                                stage_.rows.GradientSums(*objective_));
        const std::vector<std::vector<double>> gradients = Centred(basis, sums.values);
        CutRateIfOvershot(basis, gradients, unit_ * sums.sigma);
        Move(basis, gradients, unit_ * sums.sigma);
    }

  private:
    // The noisy sums of gradients of each feature's leaves, minus their mean.
    std::vector<std::vector<double>> Centred(const Basis& basis, const std::vector<int64_t>& sums) const {
        std::vector<std::vector<double>> gradients;
        for (const BasisBlock& block : basis.blocks()) {
            gradients.emplace_back(block.partition.leaves);
            double mean = 0;
            for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
                gradients.back()[leaf] = static_cast<double>(sums[block.first + leaf]) * unit_;
                mean += gradients.back()[leaf] / block.partition.leaves;
            }
            for (double& gradient : gradients.back())
                gradient -= mean;
        }
        return gradients;
    }

    void CutRateIfOvershot(const Basis& basis, const std::vector<std::vector<double>>& gradients,
                           double sigma) {
        double slope = 0, squares = 0;
        for (size_t f = 0; f < gradients.size(); f++) {
            const std::vector<double> moved = LeafMeans(basis.blocks()[f].partition, changes_[f]);
            for (size_t leaf = 0; leaf < moved.size(); leaf++) {
                slope += moved[leaf] * gradients[f][leaf];
                squares += moved[leaf] * moved[leaf];
            }
        }
        if (!guard_.Overshot(slope, sigma * std::sqrt(squares)))
            return;
        rate_ *= auto_numbers::kOvershootRateCut;
        stage_.bands.TakeBack();
        for (size_t f = 0; f < changes_.size(); f++) {
            for (double& change : changes_[f])
                change = -change;
            stage_.tables.Add(f, changes_[f]);
        }
    }

    // Leaf value: rate * G N / (N^2 + kappa), a Newton step on the bound of the curvature, Wiener-filtered.
    void Move(const Basis& basis, const std::vector<std::vector<double>>& gradients, double sigma) {
        stage_.bands.Commit();  // the last epoch's move stays
        double gain = 0;
        for (size_t f = 0; f < gradients.size(); f++) {
            const BasisPartition& partition = basis.blocks()[f].partition;
            std::vector<double> gains(partition.leaves, 0.0), values(partition.leaves);  // counts first
            for (size_t cell = 0; cell < partition.leaf.size(); cell++)
                gains[partition.leaf[cell]] += stage_.counts.cells[f][cell];
            for (uint32_t leaf = 0; leaf < partition.leaves; leaf++) {
                values[leaf] =
                    rate_ * gradients[f][leaf] * gains[leaf] / (gains[leaf] * gains[leaf] + kappa_);
                gains[leaf] = rate_ * gains[leaf] / (gains[leaf] * gains[leaf] + kappa_);
                gain += values[leaf] * gradients[f][leaf];
            }
            stage_.bands.AddLeaves(f, partition, gains.data(), sigma);
            for (size_t cell = 0; cell < partition.leaf.size(); cell++)
                changes_[f][cell] = values[partition.leaf[cell]];
            stage_.tables.Add(f, changes_[f]);
        }
        guard_.Expect(gain);
    }

    const AdditiveStage& stage_;
    const AutoSchedule& schedule_;
    double leave_;
    double unit_;  // of a gradient, per lattice step
    const std::unique_ptr<const Objective> objective_;
    double rate_;
    double kappa_;
    std::vector<std::vector<double>> changes_;  // of the last epoch, per feature and cell
    OvershootGuard guard_;
};

}  // namespace

void RunResidualStage(const AdditiveStage& stage, double leave) {
    ResidualStage residual(stage, leave);
    for (uint32_t epoch = 0; epoch < stage.schedule.residual_epochs; epoch++)
        residual.RunEpoch(epoch);
    stage.bands.Commit();
}

}  // namespace dpboost
