#include "learner/objective/objective.h"

#include "base/error.h"
#include "learner/objective/losses.h"

namespace dpboost {

void Objective::Evaluate(Simd simd, const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                         int32_t* hessians) const {
    const size_t done = simd == Simd::kPortable ? 0 : EvaluateAvx2({scores, labels, n, gradients, hessians});
    const size_t entries = done * outputs();
    EvaluatePortable({scores + entries, labels + done, n - done, gradients + entries, hessians + entries});
}

std::unique_ptr<const Objective> MakeObjective(ObjectiveKind kind, const TargetSpec& target,
                                               double gradient_clip, double hessian_clip) {
    CheckInternal(kind == ObjectiveKind::kSquared || target.task() == Task::kBinary,
                  "the loss is for targets with two values");
    switch (kind) {
        case ObjectiveKind::kSquared:
            return MakeSquared(gradient_clip, hessian_clip);
        case ObjectiveKind::kLogistic:
            return MakeLogistic(gradient_clip, hessian_clip);
        case ObjectiveKind::kHinge:
            return MakeHinge(gradient_clip, hessian_clip);
        case ObjectiveKind::kSigns:
            return MakeSigns(gradient_clip, hessian_clip);
    }
    throw Error(ErrorCode::kInternal, "unknown loss");
}

}  // namespace dpboost
