// What is public about a column's values: a range, a list of levels, or that the training shall find a range
// itself. The owner declares it (dpboost_set_domain), the schema states it, or the call says it in the options
// "bounds" and "target_range"; all of them are checked here, and nowhere is it derived from rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/grid.h"
#include "training/json.h"

namespace dpboost {

enum class DomainKind {
    kNone,     // nothing is public
    kRange,    // numbers between lower and upper
    kLevels,   // one of the texts in levels
    kBoolean,  // true or false
    kPrivate,  // of the option "bounds" only: find the range, for a share of epsilon
};

struct Domain {
    DomainKind kind = DomainKind::kNone;
    double lower = 0;
    double upper = 0;
    Scale scale = Scale::kAuto;
    std::vector<std::string> levels;  // in declared or enum order, without duplicates

    // Each throws Error(kInvalidParameter) `invalid <what>` with what is wrong as its detail. Linear in the levels.
    static Domain Range(const std::string& what, double lower, double upper, std::string_view scale = "auto");
    static Domain Levels(const std::string& what, std::vector<std::string> levels);
};

// What more levels than these are refused for, before any of them is looked at.
void CheckLevelCount(const std::string& what, size_t count);

// The name of a scale. Throws as above.
Scale ScaleNamed(const std::string& what, std::string_view name);

// The option "bounds" in its forms: {"age": [17, 90], "sex": ["F", "M"]} by name, [[0, 1], [0, 9]] by
// position (for arrays), [0, 1] for every numeric column, "private" for every column without a public range.
struct BoundsOption {
    std::map<std::string, Domain> named;
    std::vector<Domain> listed;
    std::optional<Domain> all;

    // What the option says about the column itself, or null. `position` counts from 0.
    const Domain* Find(const std::string& name, size_t position) const;
};

// The forms of a column's bounds: [lower, upper], [lower, upper, scale], ["level", ...], "private". Throw
// Error(kInvalidParameter).
Domain ReadDomain(const std::string& what, const JsonValue& value);
BoundsOption ReadBounds(const JsonValue& value);

// How many columns the value of "bounds" lists by position; -1 if it does not.
int CountListed(const JsonValue& bounds) noexcept;

// The value of the call as an error message shows it.
std::string Shown(const JsonValue& value);

}  // namespace dpboost
