// The losses, one file each; MakeObjective (objective.h) is for everyone else.
#pragma once

#include <cstddef>
#include <memory>

#include "dataset/target.h"
#include "learner/objective/objective.h"

namespace dpboost {

// The Hessian of the squared loss is a count: always kClipSteps, that is a hessian_clip of 1.
std::unique_ptr<const Objective> MakeSquared(double gradient_clip, double hessian_clip);
std::unique_ptr<const Objective> MakeSigns(double gradient_clip, double hessian_clip);
std::unique_ptr<const Objective> MakeLogistic(double gradient_clip, double hessian_clip);
// Its gradient is -1, 0 or 1: the clip must be 1. It has no curvature; its Hessian is a count.
std::unique_ptr<const Objective> MakeHinge(double gradient_clip, double hessian_clip);

// Of 2 to kMaxClasses classes: of two as well, where tests compare it with the logistic loss.
std::unique_ptr<const Objective> MakeSoftmax(size_t classes, double gradient_clip, double hessian_clip);

// In multiples of the mean at `start`; the target's lower bound must not be negative.
std::unique_ptr<const Objective> MakePoisson(const TargetSpec& target, double gradient_clip,
                                             double hessian_clip, int32_t start);

// Of the quantile tau, 0 < tau < 1; Huber's loss is that of 1/2. Its Hessian is a count.
std::unique_ptr<const Objective> MakeQuantile(double gradient_clip, double hessian_clip, double tau);

}  // namespace dpboost
