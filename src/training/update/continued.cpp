// The error texts quote the call and the catalog only, which are public.
#include "training/update/continued.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "training/training.h"

namespace dpboost {
namespace {

constexpr char kUpdate[] = "update";

// What a model's trees and tables mean does not change from version to version.
constexpr const char* kFixed[] = {"method",       "task",     "target_range", "positive",      "classes",
                                  "bounds",       "bins",     "objective",    "hash_buckets",  "quantile",
                                  "target_scale", "monotone", "weight",       "class_weights", "intervals"};
// What an average of two models does not keep.
constexpr const char* kNotContinued[] = {"quantile", "target_scale",  "monotone",
                                         "weight",   "class_weights", "intervals"};
// Options of the call alone, not of the model.
constexpr const char* kOfOneCall[] = {"epsilon",      "delta",    "deploy",    "holdout",
                                      "active_share", "evaluate", "rows_hint", kUpdate};

template <size_t count>
bool IsAmong(const char* const (&keys)[count], std::string_view key) {
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

const MethodInfo* MethodOf(const ContinuedModel& continued, const MethodList& methods) {
    const MethodInfo* const method = methods.Find(continued.method);
    if (method != nullptr && method->continues)
        return method;
    std::vector<std::string> can;
    for (const MethodInfo* one : methods)
        if (one->continues)
            can.emplace_back(one->name);
    throw Error(ErrorCode::kUnsupported,
                "models of method " + Quoted(continued.method) + " cannot be updated",
                "Methods whose models can be: " + QuotedList(can) + ".",
                "Train the next version from the start, with dpboost_train_on.");
}

void RefuseFixed(const JsonValue& json) {
    for (int i = 0; json.kind == JsonValue::kObject && i < json.count; ++i)
        if (IsAmong(kFixed, json.keys[i]))
            throw Error(ErrorCode::kInvalidParameter,
                        "option " + Quoted(json.keys[i]) + " is fixed by the model",
                        "An update goes on with the encodings, the method and the loss of its model.",
                        "To change them, train the next version from the start, with dpboost_train_on.");
}

// What the training was given for its method.
std::vector<GivenOption> StoredOptions(const JsonValue& json, const MethodInfo& method) {
    std::vector<GivenOption> stored;
    for (int i = 0; i < json.count; ++i)
        if (IsAmong(kNotContinued, json.keys[i]) ||
            (std::string_view(json.keys[i]) == "objective" && json.items[i].IsText("huber")))
            throw Error(ErrorCode::kUnsupported,
                        "models with option " + Quoted(json.keys[i]) + " cannot be updated", {},
                        "Train the next version from the start, with dpboost_train_on.");
        else if (!IsAmong(kOfOneCall, json.keys[i]) && method.options.Find(json.keys[i]) != nullptr)
            stored.push_back(GivenFrom(json.keys[i], json.items[i]));
    method.options.Check(stored);
    return stored;
}

std::string TextOf(const ContinuedModel& continued, const JsonValue& json, const TrainingOptions& options) {
    JsonList text, update;
    text.Add("epsilon", JsonNumber(options.epsilon));
    text.Add("delta", JsonNumber(options.delta));
    for (int i = 0; i < continued.options->count; ++i)
        if (!IsAmong(kOfOneCall, continued.options->keys[i]))
            text.Add(continued.options->keys[i], JsonText(continued.options->items[i]));
    update.Add("version", std::to_string(continued.version));
    for (int i = 0; i < json.count; ++i)
        update.Add(json.keys[i], JsonText(json.items[i]));
    text.Add(kUpdate, update.Object());
    return text.Object();
}

}  // namespace

TrainingOptions UpdateOptions(const ContinuedModel& continued, const JsonValue& json,
                              const PrivacyArguments& privacy, const MethodList& methods) {
    const MethodInfo* const method = MethodOf(continued, methods);
    RefuseFixed(json);
    TrainingOptions options = ParseOptions(json, privacy, MethodList(&method, 1));
    options.update = std::move(options.given);
    options.given = StoredOptions(*continued.options, *method);
    options.text = TextOf(continued, json, options);
    return options;
}

TargetRule ContinuedTarget(const ContinuedModel& continued, const PublicColumn& column, bool governed) {
    const TargetSpec& target = continued.model->target();
    TrainingOptions options;
    if (target.task() == Task::kRegression) {
        Domain range;
        range.kind = DomainKind::kRange;
        range.lower = target.lower();
        range.upper = target.upper();
        options.task = TaskOption::kRegression;
        options.target_range = range;
    } else if (target.task() == Task::kBinary) {
        options.task = TaskOption::kClassification;
        options.positive = continued.positive;
    } else {
        throw Error(ErrorCode::kUnsupported, "models of several classes cannot be updated", {},
                    "Train the next version from the start, with dpboost_train_on.");
    }
    TargetRule rule = EncodeTarget(column, options, governed);
    rule.spec = target;
    return rule;
}

FeatureEncodings ContinuedFeatures(const ContinuedModel& continued, const std::vector<PublicColumn>& columns,
                                   bool governed) {
    FeatureEncodings encodings;
    encodings.specs = continued.model->features();
    CheckInternal(columns.size() == encodings.specs.size(), "an update has the columns of its model");
    for (size_t i = 0; governed && i < columns.size(); ++i)
        RequireWithinDeclared(columns[i], encodings.specs[i]);
    return encodings;
}

void CheckGrowth(const Model& model, const Footprint& footprint) {
    // At the most, of a method that decides by its own noisy results.
    constexpr uint64_t kUnstatedTrees = 16;
    uint64_t leaves = std::max(footprint.trees, kUnstatedTrees) << footprint.depth;
    for (const Tree& tree : model.trees())
        leaves += tree.leaf_count();
    if (leaves > kMaxModelLeaves)
        throw Error(ErrorCode::kLimitExceeded, "the model would be too large",
                    "With the trees of this update it would have more than " +
                        std::to_string(kMaxModelLeaves) + " leaves.",
                    "Train the next version from the start, with dpboost_train_on.");
}

}  // namespace dpboost
