#include "training/call/groups.h"

#include "base/error.h"
#include "base/text.h"

namespace dpboost {
namespace {

FeatureSpec SpecOf(const PublicColumn& column, size_t most) {
    if (column.domain.kind != DomainKind::kLevels && column.kind != ValueKind::kBoolean)
        throw Error(ErrorCode::kInvalidParameter,
                    "the groups of column " + Quoted(column.name) + " are not public",
                    "There is a model for every public level, because which of them rows have must not show.",
                    "Declare its levels, with dpboost_set_domain, a CHECK constraint or an enum.");
    FeatureSpec spec = EncodeFeatures({column}, {}, false, {}).specs[0];
    if (spec.kind() != FeatureKind::kLevels || spec.levels().size() > most)
        throw Error(ErrorCode::kInvalidParameter, "column " + Quoted(column.name) + " has too many groups",
                    "It has " + std::to_string(column.domain.levels.size()) + " levels; " +
                        std::to_string(most) + " can be trained at once.");
    for (const std::string& level : spec.levels())
        if (level.empty() || level.find_first_of(".@\"") != std::string::npos)
            throw Error(ErrorCode::kInvalidParameter,
                        "level " + Quoted(level) + " of column " + Quoted(column.name) +
                            " cannot be part of a model's name",
                        "Names of models have no dots, no @ and no quotes.");
    return spec;
}

}  // namespace

Groups::Groups(const PublicColumn& column, size_t most) : spec_(SpecOf(column, most)), encoder_(spec_) {}

}  // namespace dpboost
