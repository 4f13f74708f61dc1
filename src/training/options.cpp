// The error texts quote the call only, which is public.
#include "training/options.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dpboost {

namespace {

constexpr const char* kTaskNames[] = {"regression", "classification"};

constexpr OptionRow kEpsilon =
    NumberAbove<&TrainingOptions::epsilon>("epsilon", 0, 100, "privacy loss; it has no default");
constexpr OptionRow kDelta =
    NumberAbove<&TrainingOptions::delta>("delta", 0, 1e-3, "chance that the promise fails; default 1e-6");
constexpr OptionRow kPureDelta = Number<&TrainingOptions::delta>(
    "delta", 0, 1e-3,
    "chance that the promise fails; default 1e-6; the methods pure_... allow 0, their default");

constexpr OptionRow kRows[] = {
    kEpsilon,
    kPureDelta,
    Form("method", "one of the view dpboost_methods",
         "how to train; default \"auto\", or \"sbdt\" if an option is given that \"auto\" does not have"),
    Word<&TrainingOptions::task>("task", kTaskNames, "default: what the target's type suggests"),
    Form("target_range", "[lower, upper] with lower below upper", "range of a numeric target"),
    Form("positive", "the label of the positive class",
         "positive class of a text, enum, number or boolean target"),
    Form("classes", "an array of 3 to 64 labels",
         "labels of a target with more than two classes; others are left out"),
    Form("bounds", "an object, an array or \"private\"", "what is public about columns: see below"),
    Whole<&TrainingOptions::bins>("bins", 2, 4096, "bins of a numeric column"),
    Whole<&TrainingOptions::hash_buckets>("hash_buckets", 2, 65534,
                                          "buckets of a text column without a list of levels; default 512"),
    Form("deploy", "true or false", "whether the new version goes live at once; default true"),
    Number<&TrainingOptions::holdout>(
        "holdout", 0.1, 0.5,
        "part of the people that is set aside to evaluate the model, at no further cost"),
    Number<&TrainingOptions::active_share>(
        "active_share", 0.001, 0.5,
        "part of the privacy that buys a noisy count of the people who take part"),
    NumberAbove<&TrainingOptions::evaluate>(
        "evaluate", 0, 100, "`dpboost_estimate` only: epsilon of a later `dpboost_evaluate`, to see both"),
    Number<&TrainingOptions::old_weight>("old_weight", 0, 1,
                                         "`dpboost_update` only: how much the old model counts; default: "
                                         "what leaves least noise, at most 0.7"),
};

// What other libraries call an option of ours.
struct Alias {
    const char* name;
    const char* ours;  // null: there is none on purpose
    const char* why = nullptr;
};
constexpr char kNoSeed[] = "There is no seed: whoever knows the seed can take the noise away.";
constexpr char kNoStopping[] =
    "There is no early stopping: what is planned is charged, and looking at other rows would cost more.";
constexpr char kColumns[] =
    "Which columns to train on is said by the call: features => ARRAY['age', 'sex'], or the arguments after "
    "the "
    "target.";
constexpr Alias kKeyAliases[] = {
    {"n_estimators", "trees"},
    {"num_trees", "trees"},
    {"num_boost_round", "trees"},
    {"max_depth", "depth"},
    {"eta", "learning_rate"},
    {"shrinkage", "learning_rate"},
    {"eps", "epsilon"},
    {"lambda", "l2"},
    {"reg_lambda", "l2"},
    {"max_bin", "bins"},
    {"pos_label", "positive"},
    {"labels", "classes"},
    {"seed", nullptr, kNoSeed},
    {"random_state", nullptr, kNoSeed},
    {"random_seed", nullptr, kNoSeed},
    {"sample_weight", "weight"},
    {"weights", "weight"},
    {"scale_pos_weight", "class_weights"},
    {"class_weight", "class_weights"},
    {"monotone_constraints", "monotone"},
    {"early_stopping_rounds", nullptr, kNoStopping},
    {"early_stopping", nullptr, kNoStopping},
    {"columns", nullptr, kColumns},
    {"feature_names", nullptr, kColumns},
};
constexpr Alias kMethodAliases[] = {{"dpboost", "pure_trees"},
                                    {"dpboost_sums", "pure_sums"},
                                    {"dpboost_seq", "pure_seq"},
                                    {"dpboost_para", "pure_para"}};

template <size_t count>
const Alias* FindAlias(const Alias (&aliases)[count], const std::string& name) {
    for (const Alias& alias : aliases)
        if (name == alias.name)
            return &alias;
    return nullptr;
}

// ---- keys ----

// Lists what the call's method takes: fifty keys of all methods would hide the one that was meant.
[[noreturn]] void RefuseKey(const std::string& key, const JsonValue& json, const MethodList& methods) {
    const JsonValue* const named = json.Find("method");
    const MethodInfo* method = named != nullptr && named->kind == JsonValue::kString
                                   ? methods.Find(std::string(named->view()))
                                   : nullptr;
    if (method == nullptr)
        method = methods.Default({});
    std::vector<std::string> keys, all;
    for (const OptionRow& row : kRows)
        keys.emplace_back(row.key);
    all = keys;
    for (const OptionRow& row : method->options)
        keys.emplace_back(row.key);
    for (std::string& own : methods.Keys())
        all.push_back(std::move(own));
    std::string hint = NearestHint(key, all);
    if (const Alias* alias = FindAlias(kKeyAliases, key))
        hint = alias->ours == nullptr ? alias->why : "It is called " + Quoted(alias->ours) + " here.";
    throw Error(ErrorCode::kInvalidParameter, "unrecognized option " + Quoted(key),
                "The options of method " + Quoted(method->name) + " are " + Listed(keys) +
                    "; dpboost_methods has those of others.",
                hint);
}

// The option is about trees; a list is meant for the argument of that name.
void RefuseColumns(const JsonValue& json, const MethodInfo& method) {
    const JsonValue* const value = json.Find("features");
    if (value == nullptr || value->kind != JsonValue::kArray)
        return;
    const OptionRow* const row = method.options.Find("features");
    throw Error(ErrorCode::kInvalidParameter,
                row != nullptr ? "option \"features\" must be " + Allowed(*row)
                               : "option \"features\" does not list columns",
                "It is " + Shown(*value) + ".", kColumns);
}

// An option without effect is a misunderstanding that should not go unnoticed.
void RefuseUnused(const TrainingOptions& options, const MethodList& methods, bool named) {
    for (const GivenOption& option : options.given)
        if (options.method->options.Find(option.key) == nullptr)
            throw Error(
                ErrorCode::kInvalidParameter,
                "option " + Quoted(option.key) + " is not used by method " + Quoted(options.method->name),
                "Methods that use it: " + QuotedList(methods.NamesWith(option.key)) + ".",
                named ? ""
                      : "Name one of them in the option \"method\"; without it the method is \"auto\", or "
                        "\"sbdt\" for an option that \"auto\" does not have.");
}

// Names the methods that take a value which this one does not.
void CheckValues(const TrainingOptions& options, const MethodList& methods) {
    for (const GivenOption& option : options.given) {
        const OptionRow& row = *options.method->options.Find(option.key);
        std::vector<std::string> others;
        for (const MethodInfo* method : methods)
            if (const OptionRow* other = method->options.Find(option.key); other != nullptr)
                if (!Accepts(row, option) && Accepts(*other, option))
                    others.emplace_back(method->name);
        if (!others.empty())
            throw Error(ErrorCode::kInvalidParameter,
                        "option " + Quoted(row.key) + " must be " + Allowed(row) + " for method " +
                            Quoted(options.method->name),
                        "It is " + option.shown + ".", "Methods that take it: " + QuotedList(others) + ".");
    }
    options.method->options.Check(options.given);
}

// ---- values ----

void CheckObject(const JsonValue& json) {
    if (json.kind != JsonValue::kObject)
        throw Error(ErrorCode::kInvalidParameter, "options must be a JSON object",
                    "They are " + Shown(json) + ".");
}

[[noreturn]] void RefuseForm(const char* key, const JsonValue& value) {
    RefuseOption(key, Allowed(*CommonOptions().Find(key)), "It is " + Shown(value) + ".");
}

const MethodInfo* ReadMethod(const JsonValue& value, const MethodList& methods) {
    const std::string name(value.kind == JsonValue::kString ? value.view() : "");
    if (const MethodInfo* method = methods.Find(name))
        return method;
    const Alias* alias = FindAlias(kMethodAliases, name);
    throw Error(ErrorCode::kInvalidParameter,
                "option \"method\" must be one of " + QuotedList(methods.Names()),
                "It is " + Shown(value) + ".",
                alias != nullptr ? "It is called " + Quoted(alias->ours) + " now."
                : !NearestHint(name, methods.Names()).empty()
                    ? NearestHint(name, methods.Names())
                    : "Without it the method is \"auto\", which needs no "
                      "tuning; dpboost_methods says what the others are for.");
}

Domain ReadTargetRange(const JsonValue& value) {
    Domain range;
    try {
        range = ReadDomain("target_range", value);
    } catch (const Error&) {
    }
    if (range.kind != DomainKind::kRange || value.count != 2)
        RefuseForm("target_range", value);
    return range;
}

std::vector<std::string> ReadClasses(const JsonValue& value) {
    std::vector<std::string> classes;
    for (int i = 0; value.kind == JsonValue::kArray && i < value.count; ++i)
        if (value.items[i].kind == JsonValue::kString || value.items[i].kind == JsonValue::kNumber)
            classes.emplace_back(value.items[i].view());
    const std::set<std::string_view> different(classes.begin(), classes.end());
    if (value.kind == JsonValue::kArray && value.count == 2)
        throw Error(ErrorCode::kInvalidParameter, "option \"classes\" must be an array of 3 to 64 labels",
                    "It has two.", "Of two classes, name one in the option \"positive\".");
    if (classes.size() < kMinClasses || classes.size() > kMaxClasses ||
        classes.size() != static_cast<size_t>(value.count) || different.size() != classes.size())
        RefuseForm("classes", value);
    return classes;
}

bool ReadTruth(const char* key, const JsonValue& value) {
    if (value.kind != JsonValue::kBoolean)
        RefuseForm(key, value);
    return value.boolean;
}

void ReadForm(const std::string& key, const JsonValue& value, const MethodList& methods,
              TrainingOptions* options) {
    if (key == "method")
        options->method = ReadMethod(value, methods);
    else if (key == "target_range")
        options->target_range = ReadTargetRange(value);
    else if (key == "positive")
        options->positive = ReadPositive(value);
    else if (key == "classes")
        options->classes = ReadClasses(value);
    else if (key == "deploy")
        options->deploy = ReadTruth(key.c_str(), value);
    else
        options->bounds = ReadBounds(value);
}

// ---- epsilon and delta ----

// A number of the options or, if `json` is null, an argument.
double ReadPrivacyNumber(const OptionRow& row, const JsonValue* json, double argument) {
    GivenOption given;
    if (json != nullptr) {
        given = GivenFrom(row.key, *json);
    } else {
        given.kind = GivenOption::kNumber;
        given.number = argument;
        given.shown = Printed(argument);
    }
    if (Accepts(row, given))
        return given.number;
    throw Error(ErrorCode::kInvalidParameter,
                (json != nullptr ? "option " + Quoted(row.key) : row.key) + " must be " + Allowed(row),
                "It is " + given.shown + ".",
                row.key == std::string("delta") ? "Delta is the chance that the promise fails; keep it far "
                                                  "below one over the number of people."
                                                : "");
}

void ReadPrivacy(const JsonValue& json, const PrivacyArguments& arguments, TrainingOptions* options) {
    const JsonValue* epsilon = json.Find("epsilon");
    const JsonValue* delta = json.Find("delta");
    const bool pure = options->method->pure;
    if (arguments.given && (epsilon != nullptr || delta != nullptr))
        throw Error(ErrorCode::kInvalidParameter, std::string(epsilon != nullptr ? "epsilon" : "delta") +
                                                      " must be given as an argument here, not as an option");
    if (!arguments.given && epsilon == nullptr)
        throw Error(ErrorCode::kInvalidParameter, "option \"epsilon\" is missing",
                    "Epsilon says how much privacy the training may cost, so it has no default.",
                    "Add it to the options, for example {\"epsilon\": 0.5}.");
    options->epsilon = ReadPrivacyNumber(kEpsilon, epsilon, arguments.epsilon);
    const double given = arguments.delta.value_or(pure ? 0 : options->delta);
    if (!pure && (delta != nullptr ? delta->kind == JsonValue::kNumber && delta->number == 0 : given == 0))
        throw Error(ErrorCode::kUnsupported,
                    "method " + Quoted(options->method->name) + " needs a delta above 0",
                    "Its noise is Gaussian, which has no pure differential privacy.",
                    "Give a delta such as 1e-6, or choose method \"pure_trees\".");
    options->delta = ReadPrivacyNumber(pure ? kPureDelta : kDelta, delta, given);
}

// Of options that were accepted, so nested no deeper than bounds are.
std::string TextOf(const JsonValue& json, const TrainingOptions& options) {
    JsonList list;
    list.Add(kEpsilon.key, JsonNumber(options.epsilon));
    list.Add(kDelta.key, JsonNumber(options.delta));
    for (int i = 0; i < json.count; ++i)
        if (json.keys[i] != std::string_view(kEpsilon.key) && json.keys[i] != std::string_view(kDelta.key))
            list.Add(json.keys[i], JsonText(json.items[i]));
    return list.Object();
}

}  // namespace

GivenOption GivenFrom(const char* key, const JsonValue& value) {
    GivenOption given;
    given.key = key;
    given.shown = Shown(value);
    if (value.kind == JsonValue::kNumber) {
        given.kind = GivenOption::kNumber;
        given.number = value.number;
    } else if (value.kind == JsonValue::kString) {
        given.kind = GivenOption::kText;
        given.text = value.view();
    } else if (value.kind == JsonValue::kBoolean) {
        given.kind = GivenOption::kTruth;
        given.number = value.boolean ? 1 : 0;
    } else if (value.kind == JsonValue::kObject &&
               std::all_of(value.items, value.items + value.count,
                           [](const JsonValue& item) { return item.kind == JsonValue::kNumber; })) {
        given.kind = GivenOption::kNumbers;
        for (int i = 0; i < value.count; ++i)
            given.numbers.emplace_back(value.keys[i], value.items[i].number);
    }
    return given;
}

std::string ReadPositive(const JsonValue& value) {
    if (value.kind == JsonValue::kString || value.kind == JsonValue::kNumber)
        return std::string(value.view());
    if (value.kind != JsonValue::kBoolean)
        RefuseForm("positive", value);
    return value.boolean ? "true" : "false";
}

void ReadTable(const OptionTable& table, const JsonValue& json, void* options) {
    CheckObject(json);
    std::vector<GivenOption> given;
    for (int i = 0; i < json.count; ++i) {
        const OptionRow* const row = table.Find(json.keys[i]);
        std::vector<std::string> keys;
        for (const OptionRow& known : table)
            keys.emplace_back(known.key);
        if (row == nullptr)
            throw Error(ErrorCode::kInvalidParameter, "unrecognized option " + Quoted(json.keys[i]),
                        "The options are " + Listed(keys) + ".", NearestHint(json.keys[i], keys));
        if (row->kind != OptionRow::kForm)
            given.push_back(GivenFrom(row->key, json.items[i]));
    }
    table.Apply(given, options);
}

OptionTable CommonOptions() {
    return kRows;
}

std::string DescribeOptions(const OptionTable& table) {
    JsonList list;
    for (const OptionRow& row : table) {
        JsonList option;
        option.Add("option", JsonString(row.key));
        option.Add("values", JsonString(Allowed(row)));
        option.Add("meaning", JsonString(row.help));
        list.Append(option.Object());
    }
    return list.Array();
}

TrainingOptions ParseOptions(const JsonValue& json, const PrivacyArguments& privacy,
                             const MethodList& methods) {
    CheckObject(json);
    TrainingOptions options;
    std::vector<GivenOption> common;
    for (int i = 0; i < json.count; ++i) {
        const OptionRow* const row = CommonOptions().Find(json.keys[i]);
        if (row == nullptr && methods.NamesWith(json.keys[i]).empty())
            RefuseKey(json.keys[i], json, methods);
        if (row == nullptr)
            options.given.push_back(GivenFrom(json.keys[i], json.items[i]));
        else if (row->kind == OptionRow::kForm)
            ReadForm(row->key, json.items[i], methods, &options);
        else if (row->key != std::string_view(kEpsilon.key) && row->key != std::string_view(kDelta.key))
            common.push_back(GivenFrom(row->key, json.items[i]));
    }
    const bool named = options.method != nullptr;
    if (!named)
        options.method = methods.Default(options.given);
    RefuseColumns(json, *options.method);
    RefuseUnused(options, methods, named);
    CommonOptions().Apply(common, &options);
    CheckValues(options, methods);
    ReadPrivacy(json, privacy, &options);
    options.text = TextOf(json, options);
    return options;
}

}  // namespace dpboost
