#include "training/call/call.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "training/training.h"

namespace dpboost {

namespace {

[[noreturn]] void RefuseClasses(const std::string& method, const MethodList& methods) {
    std::vector<std::string> others;
    for (const MethodInfo* info : methods)
        if (info->classes)
            others.emplace_back(info->name);
    throw Error(ErrorCode::kUnsupported,
                "method " + Quoted(method) + " cannot tell more than two classes apart",
                "Methods that can: " + QuotedList(others) + ".",
                "Name one of them in the option \"method\", or one class in the option \"positive\".");
}

bool IsIntervals(const GivenOption& option) {
    return option.key == "intervals";
}

}  // namespace

bool HeldOutIntervals(const TrainingOptions& options) {
    const auto given = std::find_if(options.given.begin(), options.given.end(), IsIntervals);
    return options.holdout > 0 && given != options.given.end() && given->number > 0;
}

std::unique_ptr<Learner> MakeLearner(const TrainingOptions& options, const FeatureEncodings& features,
                                     const TargetRule& target, const MethodList& methods,
                                     const std::optional<Model>& model) {
    if (target.spec.task() == Task::kClasses && !options.method->classes)
        RefuseClasses(options.method->name, methods);
    LearnerContext context{features.specs, target.spec, options.epsilon, options.delta};
    if (model) {
        const Continued continued{*model, options.update, options.old_weight};
        context.continued = &continued;
        return options.method->make(*options.method, context, options.given);
    }
    std::unique_ptr<Learner> learner = options.method->make(*options.method, context, options.given);
    if (!HeldOutIntervals(options))
        return learner;
    std::vector<GivenOption> others = options.given;  // checked, and drawn by the evaluation
    others.erase(std::remove_if(others.begin(), others.end(), IsIntervals), others.end());
    return options.method->make(*options.method, context, others);
}

TrainingOptions OptionsOf(const TrainingSchema& schema) {
    return !schema.continued
               ? ParseOptions(*schema.options, schema.privacy, schema.methods)
               : UpdateOptions(*schema.continued, *schema.options, schema.privacy, schema.methods);
}

std::optional<Model> ModelOf(const TrainingSchema& schema) {
    if (!schema.continued)
        return std::nullopt;
    Model model = *schema.continued->model;
    Evidence evidence = model.evidence();
    evidence.residuals.reset();
    model.SetEvidence(std::move(evidence));
    return model;
}

TargetRule TargetOf(const TrainingSchema& schema, const TrainingOptions& options) {
    return !schema.continued ? EncodeTarget(schema.target, options, schema.governed)
                             : ContinuedTarget(*schema.continued, schema.target, schema.governed);
}

FeatureEncodings FeaturesOf(const TrainingSchema& schema, const TrainingOptions& options) {
    return !schema.continued ? EncodeFeatures(schema.features, options, schema.governed, schema.target.name,
                                              schema.relation)
                             : ContinuedFeatures(*schema.continued, schema.features, schema.governed);
}

void CheckFootprint(const Footprint& footprint, size_t memory) {
    if (footprint.depth > kMaxLeafBits ||
        footprint.trees * footprint.outputs > kMaxModelLeaves >> footprint.depth)
        throw Error(ErrorCode::kLimitExceeded, "the model would be too large",
                    std::string("The number of trees times two to the power of their depth") +
                        (footprint.outputs > 1 ? " times the number of classes" : "") +
                        " must not exceed 16777216.",
                    "Lower \"depth\" or the number of trees.");
    if (footprint.bytes > memory)
        throw Error(ErrorCode::kOutOfMemory, "the training needs more than dpboost.max_memory",
                    "Without any row it needs " + std::to_string(footprint.bytes / 1024) +
                        " kB; the limit is " + std::to_string(memory / 1024) + " kB.",
                    "Ask a superuser to raise \"dpboost.max_memory\", or train on fewer columns.");
}

}  // namespace dpboost
