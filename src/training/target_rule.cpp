// How a target's values become labels: as a number in its range, as one class against the others, or as several.
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "training/column_rules.h"

namespace dpboost {
namespace {

// Of methods that have the option; others have refused it.
bool HasLogTarget(const TrainingOptions& options) {
    return std::any_of(options.given.begin(), options.given.end(), [](const GivenOption& option) {
        return option.key == "target_scale" && option.text == "log";
    });
}

TargetRule RegressionRule(const PublicColumn& column, const TrainingOptions& options, bool governed) {
    if (column.kind == ValueKind::kBoolean)
        return {TargetSpec::Regression(0, 1), true, {}};
    if (!IsNumber(column.kind))
        throw Error(ErrorCode::kWrongType, "regression needs a numeric target",
                    "Target " + Quoted(column.name) + " holds text.",
                    "Use {\"task\": \"classification\", \"positive\": ...}.");
    const Domain* range = options.bounds.Find(column.name, static_cast<size_t>(-1));
    if (options.target_range)
        range = &*options.target_range;
    else if (range == nullptr || range->kind != DomainKind::kRange)
        range = &column.domain;
    if (range->kind != DomainKind::kRange)
        throw Error(ErrorCode::kInvalidParameter, "target " + Quoted(column.name) + " has no public range",
                    "A range that was read from the rows would tell about people.",
                    "Give it in the options as {\"target_range\": [lower, upper]}, or declare it with "
                    "dpboost_set_domain or a CHECK constraint. To learn whether it is 1, say {\"task\": "
                    "\"classification\"}, and {\"positive\": ...} for another value.");
    if (governed)
        RequireNarrower(column, *range);
    return {HasLogTarget(options) ? TargetSpec::Logarithmic(range->lower, range->upper)
                                  : TargetSpec::Regression(range->lower, range->upper),
            true,
            {}};
}

// Whether a class of the call is among the declared ones: numbers by their value.
bool IsLevel(const PublicColumn& column, const std::string& label) {
    const double number = IsNumber(column.kind) ? strtod(label.c_str(), nullptr) : 0;
    const std::vector<std::string>& levels = column.domain.levels;
    return std::any_of(levels.begin(), levels.end(), [&](const std::string& level) {
        return IsNumber(column.kind) ? strtod(level.c_str(), nullptr) == number : level == label;
    });
}

std::string LevelsOf(const PublicColumn& column) {
    constexpr size_t kShown = 20;
    const std::vector<std::string>& levels = column.domain.levels;
    return "the levels of " + Quoted(column.name) + " are " +
           QuotedList({levels.begin(), levels.begin() + std::min(levels.size(), kShown)}) +
           (levels.size() > kShown ? ", ..." : ".");
}

// A label that no row can have would train on negatives alone, at the full price.
void CheckPositiveLevel(const PublicColumn& column, const std::string& positive) {
    const double number = IsNumber(column.kind) ? strtod(positive.c_str(), nullptr) : 0;
    if (column.domain.kind == DomainKind::kRange && IsNumber(column.kind) &&
        (number < column.domain.lower || number > column.domain.upper))
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" must lie in the target's range",
                    "It is " + Quoted(positive) + "; the range of " + Quoted(column.name) + " is " +
                        PrintedRange(column.kind, column.domain) + ".");
    if (column.domain.kind == DomainKind::kLevels && !IsLevel(column, positive))
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" must be one of the target's levels",
                    "It is " + Quoted(positive) + "; " + LevelsOf(column),
                    NearestHint(positive, column.domain.levels));
}

// Likewise, a class of its own that no row can have.
void CheckClassLevels(const PublicColumn& column, const std::vector<std::string>& classes) {
    for (const std::string& label : classes)
        if (column.domain.kind == DomainKind::kLevels && !IsLevel(column, label))
            throw Error(ErrorCode::kInvalidParameter, "option \"classes\" must list levels of the target",
                        "It has " + Quoted(Start(label, 80)) + "; " + LevelsOf(column),
                        NearestHint(label, column.domain.levels));
}

// What the other class of two is called: as declared, or that it is not the positive one.
std::string NegativeName(const PublicColumn& column, const std::string& positive) {
    if (column.kind == ValueKind::kBoolean)
        return positive == "true" ? "false" : "true";
    const std::vector<std::string>& levels = column.domain.levels;
    if (column.domain.kind == DomainKind::kLevels && levels.size() == 2 &&
        (levels[0] == positive || levels[1] == positive))
        return levels[levels[0] == positive ? 1 : 0];
    return "not " + positive;
}

TargetRule ClassificationRule(const PublicColumn& column, const TrainingOptions& options) {
    TargetRule rule{TargetSpec::Binary(), false, options.positive.value_or("")};
    if (column.kind == ValueKind::kBoolean) {
        if (!options.positive)
            rule.positive = "true";
        if (rule.positive != "true" && rule.positive != "false")
            throw Error(ErrorCode::kInvalidParameter,
                        "option \"positive\" must be true or false for a boolean target");
    } else if (IsNumber(column.kind)) {
        if (!options.positive)
            rule.positive = "1";
        char* end = nullptr;
        strtod(rule.positive.c_str(), &end);
        if (rule.positive.empty() || *end != '\0')
            throw Error(ErrorCode::kInvalidParameter,
                        "option \"positive\" must be a number for a numeric target");
        CheckPositiveLevel(column, rule.positive);
    } else {
        if (!options.positive)
            throw Error(
                ErrorCode::kInvalidParameter, "option \"positive\" is missing",
                "Target " + Quoted(column.name) +
                    " holds text; a model tells one class, the positive one, from all others.",
                "Add it to the options, for example {\"positive\": \"yes\"}; or, of three classes and "
                "more, list them in \"classes\".");
        CheckPositiveLevel(column, rule.positive);
    }
    rule.undeclared = column.kind != ValueKind::kBoolean && column.domain.kind != DomainKind::kLevels;
    rule.spec = TargetSpec::Binary(NegativeName(column, rule.positive), rule.positive);
    return rule;
}

// The classes of a target with more than two: as the call lists them, or all that is declared. Empty if there are none.
std::vector<std::string> ListedClasses(const PublicColumn& column, const TrainingOptions& options,
                                       bool governed) {
    Domain wanted;
    wanted.kind = DomainKind::kLevels;
    const Domain* const bounds = options.bounds.Find(column.name, static_cast<size_t>(-1));
    if (!options.classes.empty())
        wanted.levels = options.classes;
    else if (bounds != nullptr && bounds->kind == DomainKind::kLevels)
        wanted = *bounds;
    else if (column.domain.kind == DomainKind::kLevels)
        wanted = column.domain;
    CheckClassLevels(column, options.classes);
    if (wanted.levels.size() < kMinClasses)
        return {};
    if (wanted.levels.size() > kMaxClasses)
        throw Error(ErrorCode::kInvalidParameter, "target " + Quoted(column.name) + " has too many classes",
                    "It has " + std::to_string(wanted.levels.size()) + " levels; " +
                        std::to_string(kMaxClasses) + " can be told apart.",
                    "List some of them in the option \"classes\", or name one in \"positive\".");
    if (governed)
        RequireNarrower(column, wanted);
    return wanted.levels;
}

}  // namespace

TargetRule ClassesRule(const PublicColumn& column, const std::vector<std::string>& classes) {
    const bool whole = IsWhole(column.kind);
    if (column.kind == ValueKind::kBoolean || (IsNumber(column.kind) && !whole))
        throw Error(ErrorCode::kWrongType, "target " + Quoted(column.name) + " cannot have several classes",
                    "Classes are texts, enum labels or integers.");
    Domain domain;
    domain.levels = classes;
    if (whole)
        domain = WholeLevels(column, domain);
    auto encoder = std::make_shared<const Encoder>(FeatureSpec::Levels(column.name, domain.levels));
    const bool undeclared = column.domain.kind != DomainKind::kLevels;
    return {TargetSpec::Classes(domain.levels), false, {}, std::move(encoder), undeclared};
}

TargetRule EncodeTarget(const PublicColumn& column, const TrainingOptions& options, bool governed) {
    TaskOption task = options.task;
    const std::vector<std::string> classes = task == TaskOption::kRegression || options.positive
                                                 ? std::vector<std::string>()
                                                 : ListedClasses(column, options, governed);
    if (task == TaskOption::kUnset)
        task = IsNumber(column.kind) && !options.positive && classes.empty() ? TaskOption::kRegression
                                                                             : TaskOption::kClassification;
    if (!options.classes.empty() && (options.positive || task == TaskOption::kRegression))
        throw Error(ErrorCode::kInvalidParameter,
                    options.positive ? "options \"classes\" and \"positive\" exclude each other"
                                     : "option \"classes\" is for classification only");
    if (task == TaskOption::kRegression && options.positive)
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" is for classification only");
    if (task == TaskOption::kClassification && options.target_range)
        throw Error(ErrorCode::kInvalidParameter, "option \"target_range\" is for regression only");
    if (task == TaskOption::kClassification && HasLogTarget(options))
        throw Error(ErrorCode::kInvalidParameter, "option \"target_scale\" is for regression only");
    if (!classes.empty())
        return ClassesRule(column, classes);
    return task == TaskOption::kRegression ? RegressionRule(column, options, governed)
                                           : ClassificationRule(column, options);
}

}  // namespace dpboost
