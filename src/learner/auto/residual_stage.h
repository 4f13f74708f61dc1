// The residual stage of `auto`: boosting with one-feature trees on what the linear stage left over. In each epoch every
// feature is cut at random thresholds (levels: one leaf each); a draw releases the centred sums of gradients of the
// leaves of a few features, which then move, so that features that say the same do not overshoot together. Counts come
// from the histograms. One-feature trees add up to one table per feature.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learner/auto/additive_stage.h"

namespace dpboost {

class ResidualStage {
  public:
    // Spends the pool down to `leave` (a fraction of the whole) over all its epochs.
    ResidualStage(const AdditiveStage& stage, double leave);

    uint32_t epochs() const { return epochs_; }
    void RunEpochs(uint32_t count);
    // From here on: spends the pool down to `leave` over all epochs but the `later` last ones.
    void SetLeave(double leave, uint32_t later = 0) {
        leave_ = leave;
        later_ = later;
    }

  private:
    struct Leaves {
        std::vector<double>
            gradients;  // noisy sums, minus their mean over the leaves: of the first output, ...
        std::vector<double> counts;
        double variance = 0;  // of the noise of a gradient
    };

    // Neighbours: add or remove one unit. Sensitivity: a row adds its clipped gradient to one leaf of each of the
    // features, centred: its clip times sqrt(sum of 1 - 1/leaves); a unit is scaled down to the same. Charge: one draw.
    void MoveBlock(const std::vector<uint32_t>& chosen, uint64_t draws_left);
    void MoveFeature(uint32_t feature, const BasisPartition& partition, const Leaves& leaves);
    double SignalToNoise(const Leaves& leaves) const;
    // In [0, 1]: features whose sums so far hold little beyond noise move less (post-processing of them).
    double Speed(uint32_t feature) const;

    const AdditiveStage& stage_;
    const AutoSchedule& schedule_;
    double leave_;
    uint32_t epochs_;
    uint32_t epoch_ = 0;
    uint32_t later_ = 0;
    double unit_;  // of a gradient, per lattice step
    const std::unique_ptr<const Objective> objective_;
    double rate_;
    double kappa_;
    std::vector<double> signals_;  // sum over epochs of each feature's signal to noise
};

}  // namespace dpboost
