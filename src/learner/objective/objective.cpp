#include "learner/objective/objective.h"

#include <algorithm>

#include "base/error.h"
#include "learner/objective/losses.h"
#include "learner/option_table.h"

namespace dpboost {

void Objective::Evaluate(Simd simd, const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                         int32_t* hessians) const {
    const size_t done = simd == Simd::kPortable ? 0 : EvaluateAvx2({scores, labels, n, gradients, hessians});
    const size_t entries = done * outputs();
    EvaluatePortable({scores + entries, labels + done, n - done, gradients + entries, hessians + done});
}

void Objective::EvaluateGradients(Simd simd, const int32_t* scores, const float* labels, size_t n,
                                  int32_t* gradients, int32_t* hessians) const {
    const size_t done = simd < Simd::kAvx512 ? 0 : GradientsAvx512({scores, labels, n, gradients, hessians});
    const size_t entries = done * outputs();
    Evaluate(simd, scores + entries, labels + done, n - done, gradients + entries, hessians + done);
}

std::unique_ptr<const Objective> MakeObjective(ObjectiveKind kind, const TargetSpec& target,
                                               double gradient_clip, double hessian_clip, int32_t start,
                                               double quantile) {
    const bool of_numbers = kind == ObjectiveKind::kSquared || kind == ObjectiveKind::kPoisson ||
                            kind == ObjectiveKind::kHuber || kind == ObjectiveKind::kQuantile;
    const bool of_classes = kind == ObjectiveKind::kSoftmax || target.task() == Task::kClasses;
    CheckInternal(of_numbers || of_classes || target.task() == Task::kBinary,
                  "the loss is for targets with two values");
    CheckInternal(!of_classes || (kind == ObjectiveKind::kSoftmax && target.task() != Task::kRegression),
                  "softmax is for classes, and classes for softmax");
    switch (kind) {
        case ObjectiveKind::kSquared:
            return MakeSquared(gradient_clip, hessian_clip);
        case ObjectiveKind::kLogistic:
            return MakeLogistic(gradient_clip, hessian_clip);
        case ObjectiveKind::kPoisson:
            return MakePoisson(target, gradient_clip, hessian_clip, start);
        case ObjectiveKind::kHinge:
            return MakeHinge(gradient_clip, hessian_clip);
        case ObjectiveKind::kSigns:
            return MakeSigns(gradient_clip, hessian_clip);
        case ObjectiveKind::kSoftmax:
            return MakeSoftmax(std::max<size_t>(2, target.classes().size()), gradient_clip, hessian_clip);
        case ObjectiveKind::kHuber:
            return MakeQuantile(gradient_clip, hessian_clip, 0.5);
        case ObjectiveKind::kQuantile:
            return MakeQuantile(gradient_clip, hessian_clip, quantile);
    }
    throw Error(ErrorCode::kInternal, "unknown loss");
}

void CheckObjective(ObjectiveKind kind, const TargetSpec& target) {
    if ((kind == ObjectiveKind::kSoftmax) != (target.task() == Task::kClasses))
        RefuseOption("objective", "left out for a target with several classes");
    if (target.task() == Task::kClasses)
        return;
    const bool binary = target.task() == Task::kBinary;
    if (binary && kind != ObjectiveKind::kLogistic)
        RefuseOption("objective", "\"logistic\" for a target with two values");
    if (!binary && kind == ObjectiveKind::kLogistic)
        RefuseOption("objective", "another one than \"logistic\" for a numeric target");
    if (kind == ObjectiveKind::kPoisson && target.logarithmic())
        RefuseOption("objective", "another one than \"poisson\" for \"target_scale\" \"log\"");
    if (kind == ObjectiveKind::kPoisson && !(target.lower() >= 0 && target.upper() <= kMaxCount))
        throw Error(ErrorCode::kInvalidParameter,
                    "objective \"poisson\" needs a target from 0 to at most 1000000",
                    "It is for counts, whose smallest and largest value are publicly known.",
                    "Give the range, for example \"target_range\": [0, 50].");
}

}  // namespace dpboost
