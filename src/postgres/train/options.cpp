// Table-driven: a numeric option is one line in kNumberRules, a word option one line in ReadWords. The error
// texts quote the call only, which is public.
#include "postgres/train/options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "postgres/train/methods.h"

namespace dpboost {

namespace {

struct NumberRule {
    const char* key;
    bool whole;
    double lowest;
    double highest;
    bool above_lowest;  // the lowest value itself is refused
    std::optional<double> TrainingOptions::*member;
};

constexpr NumberRule kNumberRules[] = {
    {"trees", true, 1, 100000, false, &TrainingOptions::trees},
    {"depth", true, 1, 10, false, &TrainingOptions::depth},
    {"learning_rate", false, 0, 100000, true, &TrainingOptions::learning_rate},
    {"subsample", false, 0, 1, true, &TrainingOptions::subsample},
    {"gradient_clip", false, 0.001, 10, false, &TrainingOptions::gradient_clip},
    {"hessian_clip", false, 0.001, 1, false, &TrainingOptions::hessian_clip},
    {"hessian_share", false, 0.001, 0.999, false, &TrainingOptions::hessian_share},
    {"initial_share", false, 0, 0.9, false, &TrainingOptions::initial_share},
    {"l2", false, 0, 1e6, false, &TrainingOptions::l2},
    {"leaf_clip", false, 0.001, 1000, false, &TrainingOptions::leaf_clip},
    {"bins", true, 2, 4096, false, &TrainingOptions::bins},
    {"extra_rounds", true, 0, 100000, false, &TrainingOptions::extra_rounds},
    {"candidate_count", true, 1, 1024, false, &TrainingOptions::candidate_count},
    {"hessian_rounds", true, 1, 1000, false, &TrainingOptions::hessian_rounds},
    {"features_per_tree", true, 1, 65535, false, &TrainingOptions::features_per_tree},
    {"batch", true, 0, 100000, false, &TrainingOptions::batch},
    {"sketch_share", false, 0.001, 0.9, false, &TrainingOptions::sketch_share},
    {"selection_share", false, 0.001, 0.99, false, &TrainingOptions::selection_share},
    {"rows_hint", true, 1, 1e12, false, &TrainingOptions::rows_hint},
    {"rounds", true, 1, 100000, false, &TrainingOptions::rounds},
    {"ensembles", true, 1, 10000, false, &TrainingOptions::ensembles},
    {"trees_per_ensemble", true, 1, 1000, false, &TrainingOptions::trees_per_ensemble},
    {"leaf_share", false, 0.01, 0.99, false, &TrainingOptions::leaf_share},
};
constexpr const char* kOtherKeys[] = {"epsilon", "delta",    "method",    "task", "target_range", "positive",
                                      "bounds",  "features", "structure", "leaf", "candidates",   "loss"};
constexpr double kHighestEpsilon = 100;
constexpr double kHighestDelta = 1e-3;

// Old words of the parts; a method's own table has those of now.
constexpr const char* kStructureNames[] = {"totally_random", "partially_random", "noisy_histogram",
                                           "exponential"};
constexpr const char* kLeafNames[] = {"averaging", "gradient", "newton"};
constexpr const char* kCandidateNames[] = {"uniform", "log", "iterative_hessian", "whole_range"};
constexpr const char* kFeatureNames[] = {"all", "cyclic", "random"};

// A value of the call, as an error message shows it.
std::string Shown(const JsonValue& value) {
    switch (value.kind) {
        case JsonValue::kNull:
            return "null";
        case JsonValue::kBoolean:
            return value.boolean ? "true" : "false";
        case JsonValue::kNumber:
            return std::string(value.view().substr(0, 40));
        case JsonValue::kString:
            return "the string " + Quoted(value.view().substr(0, 80));
        case JsonValue::kArray:
            return "an array of " + std::to_string(value.count) + " items";
        case JsonValue::kObject:
            return "an object";
    }
    return "?";
}

[[noreturn]] void RefuseValue(const std::string& key, const std::string& allowed, const JsonValue& value) {
    throw Error(ErrorCode::kInvalidParameter, "option " + Quoted(key) + " must be " + allowed,
                "It is " + Shown(value) + ".");
}

std::string Allowed(const NumberRule& rule) {
    std::string text = rule.whole ? "a whole number " : "a number ";
    if (rule.above_lowest)
        return text + "above " + Printed(rule.lowest) + " and at most " + Printed(rule.highest);
    return text + "from " + Printed(rule.lowest) + " to " + Printed(rule.highest);
}

double ReadNumber(const NumberRule& rule, const JsonValue& value) {
    const double number = value.number;
    const bool fits = value.kind == JsonValue::kNumber && std::isfinite(number) &&
                      (rule.above_lowest ? number > rule.lowest : number >= rule.lowest) &&
                      number <= rule.highest && (!rule.whole || number == std::floor(number));
    if (!fits)
        RefuseValue(rule.key, Allowed(rule), value);
    return number;
}

std::string ReadWord(const char* key, const std::vector<std::string>& words, const JsonValue& value) {
    std::string allowed;
    for (const std::string& word : words) {
        if (value.kind == JsonValue::kString && value.view() == word)
            return word;
        allowed += (allowed.empty() ? "" : words.size() == 2 ? " or " : ", ") + Quoted(word);
    }
    const std::string near = value.kind == JsonValue::kString ? Nearest(value.view(), words) : std::string();
    throw Error(ErrorCode::kInvalidParameter,
                "option " + Quoted(key) + " must be " + (words.size() > 2 ? "one of " : "") + allowed,
                "It is " + Shown(value) + ".",
                near.empty() ? std::string() : "Perhaps you meant " + Quoted(near) + ".");
}

template <size_t count>
std::vector<std::string> Words(const char* const (&names)[count]) {
    return {std::begin(names), std::end(names)};
}

constexpr char kBoundsForm[] =
    "A column's bounds are [lower, upper], [lower, upper, \"linear\" or \"log\"], a list of levels such as "
    "[\"F\", \"M\"], or \"private\".";

[[noreturn]] void RefuseBounds(const std::string& what, const char* detail) {
    throw Error(ErrorCode::kInvalidParameter, "invalid bounds for " + what, detail, kBoundsForm);
}

ColumnBounds ReadLevels(const std::string& what, const JsonValue& value) {
    ColumnBounds bounds;
    bounds.kind = ColumnBounds::kLevels;
    for (int i = 0; i < value.count; ++i) {
        if (value.items[i].kind != JsonValue::kString)
            RefuseBounds(what, "A list of levels holds strings only.");
        std::string level(value.items[i].view());
        if (std::find(bounds.levels.begin(), bounds.levels.end(), level) != bounds.levels.end())
            RefuseBounds(what, "A level is listed twice.");
        bounds.levels.push_back(std::move(level));
    }
    return bounds;
}

ColumnBounds ReadColumnBounds(const std::string& what, const JsonValue& value) {
    ColumnBounds bounds;
    if (value.kind == JsonValue::kString && value.view() == "private") {
        bounds.kind = ColumnBounds::kPrivate;
        return bounds;
    }
    if (value.kind != JsonValue::kArray || value.count == 0)
        RefuseBounds(what, "The value has another form.");
    if (value.items[0].kind == JsonValue::kString)
        return ReadLevels(what, value);
    const bool numbers = value.count >= 2 && value.items[0].kind == JsonValue::kNumber &&
                         value.items[1].kind == JsonValue::kNumber;
    if (!numbers || value.count > 3)
        RefuseBounds(what, "The value has another form.");
    bounds.lower = value.items[0].number;
    bounds.upper = value.items[1].number;
    if (!std::isfinite(bounds.lower) || !std::isfinite(bounds.upper) || !(bounds.lower < bounds.upper))
        RefuseBounds(what, "The lower bound must be below the upper one, and both finite.");
    if (value.count == 3) {
        const JsonValue& scale = value.items[2];
        if (scale.kind != JsonValue::kString ||
            (scale.view() != "linear" && scale.view() != "log" && scale.view() != "auto"))
            RefuseBounds(what, "The third item names the grid: \"linear\", \"log\" or \"auto\".");
        bounds.scale = scale.view();
    }
    return bounds;
}

BoundsOption ReadBounds(const JsonValue& value) {
    BoundsOption option;
    if (value.kind == JsonValue::kString && value.view() == "private") {
        option.find_private = true;
    } else if (value.kind == JsonValue::kObject) {
        for (int i = 0; i < value.count; ++i)
            option.named.emplace(value.keys[i],
                                 ReadColumnBounds("column " + Quoted(value.keys[i]), value.items[i]));
    } else if (value.kind == JsonValue::kArray && value.count > 0 &&
               value.items[0].kind != JsonValue::kNumber) {
        for (int i = 0; i < value.count; ++i)
            option.listed.push_back(
                ReadColumnBounds("feature number " + std::to_string(i + 1), value.items[i]));
    } else if (value.kind == JsonValue::kArray) {
        option.all = ReadColumnBounds("all columns", value);
    } else {
        RefuseValue("bounds", "an object, an array or \"private\"", value);
    }
    return option;
}

std::pair<double, double> ReadTargetRange(const JsonValue& value) {
    const bool fits = value.kind == JsonValue::kArray && value.count == 2 &&
                      value.items[0].kind == JsonValue::kNumber &&
                      value.items[1].kind == JsonValue::kNumber && std::isfinite(value.items[0].number) &&
                      std::isfinite(value.items[1].number) && value.items[0].number < value.items[1].number;
    if (!fits)
        RefuseValue("target_range", "[lower, upper] with lower below upper", value);
    return {value.items[0].number, value.items[1].number};
}

// The positive class: a string, or a number or boolean as it is written.
std::string ReadPositive(const JsonValue& value) {
    switch (value.kind) {
        case JsonValue::kString:
        case JsonValue::kNumber:
            return std::string(value.view());
        case JsonValue::kBoolean:
            return value.boolean ? "true" : "false";
        default:
            RefuseValue("positive", "the label of the positive class", value);
    }
}

std::vector<std::string> AllKeys() {
    std::vector<std::string> keys(std::begin(kOtherKeys), std::end(kOtherKeys));
    for (const NumberRule& rule : kNumberRules)
        keys.emplace_back(rule.key);
    return keys;
}

[[noreturn]] void RefuseKey(const std::string& key) {
    const std::vector<std::string> keys = AllKeys();
    std::string list;
    for (const std::string& known : keys)
        list += (list.empty() ? "" : ", ") + known;
    const std::string near = Nearest(key, keys);
    throw Error(ErrorCode::kInvalidParameter, "unrecognized option " + Quoted(key),
                "The options are " + list + ".",
                near.empty() ? std::string() : "Perhaps you meant " + Quoted(near) + ".");
}

void KeepValue(const std::string& key, const JsonValue& value, TrainingOptions* options) {
    GivenOption given;
    given.key = key;
    given.kind = value.kind == JsonValue::kNumber ? GivenOption::kNumber : GivenOption::kText;
    given.number = value.number;
    if (given.kind == GivenOption::kText)
        given.text = value.view();
    given.shown = Shown(value);
    options->values.push_back(std::move(given));
}

void ReadOption(const std::string& key, const JsonValue& value, TrainingOptions* options) {
    if (key == "method") {
        options->method = ReadWord("method", MethodNames(), value);
    } else if (key == "task") {
        const std::string task = ReadWord("task", {"regression", "classification"}, value);
        options->task = task == "regression" ? TaskOption::kRegression : TaskOption::kClassification;
    } else if (key == "features") {
        options->features = ReadWord("features", Words(kFeatureNames), value);
        KeepValue(key, value, options);
    } else if (key == "structure") {
        options->structure = ReadWord("structure", Words(kStructureNames), value);
        KeepValue(key, value, options);
    } else if (key == "leaf") {
        options->leaf = ReadWord("leaf", Words(kLeafNames), value);
        KeepValue(key, value, options);
    } else if (key == "candidates") {
        options->candidates = ReadWord("candidates", Words(kCandidateNames), value);
        KeepValue(key, value, options);
    } else if (key == "loss") {
        options->loss = ReadWord("loss", LossNames(), value);
    } else if (key == "target_range") {
        options->target_range = ReadTargetRange(value);
    } else if (key == "positive") {
        options->positive = ReadPositive(value);
    } else if (key == "bounds") {
        options->bounds = ReadBounds(value);
    } else {
        const auto rule = std::find_if(std::begin(kNumberRules), std::end(kNumberRules),
                                       [&](const NumberRule& candidate) { return key == candidate.key; });
        if (rule == std::end(kNumberRules))
            RefuseKey(key);
        options->*(rule->member) = ReadNumber(*rule, value);
        KeepValue(key, value, options);
    }
}

constexpr char kEpsilonAllowed[] = "a number above 0 and at most 100";
constexpr char kDeltaAllowed[] = "a number above 0 and at most 0.001";
constexpr char kPureDeltaAllowed[] = "0, or a number of at most 0.001,";

void CheckPrivacy(double epsilon, double delta, const std::string& method) {
    const bool pure = IsPureMethod(method);
    if (!(epsilon > 0 && epsilon <= kHighestEpsilon))
        throw Error(ErrorCode::kInvalidParameter, std::string("epsilon must be ") + kEpsilonAllowed,
                    "It is " + Printed(epsilon) + ".");
    if (delta == 0 && !pure)
        throw Error(ErrorCode::kUnsupported, "method " + Quoted(method) + " needs a delta above 0",
                    "Its noise is Gaussian, which has no pure differential privacy.",
                    "Give a delta such as 1e-6, or choose method \"pure_trees\".");
    if (!((pure ? delta >= 0 : delta > 0) && delta <= kHighestDelta))
        throw Error(
            ErrorCode::kInvalidParameter,
            std::string("delta must be ") + (pure ? kPureDeltaAllowed : kDeltaAllowed),
            "It is " + Printed(delta) + ".",
            "Delta is the chance that the promise fails; keep it far below one over the number of people.");
}

void ReadPrivacy(const JsonValue& json, const PrivacyArguments& privacy, TrainingOptions* options) {
    const JsonValue* epsilon = json.Find("epsilon");
    const JsonValue* delta = json.Find("delta");
    if (IsPureMethod(options->method))
        options->delta = 0;
    if (privacy.given) {
        if (epsilon != nullptr || delta != nullptr)
            throw Error(ErrorCode::kInvalidParameter,
                        std::string(epsilon != nullptr ? "epsilon" : "delta") +
                            " must be given as an argument here, not as an option");
        options->epsilon = privacy.epsilon;
        options->delta = privacy.delta.value_or(options->delta);
    } else {
        if (epsilon == nullptr)
            throw Error(ErrorCode::kInvalidParameter, "option \"epsilon\" is missing",
                        "Epsilon says how much privacy the training may cost, so it has no default.",
                        "Add it to the options, for example {\"epsilon\": 0.5}.");
        if (epsilon->kind != JsonValue::kNumber)
            RefuseValue("epsilon", kEpsilonAllowed, *epsilon);
        options->epsilon = epsilon->number;
        if (delta != nullptr && delta->kind != JsonValue::kNumber)
            RefuseValue("delta", kDeltaAllowed, *delta);
        if (delta != nullptr)
            options->delta = delta->number;
    }
    CheckPrivacy(options->epsilon, options->delta, options->method);
}

}  // namespace

const ColumnBounds* BoundsOption::Find(const std::string& name, size_t position) const {
    const auto found = named.find(name);
    if (found != named.end())
        return &found->second;
    if (position < listed.size())
        return &listed[position];
    return nullptr;
}

TrainingOptions ParseOptions(const JsonValue& json, const PrivacyArguments& privacy) {
    if (json.kind != JsonValue::kObject)
        throw Error(ErrorCode::kInvalidParameter, "options must be a JSON object",
                    "They are " + Shown(json) + ".");
    TrainingOptions options;
    for (int i = 0; i < json.count; ++i) {
        options.given.emplace_back(json.keys[i]);
        if (options.given.back() != "epsilon" && options.given.back() != "delta")
            ReadOption(options.given.back(), json.items[i], &options);
    }
    if (options.method.empty())
        options.method = DefaultMethod(options);
    ReadPrivacy(json, privacy, &options);
    return options;
}

}  // namespace dpboost
