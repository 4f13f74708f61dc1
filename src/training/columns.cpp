#include "training/columns.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "base/current_interrupt.h"
#include "base/error.h"
#include "base/text.h"
#include "training/column_rules.h"
#include "training/private_bounds.h"

namespace dpboost {

namespace {

// Why the wanted domain is not within the declared one; empty if it is.
std::string WiderBy(ValueKind kind, const Domain& wanted, const Domain& declared) {
    if (wanted.kind == DomainKind::kRange && declared.kind == DomainKind::kRange)
        return wanted.lower >= declared.lower && wanted.upper <= declared.upper
                   ? ""
                   : "The call says " + PrintedRange(kind, wanted) + ", the table says " +
                         PrintedRange(kind, declared) + ".";
    if (wanted.kind == DomainKind::kRange && declared.kind == DomainKind::kLevels)
        return "The call gives a range, the table a list of levels.";
    const bool in_range = declared.kind == DomainKind::kRange;
    if (wanted.kind != DomainKind::kLevels || (!in_range && declared.kind != DomainKind::kLevels))
        return {};
    const std::unordered_set<std::string_view> known(declared.levels.begin(), declared.levels.end());
    for (const std::string& level : wanted.levels) {
        const double number = in_range ? strtod(level.c_str(), nullptr) : 0;
        if (in_range ? number < declared.lower || number > declared.upper : known.count(level) == 0)
            return "Level " + Quoted(Start(level, 80)) + " is not among the declared ones.";
    }
    return {};
}

}  // namespace

std::string PrintedRange(ValueKind kind, const Domain& range) {
    return "[" + PrintedValue(kind, range.lower) + ", " + PrintedValue(kind, range.upper) + "]";
}

void RefuseForm(const std::string& name, const char* detail) {
    throw Error(ErrorCode::kInvalidParameter, "invalid bounds for column " + Quoted(name), detail);
}

void RequireNarrower(const PublicColumn& column, const Domain& wanted) {
    const std::string detail = WiderBy(column.kind, wanted, column.domain);
    if (!detail.empty())
        throw Error(ErrorCode::kInvalidParameter,
                    "bounds of column " + Quoted(column.name) + " are wider than declared", detail,
                    "On a table with a privacy budget, options may only narrow what its owner declared.");
}

Domain WholeLevels(const PublicColumn& column, const Domain& levels) {
    if (!IsWhole(column.kind))
        RefuseForm(
            column.name,
            "A list of levels is for text, enums, booleans and integers; this column holds other numbers.");
    std::vector<std::string> codes;
    for (const std::string& level : levels.levels) {
        char* end = nullptr;
        const long long code = strtoll(level.c_str(), &end, 10);
        if (level.empty() || *end != '\0')
            RefuseForm(column.name, "The levels of an integer column are whole numbers.");
        codes.push_back(std::to_string(code));
    }
    return Domain::Levels("bounds for column " + Quoted(column.name), std::move(codes));
}

namespace {

// Names all of them at once, with what would declare them.
[[noreturn]] void RefuseMissingRanges(const std::vector<const PublicColumn*>& columns,
                                      const std::string& relation) {
    JsonList bounds;
    std::vector<std::string> names, statements;
    for (const PublicColumn* column : columns) {
        const bool time = IsTime(column->kind);
        names.push_back(column->name);
        bounds.Add(column->name, time ? "[\"YYYY-MM-DD\", \"YYYY-MM-DD\"]" : "[lower, upper]");
        if (!relation.empty())
            statements.push_back("dpboost_set_domain(" + SqlLiteral(relation) + ", " +
                                 SqlLiteral(column->name) +
                                 (time ? ", 'YYYY-MM-DD', 'YYYY-MM-DD')" : ", lower, upper)"));
    }
    const bool one = names.size() == 1;
    const std::string them = one ? "it" : "them";
    throw Error(
        ErrorCode::kInvalidParameter,
        (one ? "column " : "columns ") + QuotedList(names) + (one ? " has" : " have") + " no public range",
        "A range that was read from the rows would tell about people.",
        "Give " + them + " in the options as {\"bounds\": " + bounds.Object() + "}, have " + them +
            " declared with " +
            (relation.empty() ? "dpboost_set_domain" : "SELECT " + Listed(statements) + ";") +
            " or a CHECK constraint, or say {\"bounds\": \"private\"} to spend a share of epsilon on "
            "finding " +
            them + ".");
}

// The domain that counts: what the options say about this column, what is declared, what the options say about all.
const Domain& DomainOf(const PublicColumn& column, const Domain* bounds, const TrainingOptions& options) {
    if (bounds != nullptr)
        return *bounds;
    const bool declared =
        column.domain.kind == DomainKind::kRange || column.domain.kind == DomainKind::kLevels;
    if (declared || !options.bounds.all)
        return column.domain;
    // What is said of numbers is not meant for dates, which it would all put into one place.
    return options.bounds.all->kind == DomainKind::kRange && IsTime(column.kind) ? column.domain
                                                                                 : *options.bounds.all;
}

// Empty if nothing is public about the column.
std::optional<FeatureSpec> EncodeNumber(const PublicColumn& column, const Domain* bounds,
                                        const TrainingOptions& options, bool governed, bool* find_private) {
    Domain domain = DomainOf(column, bounds, options);
    *find_private = domain.kind == DomainKind::kPrivate;
    if (*find_private)
        return AnyNumberSpec(column.name);
    if (domain.kind == DomainKind::kLevels)
        domain = WholeLevels(column, domain);
    else if (domain.kind != DomainKind::kRange)
        return std::nullopt;
    if (governed)
        RequireNarrower(column, domain);
    return domain.kind == DomainKind::kLevels ? FeatureSpec::Levels(column.name, domain.levels)
                                              : EncodeRange(column, domain, options.bins);
}

FeatureSpec EncodeText(const PublicColumn& column, const Domain* bounds, uint32_t buckets, bool governed) {
    if (bounds != nullptr && bounds->kind == DomainKind::kRange)
        RefuseForm(column.name, "A range is for numbers; this column holds text.");
    if (bounds != nullptr && governed)
        RequireNarrower(column, *bounds);
    const Domain& domain = bounds != nullptr && bounds->kind == DomainKind::kLevels ? *bounds : column.domain;
    return domain.kind == DomainKind::kLevels && !domain.levels.empty()
               ? FeatureSpec::Levels(column.name, domain.levels)
               : FeatureSpec::Hashed(column.name, buckets);
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
        throw Error(ErrorCode::kInvalidParameter, "bounds are listed for " +
                                                      std::to_string(bounds.listed.size()) +
                                                      (bounds.listed.size() == 1 ? " feature" : " features") +
                                                      ", and the call has " + std::to_string(columns.size()));
}

}  // namespace

std::string DescribeDomain(const PublicColumn& column, const char* zone) {
    const Domain& domain = column.domain;
    const auto bound = [&](double number) {
        return IsTime(column.kind) ? JsonString(PrintedValue(column.kind, number) + zone)
                                   : JsonNumber(number);
    };
    JsonList list;
    if (domain.kind == DomainKind::kNone || domain.kind == DomainKind::kPrivate)
        return {};
    if (domain.kind == DomainKind::kRange) {
        list.Append(bound(domain.lower));
        list.Append(bound(domain.upper));
        if (domain.scale != Scale::kAuto)
            list.Append(domain.scale == Scale::kLog ? "\"log\"" : "\"linear\"");
    } else {
        const std::vector<std::string> boolean = {"false", "true"};
        for (const std::string& level : domain.kind == DomainKind::kBoolean ? boolean : domain.levels)
            list.Append(JsonString(level));
    }
    return list.Array();
}

void RequireWithinDeclared(const PublicColumn& column, const FeatureSpec& spec) {
    Domain wanted;
    if (spec.kind() == FeatureKind::kNumeric) {
        wanted.kind = DomainKind::kRange;
        wanted.lower = spec.lower();
        wanted.upper = spec.upper();
    } else if (spec.kind() == FeatureKind::kLevels) {
        wanted.kind = DomainKind::kLevels;
        wanted.levels = spec.levels();
    }
    RequireNarrower(column, wanted);
}

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
                                bool governed, const std::string& target, const std::string& relation) {
    if (columns.empty())
        throw Error(ErrorCode::kInvalidParameter, "there is no feature to train on");
    CheckBoundsNames(columns, options.bounds, target);
    FeatureEncodings result;
    std::vector<const PublicColumn*> missing;
    for (size_t i = 0; i < columns.size(); ++i) {
        const PublicColumn& column = columns[i];
        const Domain* bounds = options.bounds.Find(column.name, i);
        bool find_private = false;
        InterruptScope::Poll();  // a column's edges take some milliseconds where its range is unknown
        if (IsNumber(column.kind)) {
            const std::optional<FeatureSpec> spec =
                EncodeNumber(column, bounds, options, governed, &find_private);
            if (spec)
                result.specs.push_back(*spec);
            else
                missing.push_back(&column);
        } else if (column.kind == ValueKind::kBoolean) {
            result.specs.push_back(EncodeBoolean(column, bounds));
        } else {
            result.specs.push_back(EncodeText(column, bounds, options.hash_buckets, governed));
        }
        if (find_private)
            result.find_private.push_back(i);
    }
    if (!missing.empty())
        RefuseMissingRanges(missing, relation);
    return result;
}

}  // namespace dpboost
