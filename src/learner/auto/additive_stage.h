// What the stages of `auto` share: the rows, the pool, the released histograms, and the additive model that
// grows from stage to stage. Everything but `rows` is public or was released with noise.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learner/auto/noise_bands.h"
#include "learner/auto/noisy_histogram.h"
#include "learner/auto/pool.h"
#include "learner/auto/schedule.h"
#include "learner/auto/targets/monotone.h"
#include "learner/base_rate.h"
#include "learner/rows/additive/basis_rows.h"
#include "mechanism/random.h"
#include "model/model.h"

namespace dpboost {

// The additive model: a base score and one table per feature, in fixed point, bounded so that the scores of
// any row stay within int32, and monotone where it must be. Every change also reaches the rows' scores. With K outputs
// (those of the rows) there are K bases, and K values per cell side by side.
class AdditiveTables {
  public:
    AdditiveTables(const std::vector<FeatureSpec>& features, BasisRows& rows, MonotoneRules monotone = {});

    void AddToBase(double change, size_t output = 0);
    void Add(size_t feature, const std::vector<double>& change);
    void Scale(size_t feature, double factor);
    const MonotoneRules& monotone() const { return monotone_; }
    // Largest magnitude of a table's entry, and of a leaf of a tree beside the tables.
    double limit() const { return limit_; }
    int32_t base(size_t output = 0) const { return fixed_base_[output]; }
    const std::vector<int32_t>& bases() const { return fixed_base_; }
    const std::vector<double>& table(size_t feature) const { return tables_[feature]; }
    // What scores become in the end: factor * score + shift. The shift of several outputs must be 0.
    void SetFinal(double factor, double shift) {
        final_factor_ = factor;
        final_shift_ = shift;
    }
    // The same of what they have become.
    void ThenFinal(double factor, double shift) {
        SetFinal(factor * final_factor_, factor * final_shift_ + shift);
    }
    double final_factor() const { return final_factor_; }
    double final_shift() const { return final_shift_; }
    // Adds to the model.
    void Store(Model& model) const;

    // All tables times a factor in [0, 1], which the rows' scores follow otherwise (BasisRows::Blend).
    void Fade(double factor);

  private:
    BasisRows& rows_;
    MonotoneRules monotone_;
    double limit_;
    std::vector<double> base_;
    double final_factor_ = 1;
    double final_shift_ = 0;
    std::vector<int32_t> fixed_base_;
    std::vector<std::vector<double>> tables_;
    std::vector<std::vector<int32_t>> fixed_;
};

// Released sums of gradients in lattice steps: the coordinates of the first output, then those of the second and so on.
struct NoisyGradients {
    std::vector<double> values;
    double sigma = 0;  // of the noise of each
    double whole_sigma =
        0;  // before the mean over classes was taken off: of sums with weights that add up to zero
};

struct AdditiveStage {
    const std::vector<FeatureSpec>& features;
    const TargetSpec& target;
    ObjectiveKind objective;
    const AutoSchedule& schedule;
    const MarginalCounts& counts;
    BasisRows& rows;
    Pool& pool;
    AdditiveTables& tables;
    NoiseBands& bands;  // each stage reports the noise that its draws brought into the tables
    PublicRandom& random;

    std::vector<uint32_t> active;  // features that have not been found to say nothing
    bool quiet = false;            // all of them together say nothing, one by one
    bool products_lead = false;    // pairs explain more than tables could (LeadingProducts)
    double strength = 1;           // of the signal, to what is usual (AutoSchedule::usual_strength)

    // Set by DrawBase.
    int32_t start = 0;  // the score that rows start with
    double sampling = auto_numbers::
        kUsualSampling;             // variance of gradients clipped at 1, about: the share of the rarer class
    double spread = 1;              // of gradients: the schedule's clips are multiples of it
    double quantile = 0.5;          // of ObjectiveKind::kQuantile
    std::vector<double> classes{};  // of several outputs: how frequent each class is, about
    BaseRate base_rate{};           // of two classes
    ClassShares class_shares{};     // of several

    size_t outputs() const { return rows.outputs(); }
    // Over the classes gradients add up to zero, and their noise does not: its mean is taken off, which leaves 1 - 1/K of
    // its variance.
    NoisyGradients Gradients(const NoisySums& sums) const;
    // What the noise of a gradient is a multiple of, to one of a clip of 1: the spread, and less by that mean.
    double NoiseSpread() const;
    // The variance of an output's gradient over its clip squared, about.
    double Sampling(size_t output) const;
    // The variance of a class's gradient where the model says how frequent each is.
    double ClassVariance(size_t output, double clip) const;

    double Clip(double relative) const { return relative * spread; }
    // Active features that products may be made of: what a product adds, no table can make monotone.
    std::vector<uint32_t> Interacting() const;
    std::unique_ptr<const Objective> ClippedAt(double gradient_clip) const {
        return MakeObjective(objective, target, gradient_clip, 1, start, quantile);
    }
};

// Features that say the same add up, and a step on all of them may go too far. The slope of the loss along
// the last step, as the next noisy gradient sees it, tells: where it was reversed almost entirely or more, by
// clearly more than noise, the step is to be taken back and the rate cut. Only steps without momentum are
// judged: with it, swings are normal.
class OvershootGuard {
  public:
    explicit OvershootGuard(const AutoSchedule& schedule) : schedule_(schedule) {}

    // gain: what the step about to be taken promises.
    void Expect(double gain) { expected_ = gain; }
    // slope: the gain that repeating the last step promises now; sigma: its noise.
    bool Overshot(double slope, double sigma) const {
        return slope < -schedule_.overshoot_sigmas * sigma &&
               slope < -schedule_.overshoot_reversal * expected_ && expected_ > 0;
    }

  private:
    const AutoSchedule& schedule_;
    double expected_ = 0;
};

// The first guess: a noisy mean label, whose score every row starts with.
MeanLabel DrawBase(AdditiveStage& stage, double fraction);

// Regression: a target far narrower than its declared range is found by a noisy histogram of labels, and labels are
// stretched to it from here on.
void NarrowLabels(const AdditiveStage& stage);

// Clipped gradients pull predictions towards the median of similar rows. The last draws of the training sum up unclipped
// ones and move the base, so that predictions are right on average.
void CalibrateBase(const AdditiveStage& stage, const MeanLabel& mean, double leave);

// They also make probabilities too extreme or too tame. Where there is enough signal, a noisy count of classes by score
// says by how much: all scores are stretched and shifted in the end. The order of rows stays as it is.
void CalibrateProbabilities(const AdditiveStage& stage);
// The slope of classes in the rows' scores, by the same count for `fraction` of the pool; 1 where noise hides it.
double ClassSlope(const AdditiveStage& stage, double fraction);

// The same for classes: a noisy count of each, and steps on the base of each by what gradients are on average.
void DrawClassBases(AdditiveStage& stage, double fraction);
void CalibrateClassBases(const AdditiveStage& stage);

// Each stage spends the pool down to `leave` (a fraction of the whole).
//
// Linear stage: gradient steps on a few functions of each feature (see linear_stage.cpp). Where nearly all of many features
// look like noise after the first steps, those are left out from then on.
void RunLinearStage(AdditiveStage& stage, double leave, uint32_t depth);

}  // namespace dpboost
