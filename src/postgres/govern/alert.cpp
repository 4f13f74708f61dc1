// Sets, raises and shows alerts.
#include "postgres/govern/alert.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/printed.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/limits/protect.h"
#include "postgres/population/population.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_set_alert);
PG_FUNCTION_INFO_V1(dpboost_drop_alert);
}

namespace dpboost {
namespace {

constexpr char kChannel[] = "dpboost_budget";

double PartLeft(const BudgetState* budget) {
    double part = 0;
    CallCore([&] {
        part =
            Budget::Restore(budget->epsilon, budget->delta, budget->order, budget->spent).Remaining().share;
    });
    return part;
}

struct Alert {
    int64 alert_id;
    double below;
    bool raised;  // since it was set
};

// Inside a catalog scope: the alert on a budget; number 0 if there is none.
Alert FindAlert(const BudgetState* budget) {
    const uint64 rows = CatalogRead(
        "SELECT alert_id, below, EXISTS (SELECT FROM dpboost.alert_raised AS r WHERE r.alert_id = a.alert_id"
        " AND r.raised_at >= a.set_at) FROM dpboost.alert AS a WHERE CASE WHEN $2 <> 0 THEN population_id = "
        "$2"
        " ELSE relation::oid = $1 AND coalesce(grantee::oid, 0) = $3 END",
        {OidOf(budget->relid), Int8(budget->population_id), OidOf(budget->role)}, 1);
    if (rows == 0)
        return {0, 0, false};
    return {DatumGetInt64(CatalogValue(0, 1)), DatumGetFloat8(CatalogValue(0, 2)),
            DatumGetBool(CatalogValue(0, 3))};
}

bool HasAlerts() {
    const RowTable rows = OpenRows("alert", nullptr);
    SysScanDesc scan = AllRows(rows);
    const bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    CloseRows(rows);
    return found;
}

void RecordAlert(int64 alert_id, int64 release_id) {
    CatalogWrite(
        "INSERT INTO dpboost.alert_raised (alert_id, release_id) SELECT $1, $2"
        " WHERE NOT EXISTS (SELECT FROM dpboost.alert_raised WHERE alert_id = $1 AND release_id = $2)",
        {Int8(alert_id), Int8(release_id)});
}

// What an alert is set on: a relation's cap, a role's budget on it, or a population's cap; and who
// sets it. Each as a parameter of a statement.
struct AlertSubject {
    Parameter relation;
    Parameter population_id;
    Parameter grantee;
    Parameter caller;
};

// The condition that finds it, by the first three.
#define DPBOOST_SAME_SUBJECT                                                                  \
    " relation::oid IS NOT DISTINCT FROM ($1)::oid AND population_id IS NOT DISTINCT FROM $2" \
    " AND grantee::oid IS NOT DISTINCT FROM ($3)::oid"

// Inside a catalog scope. `relation` is nullptr if none is named; then a population is.
void FillSubject(const ReadRelation* relation, const char* population, Oid grantee, Oid caller,
                 AlertSubject* subject) {
    *subject = {NullOf(RelationRefType()),
                NullOf(INT8OID),
                NullOf(RoleRefType()),
                {RoleRefType(), CallerRef(caller)}};
    if (relation != nullptr)
        subject->relation = {RelationRefType(),
                             RelationRef(relation->relid, relation->schema_name, relation->relation_name)};
    else
        subject->population_id = Int8(OpenPopulation(population, caller));
    if (OidIsValid(grantee)) {
        const char* name = RoleName(grantee);
        if (name == nullptr)
            ereport(ERROR,
                    (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", grantee)));
        subject->grantee = {RoleRefType(), RoleRef(grantee, name)};
    }
}

// An alert on a limit that there is not, or that does not run out, would be silent for ever.
void RequireLimit(const AlertSubject& subject, FunctionCallInfo fcinfo) {
    const uint64 found = CatalogRead(
        "SELECT FROM dpboost.protection AS p JOIN dpboost.relation_name AS n USING (relation_id)"
        " WHERE $3 IS NULL AND n.relation::oid = ($1)::oid AND p.epsilon IS NOT NULL"
        " AND p.unit_state_id IS NULL"
        " UNION ALL SELECT FROM dpboost.population WHERE population_id = $2 AND unit_state_id IS NULL"
        " UNION ALL SELECT FROM dpboost.allowance AS a"
        " WHERE a.relation::oid = ($1)::oid AND a.grantee::oid = ($3)::oid AND NOT a.revoked",
        {subject.relation, subject.population_id, subject.grantee}, 1);
    if (found > 0)
        return;
    const char* whose = PG_ARGISNULL(0) ? psprintf("population \"%s\"", NameStr(*PG_GETARG_NAME(3)))
                                        : DescribeRelation(PG_GETARG_OID(0));
    if (!PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("role \"%s\" has no privacy budget on %s", RoleName(PG_GETARG_OID(2)), whose),
                        errhint("Grant one by dpboost_set_budget.")));
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("%s has no cap of its own that could run out", whose),
         errhint("Set one by dpboost_protect, or name the table's population. Caps that each person has do "
                 "not run out.")));
}

// Opens a catalog scope on what the arguments name, a relation or a population, that the caller must own.
void OpenSubject(FunctionCallInfo fcinfo, int grantee_at, int population_at, CatalogScope* scope,
                 AlertSubject* subject) {
    const Oid caller = GetUserId();
    const bool has_relation = !PG_ARGISNULL(0), has_grantee = !PG_ARGISNULL(grantee_at);
    if (has_relation == !PG_ARGISNULL(population_at) || (!has_relation && has_grantee))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("an alert is for a table, a role on a table, or a population")));
    ReadRelation relation;
    if (has_relation)
        OpenGoverned(PG_GETARG_OID(0), caller, &relation);
    CatalogBegin(scope);
    FillSubject(has_relation ? &relation : nullptr,
                has_relation ? nullptr : NameStr(*PG_GETARG_NAME(population_at)),
                has_grantee ? PG_GETARG_OID(grantee_at) : InvalidOid, caller, subject);
}

}  // namespace

double* PartsLeft(const BudgetList* budgets) {
    if (budgets->count == 0 || !HasAlerts())
        return nullptr;
    auto* parts = static_cast<double*>(palloc(sizeof(double) * budgets->count));
    for (int i = 0; i < budgets->count; ++i)
        parts[i] = PartLeft(&budgets->items[i]);
    return parts;
}

void RaiseAlerts(BudgetList* charged, const double* before, int64 release_id) {
    if (before == nullptr)
        return;
    bool raised = false;
    for (int i = 0; i < charged->count; ++i) {
        BudgetState* budget = &charged->items[i];
        CatalogScope scope;
        CatalogBegin(&scope);
        const Alert alert = FindAlert(budget);
        // On the way down; or at once, if so little was left already when it was set.
        if (alert.alert_id != 0 && (before[i] >= alert.below || !alert.raised) &&
            PartLeft(budget) < alert.below) {
            RecordAlert(alert.alert_id, release_id);
            budget->alert_below = alert.below;
            raised = true;
        }
        CatalogEnd(&scope);
    }
    if (raised)
        Async_Notify(kChannel, "");
}

void ShowAlerts(const BudgetList* charged) {
    for (int i = 0; i < charged->count; ++i) {
        const BudgetState* budget = &charged->items[i];
        if (budget->alert_below > 0)
            ereport(NOTICE, (errmsg("less than %s %% of the privacy budget of %s is left",
                                    PrintedNumber(100 * budget->alert_below), DescribeBudget(budget))));
    }
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_set_alert(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArgument(fcinfo, 1, "part_remaining");
    const double below = PG_GETARG_FLOAT8(1);
    if (!(below > 0 && below <= 1))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("part_remaining must be above 0 and at most 1, not %s", PrintedNumber(below))));
    CatalogScope scope;
    AlertSubject subject;
    OpenSubject(fcinfo, 2, 3, &scope, &subject);
    RequireLimit(subject, fcinfo);
    const uint64 changed = CatalogWrite(
        "UPDATE dpboost.alert SET below = $4, set_by = $5, set_at = clock_timestamp()"
        " WHERE" DPBOOST_SAME_SUBJECT,
        {subject.relation, subject.population_id, subject.grantee, Float8(below), subject.caller});
    if (changed == 0)
        CatalogWrite(
            "INSERT INTO dpboost.alert (relation, population_id, grantee, below, set_by)"
            " VALUES ($1, $2, $3, $4, $5)",
            {subject.relation, subject.population_id, subject.grantee, Float8(below), subject.caller});
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_drop_alert(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    CatalogScope scope;
    AlertSubject subject;
    OpenSubject(fcinfo, 1, 2, &scope, &subject);
    const uint64 dropped = CatalogWrite("DELETE FROM dpboost.alert WHERE" DPBOOST_SAME_SUBJECT,
                                        {subject.relation, subject.population_id, subject.grantee});
    CatalogEnd(&scope);
    if (dropped == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no such alert")));
    PG_RETURN_VOID();
}
