// What a table's owner lets others do: dpboost_set_budget and dpboost_revoke_budget. An allowance is a right to train
// without SELECT, and its limit.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/printed.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/govern/limit_history.h"
#include "postgres/limits/protect.h"
#include "postgres/limits/renewal.h"

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
    const Interval* renew;  // nullptr: never
};

// Inside a catalog scope: what a role has, or what one that has nothing begins with. One that was revoked is
// nothing.
Allowance FindAllowance(Oid relid, Oid grantee) {
    if (CatalogRead("SELECT epsilon, delta, coalesce(max_epsilon_per_train, 'Infinity'), renew"
                    " FROM dpboost.allowance WHERE relation::oid = $1 AND grantee::oid = $2 AND NOT revoked",
                    {OidOf(relid), OidOf(grantee)}, 1) == 0)
        return {false, 0, kDefaultDelta, std::numeric_limits<double>::infinity(), nullptr};
    bool is_null;
    const Datum renew = CatalogValue(0, 4, &is_null);
    return {true, DatumGetFloat8(CatalogValue(0, 1)), DatumGetFloat8(CatalogValue(0, 2)),
            DatumGetFloat8(CatalogValue(0, 3)), is_null ? nullptr : DatumGetIntervalP(renew)};
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
                        errmsg("max_epsilon_per_train must be positive, not %s",
                               PrintedNumber(allowance->max_epsilon)),
                        errhint("'Infinity' takes the limit away.")));
    if (PG_ARGISNULL(5))
        return;
    allowance->renew = PG_GETARG_INTERVAL_P(5);
    if (allowance->renew->month == 0 && allowance->renew->day == 0 && allowance->renew->time == 0)
        allowance->renew = nullptr;
    else
        CheckRenewal(allowance->renew);
}

// Inside a catalog scope: what renews without a cap promises nothing (renewal.h).
void RequireCap(const ArrayType* ids, Oid relid) {
    if (CatalogRead("SELECT FROM dpboost.protection WHERE relation_id = ANY ($1)", {Int8s(ids)}, 1) == 0)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("a budget that renews needs a cap on the table"),
                 errdetail("Without one, trainings on %s would add up for ever.", DescribeRelation(relid)),
                 errhint("Set one by dpboost_protect.")));
}

// Inside a catalog scope. Windows go on from where they began, also if their length or the limit changes.
void WriteAllowance(const ReadRelation* relation, Oid grantee, const Allowance& allowance, Oid caller) {
    const BudgetLimit limit = CheckLimit(allowance.epsilon, allowance.delta);
    CatalogWrite(
        "INSERT INTO dpboost.allowance AS a"
        " (relation, grantee, epsilon, delta, rdp_order, max_epsilon_per_train, set_by, renew, renew_from)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
        " ON CONFLICT ((relation::oid), (grantee::oid)) WHERE relation::oid <> 0 AND grantee::oid <> 0"
        " DO UPDATE SET (relation, epsilon, delta, rdp_order, max_epsilon_per_train, revoked, set_by, set_at,"
        " renew, renew_from) = ROW(excluded.relation, excluded.epsilon, excluded.delta, excluded.rdp_order,"
        " excluded.max_epsilon_per_train, false, excluded.set_by, excluded.set_at, excluded.renew,"
        " CASE WHEN a.renew IS NULL THEN excluded.renew_from ELSE a.renew_from END)",
        {{RelationRefType(), RelationRef(relation->relid, relation->schema_name, relation->relation_name)},
         {RoleRefType(), RoleRef(grantee, RoleName(grantee))},
         Float8(limit.epsilon),
         Float8(limit.delta),
         Int8(static_cast<int64>(limit.order)),
         If(!std::isinf(allowance.max_epsilon), Float8(allowance.max_epsilon)),
         {RoleRefType(), CallerRef(caller)},
         {INTERVALOID, IntervalPGetDatum(allowance.renew), allowance.renew == nullptr},
         TimeOf(LedgerTime())});
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_set_budget(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArguments(fcinfo, {"relation", "grantee"});
    const Oid grantee = PG_GETARG_OID(1);
    ReadRelation relation;
    OpenGoverned(PG_GETARG_OID(0), caller, &relation);
    if (RoleName(grantee) == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", grantee)));
    CatalogScope scope;
    CatalogBegin(&scope);
    RevokeOfDroppedRoles(relation.relid);
    ArrayType* ids = RememberedIdentities(&relation);
    Allowance allowance = FindAllowance(relation.relid, grantee);
    const Allowance before = allowance;
    ReadAllowance(fcinfo, &allowance);
    if (allowance.renew != nullptr)
        RequireCap(ids, relation.relid);
    WriteAllowance(&relation, grantee, allowance, caller);
    if (before.granted)
        NoteReplacedLimit(
            psprintf("budget of role \"%s\" on %s", RoleName(grantee), DescribeRelation(relation.relid)),
            before.epsilon, before.delta, allowance.epsilon, allowance.delta);
    LimitChange change = {};
    change.change = "set_budget";
    change.relation = &relation;
    change.relation_ids = ids;
    change.grantee = grantee;
    change.epsilon = allowance.epsilon;
    change.delta = allowance.delta;
    change.max_epsilon_per_train = allowance.max_epsilon;
    change.renew = allowance.renew;
    RecordLimitChange(caller, change);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_revoke_budget(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "grantee"});
    const Oid relid = PG_GETARG_OID(0);
    const Oid grantee = PG_GETARG_OID(1);
    const Oid caller = GetUserId();
    ReadRelation relation;
    OpenGoverned(relid, caller, &relation);
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 revoked = CatalogWrite(
        "UPDATE dpboost.allowance SET revoked = true"
        " WHERE relation::oid = $1 AND grantee::oid = $2 AND NOT revoked",
        {OidOf(relid), OidOf(grantee)});
    LimitChange change = {};
    change.change = "revoke_budget";
    change.relation = &relation;
    change.relation_ids = RememberedIdentities(&relation);
    change.grantee = grantee;
    if (revoked > 0)
        RecordLimitChange(caller, change);
    CatalogEnd(&scope);
    if (revoked == 0) {
        const char* name = RoleName(grantee);
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" has no privacy budget on %s",
                                                           name ? name : "?", DescribeRelation(relid))));
    }
    PG_RETURN_VOID();
}
