#include "learner/boosted/sbdt_options.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "learner/objective/objective.h"
#include "learner/rows/leaf_sums.h"

namespace dpboost {

const char kTreesMechanism[] = "trees";

namespace {

constexpr uint32_t kMaxTrees = 100000;
// Scores are 32-bit fixed-point numbers of 2^-20, below 2048; one unit is left for the initial score and
// rounding.
constexpr double kMaxScore = 2000;

void CheckOption(bool valid, const char* name, const char* allowed) {
    if (!valid)
        throw Error(ErrorCode::kInvalidParameter, std::string("option \"") + name + "\" is out of range",
                    std::string("Allowed is ") + allowed + ".");
}

// low at epsilon <= from, high at epsilon >= to, linear in log(epsilon) between.
double Ramp(double epsilon, double from, double to, double low, double high) {
    const double position = std::log(epsilon / from) / std::log(to / from);
    return low + (high - low) * std::clamp(position, 0.0, 1.0);
}

}  // namespace

SbdtOptions SbdtOptions::Defaults(Task task, double epsilon) {
    SbdtOptions options;
    options.task = task;
    if (!(epsilon > 0))
        return options;  // the plan will refuse it
    if (task == Task::kRegression) {
        options.trees = static_cast<uint32_t>(std::lround(Ramp(epsilon, 0.1, 1, 150, 300)));
        options.depth = static_cast<int>(std::lround(Ramp(epsilon, 0.1, 2, 2, 4)));
        options.gradient_clip = Ramp(epsilon, 0.1, 1, 0.1, 0.3);
        return options;
    }
    options.trees = static_cast<uint32_t>(std::lround(Ramp(epsilon, 0.05, 1, 200, 500)));
    options.depth = 5;
    options.subsample = Ramp(epsilon, 0.02, 1, 0.01, 0.1);
    options.gradient_clip = Ramp(epsilon, 0.05, 0.5, 0.3, 0.5);
    options.hessian_clip = Ramp(epsilon, 0.05, 1, 0.1, 0.25);
    options.hessian_share = 0.1;
    options.initial_share = 0.03;
    options.l2 = 10;
    return options;
}

void SbdtOptions::Check() const {
    CheckOption(trees >= 1 && trees <= kMaxTrees, "trees", "1 to 100000");
    CheckOption(extra_rounds <= kMaxTrees, "extra_rounds", "0 to 100000");
    CheckOption(depth >= 1 && depth <= 10, "depth", "1 to 10");
    CheckOption(learning_rate > 0 && learning_rate <= 1, "learning_rate", "above 0 and at most 1");
    CheckOption(subsample > 0 && subsample <= 1, "subsample", "above 0 and at most 1");
    CheckOption(gradient_clip >= 1e-3 && gradient_clip <= 10, "gradient_clip", "0.001 to 10");
    CheckOption(hessian_share >= 0.001 && hessian_share <= 0.999, "hessian_share", "0.001 to 0.999");
    CheckOption(initial_share >= 0 && initial_share <= 0.9, "initial_share", "0 to 0.9");
    CheckOption(label_clip >= 1e-3 && label_clip <= 1, "label_clip", "0.001 to 1");
    CheckOption(l2 >= 0 && l2 <= 1e6, "l2", "0 to 1000000");
    CheckOption(leaf_clip >= 1e-3 && leaf_clip <= 1000, "leaf_clip", "0.001 to 1000");
    if (task == Task::kRegression)
        CheckOption(hessian_clip == 1, "hessian_clip", "1 for regression, where the Hessian is a count");
    else
        CheckOption(hessian_clip >= 1e-3 && hessian_clip <= 0.25, "hessian_clip",
                    "0.001 to 0.25, the largest Hessian of the logistic loss");
    if (!(learning_rate * leaf_clip * rounds() <= kMaxScore))
        throw Error(ErrorCode::kInvalidParameter, "scores of the ensemble could become too large",
                    "The number of trees times \"learning_rate\" times \"leaf_clip\" must not exceed 2000.",
                    "Lower \"leaf_clip\" or \"learning_rate\".");
}

PlanRequest BuildSbdtPlan(const SbdtOptions& options, double epsilon, double delta) {
    options.Check();
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    if (options.initial_share > 0)
        request.mechanisms.push_back(InitialScoreRequest(options.initial_score()));
    const LeafWeights weights(options.hessian_share);
    const size_t leaves = size_t{1} << options.depth;
    MechanismRequest trees;
    trees.name = kTreesMechanism;
    trees.kind = EventKind::kGaussian;
    trees.count = options.trees;
    trees.sampling_rate = options.subsample;
    trees.rest = 1;
    trees.filter_rounds = options.extra_rounds;
    trees.dimensions = {{static_cast<double>(kClipSteps), weights.hessian_share(), leaves},
                        {static_cast<double>(kClipSteps), weights.gradient_share(), leaves}};
    request.mechanisms.push_back(std::move(trees));
    return request;
}

}  // namespace dpboost
