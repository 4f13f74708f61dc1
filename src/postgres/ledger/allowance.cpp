// What a table's owner lets others do: dpboost_set_budget and dpboost_revoke_budget. An allowance is a right to train
// without SELECT, and its limit.
#include "postgres/boundary/arguments.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/protect.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_set_budget);
PG_FUNCTION_INFO_V1(dpboost_revoke_budget);
}

namespace dpboost {
namespace {

// An allowance's limits; the largest epsilon of a single training is infinite if there is none.
struct Allowance {
    bool granted;
    double epsilon;
    double delta;
    double max_epsilon;
};

// Inside a catalog scope: what a role has, or what one that has nothing begins with. One that was revoked is
// nothing.
Allowance FindAllowance(Oid relid, Oid grantee) {
    const Oid types[] = {OIDOID, OIDOID};
    const Datum values[] = {ObjectIdGetDatum(relid), ObjectIdGetDatum(grantee)};
    if (CatalogRead("SELECT epsilon, delta, coalesce(max_epsilon_per_train, 'Infinity')"
                    " FROM dpboost.allowance WHERE relation::oid = $1 AND grantee::oid = $2 AND NOT revoked",
                    2, types, values, nullptr, 1) == 0)
        return {false, 0, kDefaultDelta, std::numeric_limits<double>::infinity()};
    double limits[3];
    bool is_null;
    for (int i = 0; i < 3; ++i)
        limits[i] =
            DatumGetFloat8(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &is_null));
    return {true, limits[0], limits[1], limits[2]};
}

// Puts what the call of dpboost_set_budget names in the place of what was there; the rest stays.
void ReadAllowance(FunctionCallInfo fcinfo, Allowance* allowance) {
    if (!allowance->granted)
        RequireArgument(fcinfo, 2, "epsilon");
    if (!PG_ARGISNULL(2))
        allowance->epsilon = PG_GETARG_FLOAT8(2);
    if (!PG_ARGISNULL(3))
        allowance->delta = PG_GETARG_FLOAT8(3);
    if (!PG_ARGISNULL(4))
        allowance->max_epsilon = PG_GETARG_FLOAT8(4);
    if (!(allowance->max_epsilon > 0))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("max_epsilon_per_train must be positive, not %g", allowance->max_epsilon),
                        errhint("'Infinity' takes the limit away.")));
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_set_budget(PG_FUNCTION_ARGS) {
    const Oid caller = GetUserId();
    RequireArguments(fcinfo, {"relation", "grantee"});
    const Oid grantee = PG_GETARG_OID(1);
    ReadRelation relation;
    OpenGoverned(PG_GETARG_OID(0), caller, &relation);
    const char* grantee_name = RoleName(grantee);
    if (grantee_name == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", grantee)));
    CatalogScope scope;
    CatalogBegin(&scope);
    RevokeOfDroppedRoles(relation.relid);
    RememberedIdentities(&relation);
    Allowance allowance = FindAllowance(relation.relid, grantee);
    ReadAllowance(fcinfo, &allowance);
    const BudgetLimit limit = CheckLimit(allowance.epsilon, allowance.delta);
    const Oid types[] = {RelationRefType(), RoleRefType(), FLOAT8OID,    FLOAT8OID,
                         INT8OID,           FLOAT8OID,     RoleRefType()};
    const Datum values[] = {RelationRef(relation.relid, relation.schema_name, relation.relation_name),
                            RoleRef(grantee, grantee_name),
                            Float8GetDatum(limit.epsilon),
                            Float8GetDatum(limit.delta),
                            Int64GetDatum(static_cast<int64>(limit.order)),
                            Float8GetDatum(allowance.max_epsilon),
                            CallerRef(caller)};
    const char nulls[] = {' ', ' ', ' ', ' ', ' ', std::isinf(allowance.max_epsilon) ? 'n' : ' ', ' ', '\0'};
    CatalogWrite(
        "INSERT INTO dpboost.allowance"
        " (relation, grantee, epsilon, delta, rdp_order, max_epsilon_per_train, set_by)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)"
        " ON CONFLICT ((relation::oid), (grantee::oid)) WHERE relation::oid <> 0 AND grantee::oid <> 0"
        " DO UPDATE SET (relation, epsilon, delta, rdp_order, max_epsilon_per_train, revoked, set_by, set_at)"
        " = ROW(excluded.relation, excluded.epsilon, excluded.delta, excluded.rdp_order,"
        " excluded.max_epsilon_per_train, false, excluded.set_by, excluded.set_at)",
        7, types, values, nulls);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_revoke_budget(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation", "grantee"});
    const Oid relid = PG_GETARG_OID(0);
    const Oid grantee = PG_GETARG_OID(1);
    ReadRelation relation;
    OpenGoverned(relid, GetUserId(), &relation);
    CatalogScope scope;
    CatalogBegin(&scope);
    const Oid types[] = {OIDOID, OIDOID};
    const Datum values[] = {ObjectIdGetDatum(relid), ObjectIdGetDatum(grantee)};
    const uint64 revoked = CatalogWrite(
        "UPDATE dpboost.allowance SET revoked = true"
        " WHERE relation::oid = $1 AND grantee::oid = $2 AND NOT revoked",
        2, types, values, nullptr);
    CatalogEnd(&scope);
    if (revoked == 0) {
        const char* name = RoleName(grantee);
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" has no privacy budget on %s",
                                                           name ? name : "?", DescribeRelation(relid))));
    }
    PG_RETURN_VOID();
}
