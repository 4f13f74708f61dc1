// Options of method `sbdt` ([SBDT] 8, "Hyperparameters") and the plan that they ask for. Everything here is
// public: it depends on the call and the column encodings, never on rows.
#pragma once

#include <cstdint>

#include "dataset/target.h"
#include "learner/objective/initial_score.h"
#include "learner/tree/leaf_values.h"
#include "learner/tree/random_structure.h"
#include "privacy/plan.h"

namespace dpboost {

struct SbdtOptions {
    Task task = Task::kRegression;
    uint32_t trees = 150;        // T_regular
    int depth = 2;               // d, 1 to 10
    double learning_rate = 0.1;  // eta
    double subsample = 0.1;      // gamma, per unit and tree
    double gradient_clip = 0.1;  // g*
    double hessian_clip = 1;     // h*; 1 for regression, whose Hessian is a count
    double hessian_share = 0.2;  // r1; the gradient sum gets r2 = 1 - r1
    double initial_share = 0.1;  // of mu^2, for the initial score; 0: start at zero
    double label_clip = 1;       // m*, regression only
    double l2 = 15;              // lambda
    double leaf_clip = 2;        // beta
    FeatureSchedule features = FeatureSchedule::kRandom;
    uint32_t extra_rounds = 0;  // T_extra under a Renyi filter; 0: no filter

    // Defaults: the paper's best ranges, moving with epsilon from its settings at strong privacy to those at
    // weak.
    static SbdtOptions Defaults(Task task, double epsilon);

    // Throws Error(kInvalidParameter) that names the option and its range.
    void Check() const;

    uint32_t rounds() const { return trees + extra_rounds; }
    InitialScoreOptions initial_score() const { return {initial_share, label_clip}; }
    LeafValueOptions leaf_values() const { return {learning_rate, l2, leaf_clip}; }
};

// What the training will draw: the initial score (if it has a share) and one leaf-balanced Gaussian per tree
// with what is left of (epsilon, delta). Budgets, if any, are for the caller to add.
PlanRequest BuildSbdtPlan(const SbdtOptions& options, double epsilon, double delta);

// Name of the trees' mechanism in that plan; the other is kInitialScoreMechanism.
extern const char kTreesMechanism[];

}  // namespace dpboost
