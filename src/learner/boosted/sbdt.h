// Method `sbdt`, S-BDT ([SBDT] Alg 2): an initial score, then random trees whose leaves are noisy Newton steps, one after
// the other. The number of trees, their structure and all messages are independent of rows; rows reach the model
// through the charges of the Plan only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner/boosted/boosting.h"
#include "learner/learner.h"
#include "learner/tree/random_structure.h"

namespace dpboost {

struct SbdtOptions : BoostingOptions {
    FeatureSchedule features = FeatureSchedule::kAny;
    uint32_t extra_rounds = 0;  // T_extra under a Renyi filter; 0: no filter
    uint32_t batch = 1;         // so many trees are grown from the same scores
    bool continued = false;     // rows start at what run.model says, which counts so much
    double old_weight = 1;
    bool fades_with_base = true;  // and less if the mean label is another today

    // The paper's best ranges ([SBDT] 8, "Hyperparameters"), moving with epsilon from its settings at strong privacy to
    // those at weak.
    SbdtOptions(Task task, double epsilon);

    // For an objective that was asked for, or that the target calls for. Clips of the Poisson loss are multiples of how far counts scatter around the
    // mean that rows start with (Objective::spread), which is known after the start was released.
    void FitToObjective(const TargetSpec& target);

    // For an update: these options made the model, and some trees more go on from it.
    void FitToUpdate();

    // How much a model counts that started from old_base, where rows start from base today. Both were released.
    double OldWeight(int32_t old_base, int32_t base) const;

    // Throws Error(kInvalidParameter) for values that do not fit together.
    void Check() const;

    BoostedRowsOptions RowsOptions(int32_t base, const std::vector<int32_t>& class_bases = {}) const;

    uint32_t rounds() const { return trees + extra_rounds; }
};

// Neighbours: add or remove one unit of the rows. What is released (the model) is post-processing of the plan's events:
// per tree one Poisson-sampled leaf-balanced Gaussian over sums to which each unit adds a vector within the bound
// (rows/leaf_sums.h), plus the initial score. A batch of B trees is B of these events, each with a sample of its own: it
// costs what B trees cost one after the other. (One event of all B trees, with one sample, would have the root of B as its
// sensitivity: the same mu for full batches, and 5 % more noise per tree for 1000 trees in tens at a rate of .1 and epsilon
// 1, 12 % at a rate of .05, because amplification falls faster than noise.)
class SbdtLearner final : public Learner {
  public:
    explicit SbdtLearner(const SbdtOptions& options);

    // The initial score, if it has a share, and one draw per tree with what is left of (epsilon, delta).
    std::vector<MechanismRequest> Mechanisms() const override;
    std::string main_mechanism() const override;
    std::string rounds_mechanism() const override;
    Footprint footprint(bool has_units) const override;
    Link link() const override;
    void Train(Run& run) const override;

  private:
    const SbdtOptions options_;
};

extern const MethodInfo kSbdt;
extern const char kTreesMechanism[];

}  // namespace dpboost
