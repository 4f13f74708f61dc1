#include "postgres/train/public_columns.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "postgres/train/json_text.h"
#include "training/private_bounds.h"

namespace dpboost {

namespace {

std::string Printed(double lower, double upper) {
    return "[" + JsonNumber(lower) + ", " + JsonNumber(upper) + "]";
}

Scale ScaleOf(const std::string& name) {
    return name == "log" ? Scale::kLog : name == "linear" ? Scale::kLinear : Scale::kAuto;
}

Scale ScaleOf(DomainScale scale) {
    return scale == DomainScale::kLog      ? Scale::kLog
           : scale == DomainScale::kLinear ? Scale::kLinear
                                           : Scale::kAuto;
}

std::vector<std::string> LevelsOf(const ColumnDomain& domain) {
    return std::vector<std::string>(domain.levels, domain.levels + domain.level_count);
}

[[noreturn]] void RefuseWider(const std::string& name, const std::string& what) {
    throw Error(ErrorCode::kInvalidParameter, "bounds of column " + Quoted(name) + " are wider than declared",
                what, "On a table with a privacy budget, options may only narrow what its owner declared.");
}

void RequireNarrower(const std::string& name, double lower, double upper, const ColumnDomain& domain) {
    if (domain.kind == DomainKind::kRange && (lower < domain.lower || upper > domain.upper))
        RefuseWider(name, "The call says " + Printed(lower, upper) + ", the table says " +
                              Printed(domain.lower, domain.upper) + ".");
}

void RequireNarrower(const std::string& name, const std::vector<std::string>& levels,
                     const ColumnDomain& domain) {
    if (domain.kind != DomainKind::kLevels)
        return;
    const std::unordered_set<std::string_view> declared(domain.levels, domain.levels + domain.level_count);
    for (const std::string& level : levels)
        if (declared.count(level) == 0)
            RefuseWider(name, "Level " + Quoted(level) + " is not among the declared ones.");
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

FeatureSpec EncodeNumber(const SourceColumn& column, const ColumnBounds* bounds, const ColumnDomain& domain,
                         const TrainingOptions& options, bool governed, bool* find_private) {
    const std::string name = column.name;
    NumericRange range;
    range.integer = IsWhole(column.kind) || column.kind == ValueKind::kDate;
    if (options.bins)
        range.bins = static_cast<uint32_t>(*options.bins);
    if (bounds != nullptr && bounds->kind == ColumnBounds::kLevels)
        RefuseForm(name, "A list of levels is for text, enums and booleans; this column holds numbers.");
    const bool wants_private = bounds != nullptr && bounds->kind == ColumnBounds::kPrivate;
    const bool has_domain = domain.kind == DomainKind::kRange;
    if (bounds == nullptr && !has_domain && options.bounds.all)
        bounds = &*options.bounds.all;
    if (bounds != nullptr && bounds->kind == ColumnBounds::kRange) {
        if (governed)
            RequireNarrower(name, bounds->lower, bounds->upper, domain);
        range.lower = bounds->lower;
        range.upper = bounds->upper;
        range.scale = ScaleOf(bounds->scale);
    } else if (has_domain && !wants_private) {
        range.lower = domain.lower;
        range.upper = domain.upper;
        range.scale = ScaleOf(domain.scale);
    } else if (wants_private || options.bounds.find_private) {
        *find_private = true;
        return AnyNumberSpec(name);
    } else {
        RefuseMissingRange(name);
    }
    return FeatureSpec::Numeric(name, range);
}

FeatureSpec EncodeText(const SourceColumn& column, const ColumnBounds* bounds, const ColumnDomain& domain,
                       bool governed) {
    const std::string name = column.name;
    if (bounds != nullptr && bounds->kind == ColumnBounds::kRange)
        RefuseForm(name, "A range is for numbers; this column holds text.");
    if (bounds != nullptr && bounds->kind == ColumnBounds::kLevels) {
        if (governed)
            RequireNarrower(name, bounds->levels, domain);
        return FeatureSpec::Levels(name, bounds->levels);
    }
    if (domain.kind == DomainKind::kLevels && domain.level_count > 0)
        return FeatureSpec::Levels(name, LevelsOf(domain));
    return FeatureSpec::Hashed(name);
}

FeatureSpec EncodeBoolean(const SourceColumn& column, const ColumnBounds* bounds) {
    if (bounds != nullptr && bounds->kind == ColumnBounds::kLevels)
        for (const std::string& level : bounds->levels)
            if (level != "true" && level != "false")
                RefuseForm(column.name, "The levels of a boolean are \"true\" and \"false\".");
    return FeatureSpec::Boolean(column.name);
}

// A key in "bounds" that names no column is a mistake that would otherwise go unnoticed.
void CheckBoundsNames(const SourceColumns& columns, const BoundsOption& bounds, const std::string& target) {
    std::vector<std::string> names{target};
    for (int i = 0; i < columns.count; ++i)
        names.emplace_back(columns.columns[i].name);
    for (const auto& entry : bounds.named)
        if (std::find(names.begin(), names.end(), entry.first) == names.end()) {
            const std::string near = Nearest(entry.first, names);
            throw Error(ErrorCode::kInvalidParameter,
                        "bounds name " + Quoted(entry.first) + ", which is no feature of this training", {},
                        near.empty() ? std::string() : "Perhaps you meant " + Quoted(near) + ".");
        }
    if (!bounds.listed.empty() && bounds.listed.size() != static_cast<size_t>(columns.count))
        throw Error(ErrorCode::kInvalidParameter,
                    "bounds are listed for " + std::to_string(bounds.listed.size()) +
                        " features, but there are " + std::to_string(columns.count));
}

TargetRule RegressionRule(const SourceColumn& column, const ColumnDomain& domain,
                          const TrainingOptions& options, bool governed) {
    const ColumnBounds* bounds = options.bounds.Find(column.name, static_cast<size_t>(-1));
    if (column.kind == ValueKind::kBoolean)
        return {TargetSpec::Regression(0, 1), true, {}};
    if (!IsNumber(column.kind))
        throw Error(ErrorCode::kWrongType, "regression needs a numeric target",
                    "Target " + Quoted(column.name) + " holds text.",
                    "Use {\"task\": \"classification\", \"positive\": ...}.");
    double lower, upper;
    if (options.target_range) {
        lower = options.target_range->first;
        upper = options.target_range->second;
    } else if (bounds != nullptr && bounds->kind == ColumnBounds::kRange) {
        lower = bounds->lower;
        upper = bounds->upper;
    } else if (domain.kind == DomainKind::kRange) {
        lower = domain.lower;
        upper = domain.upper;
    } else {
        throw Error(ErrorCode::kInvalidParameter, "target " + Quoted(column.name) + " has no public range",
                    "A range that was read from the rows would tell about people.",
                    "Give it in the options as {\"target_range\": [lower, upper]}, or declare it with "
                    "dpboost_set_domain or a CHECK constraint.");
    }
    if (governed)
        RequireNarrower(column.name, lower, upper, domain);
    return {TargetSpec::Regression(lower, upper), true, {}};
}

void CheckPositiveLevel(const SourceColumn& column, const ColumnDomain& domain, const std::string& positive) {
    if (domain.kind != DomainKind::kLevels)
        return;
    const std::vector<std::string> levels = LevelsOf(domain);
    if (std::find(levels.begin(), levels.end(), positive) != levels.end())
        return;
    std::string list;
    for (size_t i = 0; i < levels.size() && i < 20; ++i)
        list += (i == 0 ? "" : ", ") + Quoted(levels[i]);
    throw Error(ErrorCode::kInvalidParameter, "option \"positive\" must be one of the target's levels",
                "It is " + Quoted(positive) + "; the levels of " + Quoted(column.name) + " are " + list +
                    (levels.size() > 20 ? ", ..." : "") + ".");
}

TargetRule ClassificationRule(const SourceColumn& column, const ColumnDomain& domain,
                              const TrainingOptions& options) {
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
                            " holds text, and one of its values must be the "
                            "positive class.",
                        "Add it to the options, for example {\"positive\": \"yes\"}.");
        CheckPositiveLevel(column, domain, rule.positive);
    }
    return rule;
}

}  // namespace

FeatureEncodings EncodeFeatures(const SourceColumns& columns, const ColumnDomain* domains,
                                const TrainingOptions& options, bool governed, const std::string& target) {
    if (columns.count == 0)
        throw Error(ErrorCode::kInvalidParameter, "there is no feature to train on");
    CheckBoundsNames(columns, options.bounds, target);
    FeatureEncodings result;
    for (int i = 0; i < columns.count; ++i) {
        const SourceColumn& column = columns.columns[i];
        const ColumnBounds* bounds = options.bounds.Find(column.name, static_cast<size_t>(i));
        bool find_private = false;
        if (IsNumber(column.kind))
            result.specs.push_back(
                EncodeNumber(column, bounds, domains[i], options, governed, &find_private));
        else if (column.kind == ValueKind::kBoolean)
            result.specs.push_back(EncodeBoolean(column, bounds));
        else
            result.specs.push_back(EncodeText(column, bounds, domains[i], governed));
        if (find_private)
            result.find_private.push_back(static_cast<size_t>(i));
    }
    return result;
}

TargetRule EncodeTarget(const SourceColumn& column, const ColumnDomain& domain,
                        const TrainingOptions& options, bool governed) {
    TaskOption task = options.task;
    if (task == TaskOption::kUnset)
        task = IsNumber(column.kind) && !options.positive ? TaskOption::kRegression
                                                          : TaskOption::kClassification;
    if (task == TaskOption::kRegression && options.positive)
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" is for classification only");
    if (task == TaskOption::kClassification && options.target_range)
        throw Error(ErrorCode::kInvalidParameter, "option \"target_range\" is for regression only");
    return task == TaskOption::kRegression ? RegressionRule(column, domain, options, governed)
                                           : ClassificationRule(column, domain, options);
}

}  // namespace dpboost
