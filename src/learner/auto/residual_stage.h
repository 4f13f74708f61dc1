// The residual stage of `auto`: boosting with one-feature trees on what the linear stage left over. In each epoch every
// feature is cut at random thresholds (levels: one leaf each); a draw releases the centred sums of gradients of the
// leaves of a few features, which then move, so that features that say the same do not overshoot together. Features with
// many leaves weigh more in it: noise harms them more. Counts come from the histograms. One-feature trees add up to one table per feature.
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
    // A feature in an epoch.
    struct Cut {
        uint32_t feature = 0;
        BasisPartition partition;    // its leaves, weighted
        std::vector<double> counts;  // of the leaves
        double cost = 0;             // what it adds to the square of a draw's sensitivity, in clips
    };

    // All features, in the draws that they move in. Of public random numbers and released histograms.
    std::vector<std::vector<Cut>> CutAll() const;
    // Neighbours: add or remove one unit. Sensitivity: a row adds its clipped gradient to one leaf of each of the
    // features, centred and weighted: its clip times sqrt(sum of weight^2 (1 - 1/leaves)), as Basis counts it exactly from
    // the integers that are summed; a unit is scaled down to the same. Charge: one draw.
    void MoveBlock(const std::vector<Cut>& cuts, double fraction);
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
