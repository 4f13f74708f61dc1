// Reads caps and allowances with what was spent of them, and decides who may train. Used twice per training:
// by the caller's backend before it reads rows, and by the ledger worker when it counts.
#include "postgres/limits/budget.h"

#include "postgres/boundary/boundary.h"
#include "postgres/boundary/printed.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/population/population_tables.h"
#include "privacy/budget.h"

namespace dpboost {
namespace {

// A growing BudgetList in a memory context of its own.
struct Collected {
    MemoryContext context;
    BudgetList* list;
    int capacity;
};

void Start(Collected* collected, MemoryContext context) {
    collected->context = context;
    collected->capacity = 4;
    collected->list = static_cast<BudgetList*>(MemoryContextAllocZero(
        context, offsetof(BudgetList, items) + collected->capacity * sizeof(BudgetState)));
}

BudgetState* Append(Collected* collected, const RelationSet* relations, int position) {
    const ReadRelation& relation = relations->items[position];
    if (collected->list->count == collected->capacity) {
        collected->capacity *= 2;
        collected->list = static_cast<BudgetList*>(repalloc(
            collected->list, offsetof(BudgetList, items) + collected->capacity * sizeof(BudgetState)));
    }
    BudgetState* state = &collected->list->items[collected->list->count++];
    memset(state, 0, sizeof *state);
    state->relid = relation.relid;
    state->position = position;
    state->max_epsilon_per_train = std::numeric_limits<double>::infinity();
    strlcpy(state->relation_name, relation.relation_name, NAMEDATALEN);
    strlcpy(state->relation_kind, RelationKindName(relation.relid), sizeof state->relation_kind);
    return state;
}

// From the columns of the same names.
void ReadLimit(BudgetState* state, HeapTuple row, Relation table) {
    state->epsilon = DatumGetFloat8(ColumnOf(row, table, "epsilon"));
    state->delta = DatumGetFloat8(ColumnOf(row, table, "delta"));
    state->order = static_cast<uint32>(DatumGetInt64(ColumnOf(row, table, "rdp_order")));
}

// A number that may be null, which then is 0.
int64 ReadNumber(HeapTuple row, Relation table, const char* column) {
    bool is_null;
    const Datum value = ColumnOf(row, table, column, &is_null);
    return is_null ? 0 : DatumGetInt64(value);
}

// The catalog's row with this number, as a copy; null: there is none.
HeapTuple FindById(const RowTable& rows, const char* column, int64 id) {
    ScanKeyData key = RowKey(rows, column, F_INT8EQ, Int64GetDatum(id));
    return LastRow(rows, &key);
}

// A relation's protection as the catalog holds it: a cap of its own, one that it has in common with others, or both.
struct Protection {
    Relation table;
    HeapTuple row;
    bool has_population;
    int64 population_id;
    Relation populations;
    HeapTuple population;  // null: none, or it is lost
};

bool HasCap(const Protection& protection) {
    bool is_null;
    (void)ColumnOf(protection.row, protection.table, "epsilon", &is_null);
    return !is_null;
}

// A population whose row was lost must not set its tables free.
void CheckNotLost(const Protection& protection, const char* relation_name) {
    if (protection.has_population && protection.population == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the population of \"%s\" is not in dpboost's catalog", relation_name),
                        errdetail("So its cap cannot be checked."),
                        errhint("Restore the catalog from a dump of the whole database.")));
}

void AppendCap(Collected* collected, const RelationSet* relations, int position, const Protection& protection,
               bool of_population) {
    BudgetState* state = Append(collected, relations, position);
    Relation table = of_population ? protection.populations : protection.table;
    const HeapTuple row = of_population ? protection.population : protection.row;
    ReadLimit(state, row, table);
    state->unit_state_id = ReadNumber(row, table, "unit_state_id");
    state->earlier_releases = ReadNumber(protection.row, protection.table, "earlier_releases");
    state->earlier_until = ReadNumber(protection.row, protection.table, "earlier_until");
    bool has_no_unit;
    const Datum unit = ColumnOf(protection.row, protection.table, "privacy_unit", &has_no_unit);
    if (!has_no_unit)
        strlcpy(state->privacy_unit, NameStr(*DatumGetName(unit)), NAMEDATALEN);
    if (protection.has_population)
        strlcpy(state->population_name,
                NameStr(*DatumGetName(ColumnOf(protection.population, protection.populations, "name"))),
                NAMEDATALEN);
    if (of_population)
        state->population_id = protection.population_id;
}

void AppendCaps(Collected* collected, const RelationSet* relations, const Identities* identities) {
    const RowTable rows = OpenRows("protection", "protection_pkey");
    const RowTable populations = OpenRowsWith(rows, "population", "population_pkey");
    const ArrayType* ids = DistinctIdentities(identities);
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    for (int id = 0; id < ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids)); ++id) {
        Protection protection = {};
        protection.table = rows.table;
        protection.row = FindById(rows, "relation_id", values[id]);
        protection.populations = populations.table;
        if (protection.row == nullptr)
            continue;
        bool has_none;
        const Datum population_id = ColumnOf(protection.row, rows.table, "population_id", &has_none);
        protection.has_population = !has_none;
        protection.population_id = has_none ? 0 : DatumGetInt64(population_id);
        if (protection.has_population)
            protection.population = FindById(populations, "population_id", protection.population_id);
        for (int i = 0; i < relations->count; ++i) {
            if (!HasIdentity(identities->of[i].own, values[id]))
                continue;
            CheckNotLost(protection, relations->items[i].relation_name);
            if (HasCap(protection))
                AppendCap(collected, relations, i, protection, false);
            if (protection.has_population)
                AppendCap(collected, relations, i, protection, true);
        }
    }
    CloseRows(populations);
    CloseRows(rows);
}

// Whether the relation stands at an earlier position as well.
bool IsListedBefore(const RelationSet* relations, int position) {
    for (int i = 0; i < position; ++i)
        if (relations->items[i].relid == relations->items[position].relid)
            return true;
    return false;
}

void ReadRenewal(BudgetState* state, HeapTuple row, Relation table) {
    bool is_null;
    const Datum renew = ColumnOf(row, table, "renew", &is_null);
    state->renews = !is_null;
    if (!state->renews)
        return;
    state->renew = *DatumGetIntervalP(renew);
    state->window =
        FindWindow(DatumGetTimestampTz(ColumnOf(row, table, "renew_from")), &state->renew, LedgerTime());
}

// What renews is bounded by the cap alone.
void CheckCapsOfRenewing(const BudgetList* budgets) {
    for (int b = 0; b < budgets->count; ++b) {
        const BudgetState* budget = &budgets->items[b];
        bool has_cap = !budget->renews;
        for (int c = 0; c < budgets->count; ++c)
            has_cap |= !OidIsValid(budgets->items[c].role) && budgets->items[c].relid == budget->relid;
        if (!has_cap)
            ereport(ERROR,
                    (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                     errmsg("the privacy budget of %s renews, and there is no cap", DescribeBudget(budget)),
                     errhint("The owner can set one, by dpboost_protect.")));
    }
}

// An allowance that was not revoked, of a role that is there and that `caller` acts for, or of any if that is 0.
bool IsGrantedTo(HeapTuple row, Relation table, Oid caller) {
    const Oid role = RememberedOid(ColumnOf(row, table, "grantee"));
    return !DatumGetBool(ColumnOf(row, table, "revoked")) && OidIsValid(role) && RoleName(role) != nullptr &&
           (!OidIsValid(caller) || ActsFor(caller, role));
}

void AppendAllowance(Collected* collected, const RelationSet* relations, int position, HeapTuple row,
                     Relation table) {
    BudgetState* state = Append(collected, relations, position);
    const Datum grantee = ColumnOf(row, table, "grantee");
    ReadLimit(state, row, table);
    state->role = RememberedOid(grantee);
    strlcpy(state->role_name, RoleName(state->role), NAMEDATALEN);
    strlcpy(state->granted_name, RememberedRoleName(grantee), NAMEDATALEN);
    bool has_no_limit;
    const Datum limit = ColumnOf(row, table, "max_epsilon_per_train", &has_no_limit);
    if (!has_no_limit)
        state->max_epsilon_per_train = DatumGetFloat8(limit);
    ReadRenewal(state, row, table);
}

// Those of `caller`, or everybody's if that is 0.
void AppendAllowances(Collected* collected, const RelationSet* relations, Oid caller) {
    const RowTable rows = OpenRows("allowance", "allowance_key");
    for (int i = 0; i < relations->count; ++i) {
        if (IsListedBefore(relations, i))
            continue;
        ScanKeyData key = RowKey(rows, nullptr, F_OIDEQ, ObjectIdGetDatum(relations->items[i].relid));
        SysScanDesc scan = FindRows(rows, &key, 1);
        while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection))
            if (IsGrantedTo(row, rows.table, caller))
                AppendAllowance(collected, relations, i, row, rows.table);
        systable_endscan_ordered(scan);
    }
    CloseRows(rows);
}

enum class Counting { kSpending, kLimitsOnly };

BudgetList* Load(const RelationSet* relations, Oid caller, bool allowances, Counting counting) {
    Collected collected;
    Start(&collected, CurrentMemoryContext);
    if (relations->count == 0)  // nothing is read, so nothing limits it
        return collected.list;
    CatalogScope scope;
    CatalogBegin(&scope);
    const Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    AppendCaps(&collected, relations, identities);
    if (allowances)
        AppendAllowances(&collected, relations, caller);
    if (counting == Counting::kSpending) {
        CheckCapsOfRenewing(collected.list);
        AddPopulations(collected.list, &relations, &identities);
        const LimitTotals* totals = FindTotals(collected.list, relations, identities);
        for (int b = 0; b < collected.list->count; ++b) {
            BudgetState* state = &collected.list->items[b];
            CallCore([&] {
                state->spent =
                    state->unit_state_id != 0 ? BudgetSpent::ByUnit() : SumOf(totals[b]).At(state->order);
            });
        }
    }
    CatalogEnd(&scope);
    return collected.list;
}

bool HasAllowance(Oid caller, Oid relid) {
    const RowTable rows = OpenRows("allowance", "allowance_key");
    ScanKeyData key = RowKey(rows, nullptr, F_OIDEQ, ObjectIdGetDatum(relid));
    SysScanDesc scan = FindRows(rows, &key, 1);
    bool found = false;
    while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection))
        found |= IsGrantedTo(row, rows.table, caller);
    systable_endscan_ordered(scan);
    CloseRows(rows);
    return found;
}

bool MaySelect(Oid caller, Oid relid, const AttrNumber* columns, int column_count) {
    if (pg_class_aclcheck(relid, caller, ACL_SELECT) == ACLCHECK_OK)
        return true;
    for (int i = 0; i < column_count; ++i) {
        if (pg_attribute_aclcheck(relid, columns[i], caller, ACL_SELECT) != ACLCHECK_OK)
            return false;
    }
    return column_count > 0;
}

}  // namespace

bool ActsFor(Oid caller, Oid role) {
    return caller == role || (!superuser_arg(caller) && has_privs_of_role(caller, role));
}

TrainRight CheckMayTrain(Oid caller, Oid relid, const AttrNumber* columns, int column_count) {
    if (HasAllowance(caller, relid))
        return TrainRight::kBudget;
    if (MaySelect(caller, relid, columns, column_count))
        return TrainRight::kSelect;
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("permission denied to train on %s", DescribeRelation(relid)),
             errdetail("Role \"%s\" has no privacy budget on it and may not SELECT from it.",
                       GetUserNameFromId(caller, false)),
             errhint("Ask the owner to run dpboost_set_budget, or SET ROLE to one of your roles that has "
                     "a budget.")));
}

BudgetList* LoadBudgets(Oid caller, const RelationSet* relations) {
    return Load(relations, caller, true, Counting::kSpending);
}

BudgetList* CollectLimits(const RelationSet* relations, const Identities* identities) {
    Collected collected;
    Start(&collected, CurrentMemoryContext);
    AppendCaps(&collected, relations, identities);
    AppendAllowances(&collected, relations, InvalidOid);
    return collected.list;
}

void ChargeBudgets(BudgetList* budgets, const char* plan_bytes, size_t plan_size) {
    for (int i = 0; i < budgets->count; ++i) {
        BudgetState* state = &budgets->items[i];
        bool fits = false;
        double needed = 0;
        double left = 0;
        CallCore([&] {
            const Cost cost = Cost::Parse(std::string_view(plan_bytes, plan_size));
            const Budget budget = Budget::Restore(state->epsilon, state->delta, state->order, state->spent);
            fits = budget.Fits(cost);
            needed = cost.epsilon;
            left = budget.RoomEpsilon(IsGaussianFullBatch(cost.events), cost.delta);
            if (fits)
                state->spent.Add(cost, state->order);
        });
        if (!fits)
            ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                            errmsg("privacy budget of %s does not allow epsilon %.4g", DescribeBudget(state),
                                   needed),
                            errdetail("Epsilon %.4g is left.", left),
                            errhint("Lower epsilon, or ask the %s's owner to raise the limit.",
                                    state->population_id != 0 ? "population" : "table")));
    }
}

BudgetList* LoadLimits(const RelationSet* relations) {
    return Load(relations, InvalidOid, true, Counting::kLimitsOnly);
}

bool IsGoverned(const RelationSet* relations) {
    return LoadLimits(relations)->count > 0;
}

void CheckPerTrainLimit(const BudgetList* budgets, double epsilon, double delta) {
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (std::isinf(budget->max_epsilon_per_train) ||
            (epsilon <= budget->max_epsilon_per_train && delta <= budget->delta))
            continue;
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                        errmsg("privacy budget of %s allows at most epsilon %s at delta %s per training",
                               DescribeBudget(budget), PrintedNumber(budget->max_epsilon_per_train),
                               PrintedNumber(budget->delta)),
                        errdetail("The training asks for epsilon %s at delta %s.", PrintedNumber(epsilon),
                                  PrintedNumber(delta)),
                        errhint("Ask for less, or ask the table's owner to raise max_epsilon_per_train.")));
    }
}

char* DescribeBudget(const BudgetState* budget) {
    if (budget->population_id != 0)
        return psprintf("population \"%s\"", budget->population_name);
    if (budget->role_name[0] == '\0')
        return psprintf("%s \"%s\"", budget->relation_kind, budget->relation_name);
    return psprintf("role \"%s\" on %s \"%s\"", budget->role_name, budget->relation_kind,
                    budget->relation_name);
}

}  // namespace dpboost
