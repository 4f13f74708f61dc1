// What a table's owner says: dpboost_protect, dpboost_unprotect, dpboost_set_budget, dpboost_revoke_budget.
// They change limits and rights in the caller's transaction; what was spent is the ledger's and out of their
// reach. The role that calls must own the relation or be a superuser.
#include "postgres/ledger/protect.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/columns/source_column.h"
#include "postgres/ledger/budget.h"
#include "postgres/ledger/earlier_units.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_protect);
PG_FUNCTION_INFO_V1(dpboost_unprotect);
PG_FUNCTION_INFO_V1(dpboost_set_budget);
PG_FUNCTION_INFO_V1(dpboost_revoke_budget);
}

namespace dpboost {
namespace {

constexpr double kDefaultDelta = 1e-6;  // of a limit, as of a training

// A limit as the functions take it.
struct BudgetLimit {
    double epsilon;
    double delta;
    uint32 order;
};

void CheckOwner(Oid relid, Oid caller) {
    const char kind = get_rel_relkind(relid);
    if (kind == '\0')
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
    if (!OwnsRelation(relid, caller))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(kind), get_rel_name(relid));
}

// The order is fixed now, for as long as the limit stands. The proof (privacy/budget.h) wants limit and order
// to be there before the first release that counts. A limit set or changed later counts all earlier releases
// again, at its own order, and keeps its promise unless the owner chose it by looking at what was released:
// raised because a model was good, say, it is a new pair of limit and order that depends on the rows. Owners
// are trusted; so this is allowed, and said here and in doc/privacy.md.
BudgetLimit CheckLimit(double epsilon, double delta) {
    BudgetLimit limit = {epsilon, delta, 0};
    if (!(epsilon > 0) || std::isinf(epsilon))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("epsilon must be positive and finite, not %g", epsilon)));
    if (!(delta >= 0 && delta <= kMaxDelta))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("delta must be between 0 and %g, not %g", kMaxDelta, delta),
                        errhint("Delta should be well below one over the number of persons, such as 1e-6.")));
    CallCore([&] { limit.order = Budget(epsilon, delta).order(); });
    return limit;
}

Datum CallerRef(Oid caller) {
    return RoleRef(caller, GetUserNameFromId(caller, false));
}

Identity IdentityOf(const ReadRelation* relation) {
    auto* set = static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + sizeof(ReadRelation)));
    set->count = 1;
    set->items[0] = *relation;
    return ResolveIdentities(set, CurrentMemoryContext)->of[0];
}

// Inside a catalog scope: the identities whose limits are this relation's alone to change, of which it gets a
// first one if it has none.
ArrayType* RememberedIdentities(const ReadRelation* relation) {
    ArrayType* own = IdentityOf(relation).own;
    if (own != nullptr)
        RememberRelation(relation, own);
    ArrayType* governed = GovernedIdentities(relation, own);
    return governed != nullptr ? governed : RememberRelation(relation, nullptr);
}

// Inside a catalog scope: ends the allowances of roles that are gone. PostgreSQL tells nobody in a database that
// a role was dropped, and its oid may be used again one day; no right may wait for it.
void RevokeOfDroppedRoles(Oid relid) {
    const Oid types[] = {OIDOID};
    const Datum values[] = {ObjectIdGetDatum(relid)};
    CatalogWrite(
        "UPDATE dpboost.allowance SET revoked = true WHERE relation::oid = $1 AND NOT revoked"
        " AND NOT EXISTS (SELECT FROM pg_roles WHERE oid = grantee::oid)",
        1, types, values, nullptr);
}

// A cap as it is to be written.
struct Cap {
    double epsilon;
    double delta;
    bool has_delta;
    NameData unit;
    bool has_unit;
    EarlierReleases earlier;  // for another unit, accepted
};

// What stays in force when it is not named, unit and delta: to forget the unit silently would weaken the promise.
// Returns up to which release others were accepted for the unit.
int64 KeepUnnamed(ArrayType* ids, Cap* cap) {
    const Oid types[] = {INT8ARRAYOID};
    const Datum values[] = {PointerGetDatum(ids)};
    const uint64 rows = CatalogRead(
        "SELECT privacy_unit, earlier_until, min(delta) OVER () FROM dpboost.protection"
        " WHERE relation_id = ANY ($1) ORDER BY privacy_unit NULLS LAST, earlier_until",
        1, types, values, nullptr, 1);
    if (rows == 0)
        return 0;
    bool had_no_unit;
    if (!cap->has_delta)
        cap->delta = DatumGetFloat8(CatalogValue(0, 3));
    const Datum unit = CatalogValue(0, 1, &had_no_unit);
    const int64 accepted = DatumGetInt64(CatalogValue(0, 2));
    if (!cap->has_unit && !had_no_unit) {
        cap->unit = *DatumGetName(unit);
        cap->has_unit = true;
    }
    const bool same =
        had_no_unit ? !cap->has_unit : strcmp(NameStr(*DatumGetName(unit)), NameStr(cap->unit)) == 0;
    return same ? accepted : 0;
}

// What was released for another unit counts only if the owner says so.
void AcceptEarlier(const ReadRelation* relation, const ArrayType* counted, Cap* cap, int64 accepted,
                   bool accept) {
    const char* unit = cap->has_unit ? NameStr(cap->unit) : "";
    const EarlierReleases unaccepted = CountEarlierReleases(relation->relid, counted, unit, accepted);
    if (unaccepted.count > 0 && !accept)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("earlier releases of %s did not protect %s", DescribeRelation(relation->relid),
                        DescribeUnit(unit)),
                 errdetail_plural("There is %ld, and what it cost was counted otherwise.",
                                  "There are %ld, and what they cost was counted otherwise.",
                                  static_cast<unsigned long>(unaccepted.count),
                                  static_cast<long>(unaccepted.count)),
                 errhint("With accept_earlier => true they count as they are, and dpboost_budgets shows how "
                         "many they are.")));
    cap->earlier = CountEarlierReleases(relation->relid, counted, unit, 0);
}

void SetCap(const ReadRelation* relation, Cap* cap, bool accept_earlier, Oid caller) {
    CatalogScope scope;
    CatalogBegin(&scope);
    RevokeOfDroppedRoles(relation->relid);
    ArrayType* ids = RememberedIdentities(relation);
    const int64 accepted = KeepUnnamed(ids, cap);
    const BudgetLimit limit = CheckLimit(cap->epsilon, cap->delta);
    AcceptEarlier(relation, IdentityOf(relation).counted, cap, accepted, accept_earlier);
    const Oid types[] = {INT8ARRAYOID, FLOAT8OID,     FLOAT8OID, INT8OID,
                         NAMEOID,      RoleRefType(), INT8OID,   INT8OID};
    const Datum values[] = {PointerGetDatum(ids),
                            Float8GetDatum(limit.epsilon),
                            Float8GetDatum(limit.delta),
                            Int64GetDatum(static_cast<int64>(limit.order)),
                            NameGetDatum(&cap->unit),
                            CallerRef(caller),
                            Int64GetDatum(cap->earlier.count),
                            Int64GetDatum(cap->earlier.last)};
    const char nulls[] = {' ', ' ', ' ', ' ', cap->has_unit ? ' ' : 'n', ' ', ' ', ' ', '\0'};
    CatalogWrite("DELETE FROM dpboost.protection WHERE relation_id = ANY ($1)", 1, types, values, nullptr);
    CatalogWrite(
        "INSERT INTO dpboost.protection (relation_id, epsilon, delta, rdp_order, privacy_unit, set_by,"
        " earlier_releases, earlier_until) VALUES (($1)[1], $2, $3, $4, $5, $6, $7, $8)",
        8, types, values, nulls);
    CatalogEnd(&scope);
}

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

void OpenGoverned(Oid relid, Oid caller, ReadRelation* relation) {
    CheckOwner(relid, caller);
    LockRelationOid(relid, ShareUpdateExclusiveLock);
    CheckOwner(relid, caller);
    const RelationSet* set = RelationsBehind(relid);
    *relation = set->items[0];
    if (relation->temporary || IsCatalogNamespace(get_rel_namespace(relid)))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("%s cannot be protected", DescribeRelation(relid)),
                        errdetail("It is a temporary table or a system catalog.")));
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_protect(PG_FUNCTION_ARGS) {
    const Oid caller = GetUserId();
    RequireArguments(fcinfo, {"relation", "epsilon"});
    RequireArgument(fcinfo, 4, "accept_earlier");
    const Oid relid = PG_GETARG_OID(0);
    Cap cap = {};
    ReadRelation relation;
    OpenGoverned(relid, caller, &relation);
    cap.epsilon = PG_GETARG_FLOAT8(1);
    cap.has_delta = !PG_ARGISNULL(2);
    cap.delta = cap.has_delta ? PG_GETARG_FLOAT8(2) : kDefaultDelta;
    CheckLimit(cap.epsilon, cap.delta);
    cap.has_unit = !PG_ARGISNULL(3);
    if (cap.has_unit) {
        cap.unit = *PG_GETARG_NAME(3);
        FindColumn(relid, NameStr(cap.unit));
    }
    SetCap(&relation, &cap, PG_GETARG_BOOL(4), caller);
    PG_RETURN_VOID();
}

Datum dpboost_unprotect(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation"});
    const Oid caller = GetUserId();
    const Oid relid = PG_GETARG_OID(0);
    ReadRelation relation;
    OpenGoverned(relid, caller, &relation);
    CatalogScope scope;
    CatalogBegin(&scope);
    ArrayType* ids = RememberedIdentities(&relation);
    const Oid cap_types[] = {INT8ARRAYOID};
    const Datum cap_values[] = {PointerGetDatum(ids)};
    const uint64 caps = CatalogWrite("DELETE FROM dpboost.protection WHERE relation_id = ANY ($1)", 1,
                                     cap_types, cap_values, nullptr);
    const Oid types[] = {OIDOID};
    const Datum values[] = {ObjectIdGetDatum(relid)};
    const uint64 allowances =
        CatalogWrite("UPDATE dpboost.allowance SET revoked = true WHERE relation::oid = $1 AND NOT revoked",
                     1, types, values, nullptr);
    CatalogEnd(&scope);
    if (caps + allowances == 0)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s is not protected", DescribeRelation(relid))));
    PG_RETURN_VOID();
}

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
