// Options of method `auto` and the plan that they ask for. There is little to choose: the method reads what
// it needs to know about the data from its own noisy results.
#pragma once

#include <cstdint>

#include "dataset/target.h"
#include "privacy/plan.h"

namespace dpboost {

struct AutoOptions {
    Task task = Task::kRegression;
    uint64_t rows_hint = 0;  // the number of rows where that is public; 0: use a noisy count
    uint32_t trees = 0;      // epochs of the residual stage (a tree per feature each); 0: by the schedule
    uint32_t depth = 3;      // features that an interaction tree may combine: 1 (none), 2 or 3

    // Throws Error(kInvalidParameter) that names the option and its range.
    void Check() const;
};

// One mechanism: a Gaussian pool with all of (epsilon, delta), which the stages spend in parts as they see
// fit (privacy/gaussian_pool.h). Closed form, microseconds. Budgets, if any, are for the caller to add.
PlanRequest BuildAutoPlan(const AutoOptions& options, double epsilon, double delta);

extern const char kAutoMechanism[];

}  // namespace dpboost
