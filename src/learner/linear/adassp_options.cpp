#include "learner/linear/adassp_options.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/linear/design.h"

namespace dpboost {

const char kAdasspProductsMechanism[] = "products of features";
const char kAdasspGradientsMechanism[] = "gradients";
const char kAdasspLambdaMechanism[] = "smallest eigenvalue";

const MethodPreset kAdasspPresets[] = {
    {"adassp", "boosted linear models, squared loss", "[ADASSP] (BoostedAdaSSP, squared)",
     "effects that are linear in each column; F1 scores at small epsilon"},
    {"adassp_logistic", "boosted linear models, logistic loss", "[ADASSP] (BoostedAdaSSP, logistic)",
     "the same, with probabilities"},
    {"adassp_hinge", "boosted linear models, hinge loss", "[ADASSP] (BoostedAdaSSP, hinge)",
     "comparison with linear classifiers"},
};
const std::size_t kAdasspPresetCount = sizeof(kAdasspPresets) / sizeof(kAdasspPresets[0]);

namespace {

void CheckOption(bool valid, const char* name, const char* allowed) {
    if (!valid)
        throw Error(ErrorCode::kInvalidParameter, std::string("option \"") + name + "\" is out of range",
                    std::string("Allowed is ") + allowed + ".");
}

MechanismRequest Gaussian(const char* name, uint64_t count, double mu, double sensitivity, std::size_t sums) {
    MechanismRequest request;
    request.name = name;
    request.kind = EventKind::kGaussian;
    request.count = count;
    request.rest = mu * mu;
    request.dimensions = {{sensitivity, 1, sums}};
    return request;
}

}  // namespace

AdasspOptions AdasspOptions::Defaults(Task task, double) {
    AdasspOptions options;
    options.task = task;
    return options;
}

AdasspOptions AdasspOptions::Preset(const std::string& name, Task task, double epsilon) {
    AdasspOptions options = Defaults(task, epsilon);
    if (name == "adassp_logistic")
        options.loss = ObjectiveKind::kLogistic;
    else if (name == "adassp_hinge")
        options.loss = ObjectiveKind::kHinge;
    else if (name != "adassp")
        throw Error(ErrorCode::kInvalidParameter, "unknown method \"" + name + "\"");
    return options;
}

void AdasspOptions::Check() const {
    CheckOption(rounds >= 1 && rounds <= 100000, "rounds", "1 to 100000");
    CheckOption(learning_rate > 0 && learning_rate <= 2, "learning_rate", "above 0 and at most 2");
    CheckOption(gradient_clip >= 1e-3 && gradient_clip <= 10, "gradient_clip", "0.001 to 10");
    CheckOption(product_weight >= 0.01 && product_weight <= 100, "product_weight", "0.01 to 100");
    CheckOption(gradient_weight >= 0.01 && gradient_weight <= 100, "gradient_weight", "0.01 to 100");
    CheckOption(lambda_weight == 0 || (lambda_weight >= 0.01 && lambda_weight <= 100), "lambda_weight",
                "0, or 0.01 to 100");
    CheckOption(ridge >= 0 && ridge <= 1000, "ridge", "0 to 1000");
    CheckOption(intervals >= 2 && intervals <= 256, "intervals", "2 to 256");
    if (loss == ObjectiveKind::kHinge)
        CheckOption(gradient_clip == 1, "gradient_clip", "1 for the hinge loss");
    if (task == Task::kRegression && loss != ObjectiveKind::kSquared)
        throw Error(ErrorCode::kInvalidParameter, "option \"loss\" does not fit the target",
                    "The logistic and the hinge loss are for targets with two values.",
                    "Use the squared loss.");
}

std::unique_ptr<const Objective> AdasspOptions::MakeObjective(const TargetSpec& target) const {
    const bool signs = loss == ObjectiveKind::kSquared && target.task() == Task::kBinary;
    return dpboost::MakeObjective(signs ? ObjectiveKind::kSigns : loss, target, gradient_clip, 1);
}

PlanRequest BuildAdasspPlan(const AdasspOptions& options, const std::vector<FeatureSpec>& features,
                            double epsilon, double delta) {
    options.Check();
    if (!(delta > 0))
        throw Error(ErrorCode::kUnsupported, "this method needs a delta above 0",
                    "Its sums get Gaussian noise, which satisfies no pure differential privacy.",
                    "Give a delta such as 1e-6, or choose a method with Laplace noise, like \"dpboost\".");
    const Design design(features, options);
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms.push_back(Gaussian(kAdasspProductsMechanism, 1, options.product_weight,
                                          design.ProductSensitivity(), design.product_count()));
    request.mechanisms.push_back(Gaussian(kAdasspGradientsMechanism, options.rounds, options.gradient_weight,
                                          design.GradientSensitivity(), design.columns()));
    if (design.ReleasesEigenvalue(options))
        request.mechanisms.push_back(
            Gaussian(kAdasspLambdaMechanism, 1, options.lambda_weight, design.EigenvalueSensitivity(), 1));
    return request;
}

}  // namespace dpboost
