#include "training/columns.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "training/private_bounds.h"

namespace dpboost {

namespace {

std::string Printed(const Domain& range) {
    return "[" + JsonNumber(range.lower) + ", " + JsonNumber(range.upper) + "]";
}

// On a table with a privacy budget the options may only narrow what its owner declared.
void RequireNarrower(const std::string& name, const Domain& wanted, const Domain& declared) {
    std::string detail;
    if (wanted.kind == DomainKind::kRange && declared.kind == DomainKind::kRange &&
        (wanted.lower < declared.lower || wanted.upper > declared.upper))
        detail = "The call says " + Printed(wanted) + ", the table says " + Printed(declared) + ".";
    if (wanted.kind == DomainKind::kLevels && declared.kind == DomainKind::kLevels) {
        const std::unordered_set<std::string_view> known(declared.levels.begin(), declared.levels.end());
        for (const std::string& level : wanted.levels)
            if (detail.empty() && known.count(level) == 0)
                detail = "Level " + Quoted(Start(level, 80)) + " is not among the declared ones.";
    }
    if (!detail.empty())
        throw Error(ErrorCode::kInvalidParameter,
                    "bounds of column " + Quoted(name) + " are wider than declared", detail,
                    "On a table with a privacy budget, options may only narrow what its owner declared.");
}

[[noreturn]] void RefuseMissingRange(const std::string& name) {
    throw Error(ErrorCode::kInvalidParameter, "column " + Quoted(name) + " has no public range",
                "A range that was read from the rows would tell about people.",
                "Give it in the options as {\"bounds\": {\"" + name +
                    "\": [lower, upper]}}, declare it with dpboost_set_domain or a CHECK constraint, or say "
                    "{\"bounds\": \"private\"} to spend a share of epsilon on finding it.");
}

[[noreturn]] void RefuseForm(const std::string& name, const char* detail) {
    throw Error(ErrorCode::kInvalidParameter, "invalid bounds for column " + Quoted(name), detail);
}

// The domain that counts: what the options say about this column, what is declared, what the options say about all.
const Domain& DomainOf(const PublicColumn& column, const Domain* bounds, const TrainingOptions& options) {
    if (bounds != nullptr)
        return *bounds;
    const bool declared = column.domain.kind == DomainKind::kRange;
    return !declared && options.bounds.all ? *options.bounds.all : column.domain;
}

FeatureSpec EncodeNumber(const PublicColumn& column, const Domain* bounds, const TrainingOptions& options,
                         bool governed, bool* find_private) {
    if (bounds != nullptr && bounds->kind == DomainKind::kLevels)
        RefuseForm(column.name,
                   "A list of levels is for text, enums and booleans; this column holds numbers.");
    const Domain& domain = DomainOf(column, bounds, options);
    *find_private = domain.kind == DomainKind::kPrivate;
    if (*find_private)
        return AnyNumberSpec(column.name);
    if (domain.kind != DomainKind::kRange)
        RefuseMissingRange(column.name);
    if (governed)
        RequireNarrower(column.name, domain, column.domain);
    return EncodeRange(column, domain, options.bins);
}

FeatureSpec EncodeText(const PublicColumn& column, const Domain* bounds, bool governed) {
    if (bounds != nullptr && bounds->kind == DomainKind::kRange)
        RefuseForm(column.name, "A range is for numbers; this column holds text.");
    if (bounds != nullptr && governed)
        RequireNarrower(column.name, *bounds, column.domain);
    const Domain& domain = bounds != nullptr && bounds->kind == DomainKind::kLevels ? *bounds : column.domain;
    return domain.kind == DomainKind::kLevels && !domain.levels.empty()
               ? FeatureSpec::Levels(column.name, domain.levels)
               : FeatureSpec::Hashed(column.name);
}

FeatureSpec EncodeBoolean(const PublicColumn& column, const Domain* bounds) {
    if (bounds != nullptr && bounds->kind == DomainKind::kLevels)
        for (const std::string& level : bounds->levels)
            if (level != "true" && level != "false")
                RefuseForm(column.name, "The levels of a boolean are \"true\" and \"false\".");
    return FeatureSpec::Boolean(column.name);
}

// A key in "bounds" that names no column is a mistake that would otherwise go unnoticed.
void CheckBoundsNames(const std::vector<PublicColumn>& columns, const BoundsOption& bounds,
                      const std::string& target) {
    std::vector<std::string> names{target};
    for (const PublicColumn& column : columns)
        names.push_back(column.name);
    const std::unordered_set<std::string_view> known(names.begin(), names.end());
    for (const auto& entry : bounds.named)
        if (known.count(entry.first) == 0)
            throw Error(ErrorCode::kInvalidParameter,
                        "bounds name " + Quoted(entry.first) + ", which is no feature of this training", {},
                        NearestHint(entry.first, names));
    if (!bounds.listed.empty() && bounds.listed.size() != columns.size())
        throw Error(ErrorCode::kInvalidParameter,
                    "bounds are listed for " + std::to_string(bounds.listed.size()) +
                        " features, but there are " + std::to_string(columns.size()));
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
                    "dpboost_set_domain or a CHECK constraint.");
    if (governed)
        RequireNarrower(column.name, *range, column.domain);
    return {TargetSpec::Regression(range->lower, range->upper), true, {}};
}

void CheckPositiveLevel(const PublicColumn& column, const std::string& positive) {
    const std::vector<std::string>& levels = column.domain.levels;
    if (column.domain.kind != DomainKind::kLevels ||
        std::find(levels.begin(), levels.end(), positive) != levels.end())
        return;
    constexpr size_t kShown = 20;
    throw Error(ErrorCode::kInvalidParameter, "option \"positive\" must be one of the target's levels",
                "It is " + Quoted(positive) + "; the levels of " + Quoted(column.name) + " are " +
                    QuotedList({levels.begin(), levels.begin() + std::min(levels.size(), kShown)}) +
                    (levels.size() > kShown ? ", ..." : "."));
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
    } else {
        if (!options.positive)
            throw Error(ErrorCode::kInvalidParameter, "option \"positive\" is missing",
                        "Target " + Quoted(column.name) +
                            " holds text, and one of its values must be the positive class.",
                        "Add it to the options, for example {\"positive\": \"yes\"}.");
        CheckPositiveLevel(column, rule.positive);
    }
    return rule;
}

}  // namespace

FeatureSpec EncodeRange(const PublicColumn& column, const Domain& range, uint32_t bins) {
    NumericRange numeric;
    numeric.lower = range.lower;
    numeric.upper = range.upper;
    numeric.scale = range.scale;
    numeric.bins = bins;
    numeric.integer = IsWhole(column.kind) || column.kind == ValueKind::kDate;
    return FeatureSpec::Numeric(column.name, numeric);
}

FeatureEncodings EncodeFeatures(const std::vector<PublicColumn>& columns, const TrainingOptions& options,
                                bool governed, const std::string& target) {
    if (columns.empty())
        throw Error(ErrorCode::kInvalidParameter, "there is no feature to train on");
    CheckBoundsNames(columns, options.bounds, target);
    FeatureEncodings result;
    for (size_t i = 0; i < columns.size(); ++i) {
        const PublicColumn& column = columns[i];
        const Domain* bounds = options.bounds.Find(column.name, i);
        bool find_private = false;
        if (IsNumber(column.kind))
            result.specs.push_back(EncodeNumber(column, bounds, options, governed, &find_private));
        else if (column.kind == ValueKind::kBoolean)
            result.specs.push_back(EncodeBoolean(column, bounds));
        else
            result.specs.push_back(EncodeText(column, bounds, governed));
        if (find_private)
            result.find_private.push_back(i);
    }
    return result;
}

TargetRule EncodeTarget(const PublicColumn& column, const TrainingOptions& options, bool governed) {
    TaskOption task = options.task;
    if (task == TaskOption::kUnset)
        task = IsNumber(column.kind) && !options.positive ? TaskOption::kRegression
                                                          : TaskOption::kClassification;
    if (task == TaskOption::kRegression && options.positive)
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" is for classification only");
    if (task == TaskOption::kClassification && options.target_range)
        throw Error(ErrorCode::kInvalidParameter, "option \"target_range\" is for regression only");
    return task == TaskOption::kRegression ? RegressionRule(column, options, governed)
                                           : ClassificationRule(column, options);
}

}  // namespace dpboost
