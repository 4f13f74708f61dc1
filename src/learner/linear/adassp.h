// Method `adassp` ([ADASSP] Alg 2): boosted linear models. X'X is released once, with it AdaSSP's
// ridge; every round releases X'g for the gradients at the current model and adds a ridge regression on them.
// The model is one additive table per feature, which is the linear model exactly, because features are codes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learner/learner.h"
#include "learner/objective/objective.h"
#include "learner/rows/linear/design.h"

namespace dpboost {

struct AdasspOptions {
    ObjectiveKind loss = ObjectiveKind::kSquared;  // of the signs -1 and 1, where the target is binary
    uint32_t rounds = 100;                         // T
    double learning_rate = 1;                      // eta; 1 in the paper
    double gradient_clip = 1;                      // z; 1 for the hinge loss, whose gradient is -1, 0 or 1
    double product_weight = 1;                     // a: mu of X'X,
    double gradient_weight = 3;                    // b: and of all X'g together
    double ridge = 1;                              // multiple of AdaSSP's lambda
    uint32_t intervals = 8;                        // of an ordered feature
    bool average = true;  // the model is the mean over the second half of the rounds, not the last one
};

// Neighbours: add or remove one unit. Sensitivities: rows/design.h. The model is post-processing of the plan's events;
// there is no sampling. mu^2 is split in the ratio a^2 : b^2, b^2 over all rounds together (Alg 2; the GDP of Gaussians
// adds up in squares, Cor 2.1), calibrated in closed form. The paper's third part, for the smallest eigenvalue of X'X,
// is not needed: see linear/solver.h.
//
// Probabilities: of the squared loss (1 + score) / 2, of the logistic loss its own, of the hinge loss, which has none,
// the logistic function of twice the margin.
class AdasspLearner final : public Learner {
  public:
    // Throws kInvalidParameter for a loss that does not fit the target or the clip, kLimitExceeded for more columns than
    // kMaxDesignColumns.
    AdasspLearner(const AdasspOptions& options, const std::vector<FeatureSpec>& features,
                  const TargetSpec& target);

    std::vector<MechanismRequest> Mechanisms() const override;
    std::string main_mechanism() const override { return kGradients; }
    Footprint footprint(bool has_units) const override;
    Link link() const override { return objective_->link(); }
    void Train(Run& run) const override;

    const Design& design() const { return design_; }

    static constexpr char kProducts[] = "products of features";  // X'X, once
    static constexpr char kGradients[] = "gradients";            // X'g, once per round

  private:
    const AdasspOptions options_;
    const Design design_;
    const std::unique_ptr<const Objective> objective_;
};

extern const MethodInfo kAdassp;
extern const MethodInfo kAdasspLogistic;
extern const MethodInfo kAdasspHinge;

}  // namespace dpboost
