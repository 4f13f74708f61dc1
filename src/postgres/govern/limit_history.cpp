// Writes the history of limits.
#include "postgres/govern/limit_history.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

// NULL if it is empty or not there.
Parameter NameIfAny(const char* text) {
    if (text == nullptr || text[0] == '\0')
        return NullOf(NAMEOID);
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, text);
    return {NAMEOID, NameGetDatum(name)};
}

}  // namespace

void RecordLimitChange(Oid caller, const LimitChange& change) {
    const Oid owner = change.relation != nullptr ? change.relation->owner : caller;
    const char* owner_name = RoleName(owner);
    const char* grantee_name = OidIsValid(change.grantee) ? RoleName(change.grantee) : nullptr;
    ArrayType* ids = change.relation_ids != nullptr ? change.relation_ids : construct_empty_array(INT8OID);
    const char* relation =
        change.relation == nullptr
            ? nullptr
            : quote_qualified_identifier(change.relation->schema_name, change.relation->relation_name);
    const bool has_most = change.max_epsilon_per_train > 0 && !std::isinf(change.max_epsilon_per_train);
    CatalogWrite(
        "INSERT INTO dpboost.limit_history (role_name, session_name, change, relation_ids, relation,"
        " population_id, population, owner, grantee, grantee_name, epsilon, delta, max_epsilon_per_train,"
        " renew, privacy_unit)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        {NameIfAny(GetUserNameFromId(caller, false)),
         NameIfAny(GetUserNameFromId(GetSessionUserId(), false)),
         TextOf(change.change),
         Int8s(ids),
         relation == nullptr ? NullOf(TEXTOID) : TextOf(relation),
         If(change.population_id != 0, Int8(change.population_id)),
         NameIfAny(change.population),
         {RoleRefType(), RoleRef(owner, owner_name != nullptr ? owner_name : "")},
         grantee_name == nullptr ? NullOf(RoleRefType())
                                 : Parameter{RoleRefType(), RoleRef(change.grantee, grantee_name)},
         NameIfAny(grantee_name),
         If(change.epsilon > 0, Float8(change.epsilon)),
         If(change.epsilon > 0, Float8(change.delta)),
         If(has_most, Float8(change.max_epsilon_per_train)),
         {INTERVALOID, PointerGetDatum(change.renew), change.renew == nullptr},
         NameIfAny(change.privacy_unit)});
}

}  // namespace dpboost
