// What a table's owner says about its cap: dpboost_protect, dpboost_unprotect; and what all functions for owners need.
// They change limits and rights in the caller's transaction; what was spent is the ledger's and out of their
// reach. The role that calls must own the relation or be a superuser.
#include "postgres/limits/protect.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/printed.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/columns/source_column.h"
#include "postgres/govern/limit_history.h"
#include "postgres/population/earlier_units.h"
#include "postgres/population/population.h"
#include "postgres/units/unit_start.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_protect);
PG_FUNCTION_INFO_V1(dpboost_unprotect);
}

namespace dpboost {
namespace {

Identity IdentityOf(const ReadRelation* relation) {
    auto* set = static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + sizeof(ReadRelation)));
    set->count = 1;
    set->items[0] = *relation;
    return ResolveIdentities(set, CurrentMemoryContext)->of[0];
}

// A protection as it is to be written.
struct Cap {
    double epsilon;  // 0: no cap of its own
    double delta;
    bool has_delta;
    NameData unit;
    bool has_unit;
    int64 population_id;      // 0: none
    EarlierReleases earlier;  // for another unit, accepted
    Accounting accounting;
    int64 own_state_id;  // its own accounts, if it has them
    double old_epsilon;  // of the cap that it replaces; 0: there was none
    double old_delta;
};

[[noreturn]] void RaiseOtherPopulation(const ReadRelation* relation, const char* population) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s belongs to population \"%s\"", DescribeRelation(relation->relid), population),
                    errhint("dpboost_unprotect takes it out of there; what it has spent stays counted.")));
    pg_unreachable();
}

// What stays in force when it is not named, unit, limit and population: to forget it silently would weaken the promise.
// Returns up to which release others were accepted for the unit.
int64 KeepUnnamed(const ReadRelation* relation, ArrayType* ids, Cap* cap) {
    const uint64 rows = CatalogRead(
        "SELECT p.privacy_unit, p.earlier_until, min(p.delta) OVER (), min(p.epsilon) OVER (),"
        " max(p.population_id) OVER (), max(q.name::text) FILTER (WHERE p.population_id <> o.population_id) "
        "OVER ()"
        " FROM dpboost.protection AS p LEFT JOIN dpboost.population AS q USING (population_id), LATERAL ("
        "  SELECT coalesce(nullif($2, 0), max(population_id)) FROM dpboost.protection WHERE relation_id = "
        "ANY ($1))"
        "  AS o(population_id)"
        " WHERE p.relation_id = ANY ($1) ORDER BY p.privacy_unit NULLS LAST, p.earlier_until",
        {Int8s(ids), Int8(cap->population_id)}, 1);
    if (rows == 0)
        return 0;
    bool had_no_unit, had_no_cap, had_no_population, is_one;
    const Datum other = CatalogValue(0, 6, &is_one);
    if (!is_one)
        RaiseOtherPopulation(relation, TextDatumGetCString(other));
    const Datum epsilon = CatalogValue(0, 4, &had_no_cap);
    if (!cap->has_delta && !had_no_cap)
        cap->delta = DatumGetFloat8(CatalogValue(0, 3));
    if (cap->epsilon == 0 && !had_no_cap)
        cap->epsilon = DatumGetFloat8(epsilon);
    if (!had_no_cap) {
        cap->old_epsilon = DatumGetFloat8(epsilon);
        cap->old_delta = DatumGetFloat8(CatalogValue(0, 3));
    }
    const Datum population_id = CatalogValue(0, 5, &had_no_population);
    if (!had_no_population)
        cap->population_id = DatumGetInt64(population_id);
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
    cap->earlier = FindEarlierReleases(relation->relid, counted, unit, 0, accepted);
    if (cap->earlier.unaccepted > 0 && !accept)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("earlier releases of %s did not protect %s", DescribeRelation(relation->relid),
                        DescribeUnit(unit)),
                 errdetail_plural("There is %ld, and what it cost was counted otherwise.",
                                  "There are %ld, and what they cost was counted otherwise.",
                                  static_cast<unsigned long>(cap->earlier.unaccepted),
                                  static_cast<long>(cap->earlier.unaccepted)),
                 errhint("With accept_earlier => true they count as they are, and dpboost_budgets shows how "
                         "many they are.")));
}

void WriteCap(ArrayType* ids, const Cap* cap, Oid caller) {
    const bool has_cap = cap->epsilon != 0;
    const BudgetLimit limit = has_cap ? CheckLimit(cap->epsilon, cap->delta) : BudgetLimit{};
    const Parameter remembered = Int8s(ids);
    CatalogWrite("DELETE FROM dpboost.protection WHERE relation_id = ANY ($1)", {remembered});
    CatalogWrite(
        "INSERT INTO dpboost.protection (relation_id, epsilon, delta, rdp_order, privacy_unit, set_by,"
        " earlier_releases, earlier_until, population_id, unit_state_id)"
        " VALUES (($1)[1], $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        {remembered,
         If(has_cap, Float8(limit.epsilon)),
         If(has_cap, Float8(limit.delta)),
         If(has_cap, Int8(static_cast<int64>(limit.order))),
         If(cap->has_unit, {NAMEOID, NameGetDatum(&cap->unit)}),
         {RoleRefType(), CallerRef(caller)},
         Int8(cap->earlier.count),
         Int8(cap->earlier.last),
         If(cap->population_id != 0, Int8(cap->population_id)),
         If(cap->own_state_id != 0, Int8(cap->own_state_id))});
}

// Where every person has an account, its limit stays what it is: accounts are parts of it, at its order.
void CheckLimitStays(const ReadRelation* relation, ArrayType* ids, const Cap* cap) {
    if (CatalogRead(
            "SELECT FROM dpboost.protection WHERE relation_id = ANY ($1) AND unit_state_id IS NOT NULL"
            " AND (epsilon <> $2 OR delta <> $3 OR privacy_unit <> $4)",
            {Int8s(ids), Float8(cap->epsilon), Float8(cap->delta), {NAMEOID, NameGetDatum(&cap->unit)}},
            1) > 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the limit and the privacy unit of %s cannot be changed",
                               DescribeRelation(relation->relid)),
                        errdetail("Every person has an account under them.")));
}

// What is said about accounting must go with what there is. Returns whether accounts are to be opened.
bool CheckAccounting(const ReadRelation* relation, ArrayType* ids, Cap* cap) {
    cap->own_state_id = UnitStateOf(ids, 0);
    if (cap->own_state_id != 0 && cap->population_id != 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("%s cannot join a population", DescribeRelation(relation->relid)),
                        errdetail("Its persons have accounts of their own.")));
    const int64 state_id = UnitStateOf(ids, cap->population_id);
    if (state_id != 0 && cap->accounting == Accounting::kRelease)
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("%s cannot go back to accounting by release", DescribeRelation(relation->relid)),
             errdetail("By then some persons may have spent the whole limit, so nothing would be left.")));
    if (cap->own_state_id != 0)
        CheckLimitStays(relation, ids, cap);
    const bool opens = state_id == 0 && cap->accounting == Accounting::kUnit;
    if (opens && !cap->has_unit) {
        PrimaryKeyUnit(relation->relid, &cap->unit);
        cap->has_unit = true;
    }
    if (opens && cap->population_id != 0)
        CheckAllBelong(cap->population_id);
    if (state_id != 0 && cap->population_id != 0 && !BelongsTo(cap->population_id, ids))
        CheckMayJoinUnits(state_id, relation, cap->unit, IdentityOf(relation).counted);
    return opens;
}

// `population` is nullptr if none is named.
void SetCap(const ReadRelation* relation, Cap* cap, const char* population, bool accept_earlier, Oid caller) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    RevokeOfDroppedRoles(relation->relid);
    ArrayType* ids = RememberedIdentities(relation);
    if (population != nullptr)
        cap->population_id = OpenPopulation(population, caller);
    const bool named = cap->epsilon != 0;
    const int64 accepted = KeepUnnamed(relation, ids, cap);
    const bool opens = CheckAccounting(relation, ids, cap);
    const bool switches = cap->accounting != Accounting::kUnnamed && cap->epsilon != 0;
    if (!named && !switches && cap->population_id == 0)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"epsilon\" must not be NULL"),
                        errdetail("Only a table of a population may have no cap of its own."),
                        errhint("Say how much may ever be learned from it, for example epsilon => 3.")));
    AcceptEarlier(relation, IdentityOf(relation).counted, cap, accepted, accept_earlier);
    WriteCap(ids, cap, caller);
    if (cap->old_epsilon != 0)
        NoteReplacedLimit(psprintf("cap of %s", DescribeRelation(relation->relid)), cap->old_epsilon,
                          cap->old_delta, cap->epsilon, cap->delta);
    if (cap->population_id != 0)
        JoinPopulation(cap->population_id, IdentityOf(relation).own, cap->unit, cap->earlier.last, caller);
    LimitChange change = {};
    change.change = "protect";
    change.relation = relation;
    change.relation_ids = ids;
    change.population_id = cap->population_id;
    change.population = cap->population_id != 0 ? PopulationName(cap->population_id) : nullptr;
    change.epsilon = cap->epsilon;
    change.delta = cap->delta;
    change.privacy_unit = cap->has_unit ? NameStr(cap->unit) : nullptr;
    RecordLimitChange(caller, change);
    MemoryContext inner = MemoryContextSwitchTo(outer);
    ids = DatumGetArrayTypePCopy(PointerGetDatum(ids));
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    if (opens)
        StartUnits(relation, ids, cap->population_id, cap->unit, caller);
}

}  // namespace

// The order is fixed now, for as long as the limit stands. The proof (privacy/budget.h) wants limit and order
// to be there before the first release that counts. A limit set or changed later counts all earlier releases
// again, at its own order, and keeps its promise unless the owner chose it by looking at what was released:
// raised because a model was good, say, it is a new pair of limit and order that depends on the rows. Owners
// are trusted; so this is allowed, and said here and in doc/privacy.md.
BudgetLimit CheckLimit(double epsilon, double delta) {
    BudgetLimit limit = {epsilon, delta, 0};
    if (!(epsilon > 0 && epsilon <= kMaxEpsilon))
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("epsilon must be above 0 and at most %s, not %s", PrintedNumber(kMaxEpsilon),
                    PrintedNumber(epsilon)),
             epsilon > kMaxEpsilon
                 ? errhint("Odds may change by a factor of e to that power: 1 to 3 is usual for all that is "
                           "ever released, and 10 promises next to nothing.")
                 : 0));
    if (!(delta >= 0 && delta <= kMaxDelta))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("delta must be between 0 and %s, not %s", PrintedNumber(kMaxDelta),
                               PrintedNumber(delta)),
                        errhint("Delta should be well below one over the number of persons, such as 1e-6.")));
    CallCore([&] { limit.order = Budget(epsilon, delta).order(); });
    return limit;
}

void NoteReplacedLimit(const char* whose, double old_epsilon, double old_delta, double epsilon,
                       double delta) {
    if (old_epsilon == epsilon && old_delta == delta)
        return;
    if (old_delta == delta)
        ereport(NOTICE, (errmsg("%s changes from epsilon %s to %s", whose, PrintedNumber(old_epsilon),
                                PrintedNumber(epsilon))));
    else
        ereport(NOTICE, (errmsg("%s changes from epsilon %s at delta %s to epsilon %s at delta %s", whose,
                                PrintedNumber(old_epsilon), PrintedNumber(old_delta), PrintedNumber(epsilon),
                                PrintedNumber(delta))));
}

Datum CallerRef(Oid caller) {
    return RoleRef(caller, GetUserNameFromId(caller, false));
}

ArrayType* RememberedIdentities(const ReadRelation* relation) {
    ArrayType* own = IdentityOf(relation).own;
    if (own != nullptr)
        RememberRelation(relation, own);
    ArrayType* governed = GovernedIdentities(relation, own);
    return governed != nullptr ? governed : RememberRelation(relation, nullptr);
}

void RevokeOfDroppedRoles(Oid relid) {
    CatalogWrite(
        "UPDATE dpboost.allowance SET revoked = true WHERE relation::oid = $1 AND NOT revoked"
        " AND NOT EXISTS (SELECT FROM pg_roles WHERE oid = grantee::oid)",
        {OidOf(relid)});
}

void OpenGoverned(Oid relid, Oid caller, ReadRelation* relation) {
    CheckOwnsRelation(relid, caller);
    LockRelationOid(relid, ShareUpdateExclusiveLock);
    CheckOwnsRelation(relid, caller);
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
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArguments(fcinfo, {"relation"});
    RequireArgument(fcinfo, 4, "accept_earlier");
    const Oid relid = PG_GETARG_OID(0);
    Cap cap = {};
    ReadRelation relation;
    OpenGoverned(relid, caller, &relation);
    cap.has_delta = !PG_ARGISNULL(2);
    cap.delta = cap.has_delta ? PG_GETARG_FLOAT8(2) : kDefaultDelta;
    if (!PG_ARGISNULL(1)) {
        cap.epsilon = PG_GETARG_FLOAT8(1);
        CheckLimit(cap.epsilon, cap.delta);
    }
    cap.has_unit = !PG_ARGISNULL(3);
    if (cap.has_unit) {
        cap.unit = *PG_GETARG_NAME(3);
        FindColumn(relid, NameStr(cap.unit));
    }
    if (!PG_ARGISNULL(6))
        cap.accounting = ReadAccounting(text_to_cstring(PG_GETARG_TEXT_PP(6)));
    SetCap(&relation, &cap, PG_ARGISNULL(5) ? nullptr : NameStr(*PG_GETARG_NAME(5)), PG_GETARG_BOOL(4),
           caller);
    PG_RETURN_VOID();
}

Datum dpboost_unprotect(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation"});
    const Oid caller = GetUserId();
    const Oid relid = PG_GETARG_OID(0);
    ReadRelation relation;
    OpenGoverned(relid, caller, &relation);
    CatalogScope scope;
    CatalogBegin(&scope);
    ArrayType* ids = RememberedIdentities(&relation);
    if (CatalogRead(
            "SELECT FROM dpboost.protection AS p LEFT JOIN dpboost.population AS q USING (population_id)"
            " WHERE relation_id = ANY ($1) AND (p.unit_state_id IS NOT NULL OR q.unit_state_id IS NOT NULL)",
            {Int8s(ids)}, 1) > 0)
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s stays protected", DescribeRelation(relid)),
             errdetail("Every person has an account, which would miss what is released meanwhile."),
             errhint("dpboost_revoke_budget ends the budgets of roles.")));
    const uint64 caps =
        CatalogWrite("DELETE FROM dpboost.protection WHERE relation_id = ANY ($1)", {Int8s(ids)});
    const uint64 allowances =
        CatalogWrite("UPDATE dpboost.allowance SET revoked = true WHERE relation::oid = $1 AND NOT revoked",
                     {OidOf(relid)});
    LimitChange change = {};
    change.change = "unprotect";
    change.relation = &relation;
    change.relation_ids = ids;
    if (caps + allowances > 0)
        RecordLimitChange(caller, change);
    CatalogEnd(&scope);
    if (caps + allowances == 0)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s is not protected", DescribeRelation(relid))));
    PG_RETURN_VOID();
}
