// Writes the history of limits.
#include "postgres/govern/limit_history.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

// A row under construction: what is missing is NULL.
struct Row {
    static constexpr int kColumns = 15;
    Oid types[kColumns];
    Datum values[kColumns];
    char nulls[kColumns + 1];
    int count;
};

void Add(Row* row, Oid type, bool is_there, Datum value) {
    row->types[row->count] = type;
    row->values[row->count] = value;
    row->nulls[row->count++] = is_there ? ' ' : 'n';
}

Datum NameOrEmpty(const char* text) {
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, text == nullptr ? "" : text);
    return NameGetDatum(name);
}

bool IsText(const char* text) {
    return text != nullptr && text[0] != '\0';
}

}  // namespace

void RecordLimitChange(Oid caller, const LimitChange& change) {
    Row row = {};
    const Oid owner = change.relation != nullptr ? change.relation->owner : caller;
    const char* owner_name = RoleName(owner);
    const char* grantee_name = OidIsValid(change.grantee) ? RoleName(change.grantee) : nullptr;
    Add(&row, NAMEOID, true, NameOrEmpty(GetUserNameFromId(caller, false)));
    Add(&row, NAMEOID, true, NameOrEmpty(GetUserNameFromId(GetSessionUserId(), false)));
    Add(&row, TEXTOID, true, CStringGetTextDatum(change.change));
    Add(&row, INT8ARRAYOID, true,
        PointerGetDatum(change.relation_ids != nullptr ? change.relation_ids
                                                       : construct_empty_array(INT8OID)));
    Add(&row, TEXTOID, change.relation != nullptr,
        change.relation == nullptr ? Datum(0)
                                   : CStringGetTextDatum(quote_qualified_identifier(
                                         change.relation->schema_name, change.relation->relation_name)));
    Add(&row, INT8OID, change.population_id != 0, Int64GetDatum(change.population_id));
    Add(&row, NAMEOID, IsText(change.population), NameOrEmpty(change.population));
    Add(&row, RoleRefType(), true, RoleRef(owner, owner_name != nullptr ? owner_name : ""));
    Add(&row, RoleRefType(), grantee_name != nullptr,
        grantee_name == nullptr ? Datum(0) : RoleRef(change.grantee, grantee_name));
    Add(&row, NAMEOID, grantee_name != nullptr, NameOrEmpty(grantee_name));
    Add(&row, FLOAT8OID, change.epsilon > 0, Float8GetDatum(change.epsilon));
    Add(&row, FLOAT8OID, change.epsilon > 0, Float8GetDatum(change.delta));
    Add(&row, FLOAT8OID, change.max_epsilon_per_train > 0 && !std::isinf(change.max_epsilon_per_train),
        Float8GetDatum(change.max_epsilon_per_train));
    Add(&row, INTERVALOID, change.renew != nullptr, PointerGetDatum(change.renew));
    Add(&row, NAMEOID, IsText(change.privacy_unit), NameOrEmpty(change.privacy_unit));
    CatalogWrite(
        "INSERT INTO dpboost.limit_history (role_name, session_name, change, relation_ids, relation,"
        " population_id, population, owner, grantee, grantee_name, epsilon, delta, max_epsilon_per_train,"
        " renew, privacy_unit)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        Row::kColumns, row.types, row.values, row.nulls);
}

}  // namespace dpboost
