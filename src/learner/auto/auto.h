// `auto`, the default method: noisy histograms, an initial score, a linear stage, a query for interactions,
// one-feature trees (and, where the query found them, trees on two or three features) on the residual. No
// tuning: shares and step sizes follow from the noisy number of rows (schedule.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner/auto/schedule.h"
#include "learner/learner.h"
#include "learner/objective/objective.h"

namespace dpboost {

struct AutoOptions {
    ObjectiveKind objective = ObjectiveKind::kSquared;
    double quantile = 0.5;    // of ObjectiveKind::kQuantile
    bool log_target = false;  // what the target itself says
    bool intervals = false;   // keep what predictions leave over
    uint64_t rows_hint = 0;   // the number of rows where that is public; 0: use a noisy count
    uint32_t trees = 0;       // epochs of the residual stage (a tree per feature each); 0: by the schedule
    uint32_t depth = 3;       // features that an interaction tree may combine: 1 (none), 2 or 3
    std::vector<NumberChange> changes;  // for experiments
    bool few_draws = false;             // by Run::across_servers
    bool continued = false;             // goes on from run.model,
    double old_weight = -1;             // which counts so much; below 0: by its evidence
    std::vector<int8_t> monotone;       // per feature 1, -1 or 0; empty: none
};

// Neighbours: add or remove one unit. The model is post-processing of the draws of one Gaussian pool with all of
// (epsilon, delta), which the stages spend in parts as they see fit (privacy/pool.h): sums over units of integer vectors,
// each unit's within the bound that its draw was charged for (rows/basis_rows.h). The exact number of rows enters
// nowhere else.
class AutoLearner final : public Learner {
  public:
    // Throws kInvalidParameter for an objective that does not fit the target.
    AutoLearner(const AutoOptions& options, const TargetSpec& target);

    std::vector<MechanismRequest> Mechanisms() const override;
    std::string main_mechanism() const override { return kMechanism; }
    void CheckPlan(const Plan& plan, std::size_t features) const override;
    Footprint footprint(bool has_units) const override;
    Link link() const override;
    void Train(Run& run) const override;

    static constexpr char kMechanism[] = "auto";

  private:
    std::size_t Outputs() const;

    const AutoOptions options_;
    const TargetSpec target_;
};

extern const MethodInfo kAuto;

}  // namespace dpboost
