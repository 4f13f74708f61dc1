// Reads caps and allowances with what was spent of them, and decides who may train. Used twice per training:
// by the caller's backend before it reads rows, and by the ledger worker when it counts.
#include "postgres/limits/budget.h"

#include "postgres/boundary/boundary.h"
#include "postgres/boundary/printed.h"
#include "postgres/catalog/catalog.h"
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

// From three columns, of which `first` is the first.
void ReadLimit(BudgetState* state, uint64 row, int first) {
    state->epsilon = DatumGetFloat8(CatalogValue(row, first));
    state->delta = DatumGetFloat8(CatalogValue(row, first + 1));
    state->order = static_cast<uint32>(DatumGetInt64(CatalogValue(row, first + 2)));
}

// A relation's protection as the catalog holds it: a cap of its own, one that it has in common with others, or both.
struct Protection {
    int64 relation_id;
    bool has_cap;
    int64 population_id;  // 0: none
    bool is_lost;         // the population is not in the catalog
    uint64 row;
};

Protection ReadProtection(uint64 row) {
    bool has_no_cap, has_no_population, has_no_name;
    CatalogValue(row, 2, &has_no_cap);
    const Datum population_id = CatalogValue(row, 8, &has_no_population);
    CatalogValue(row, 9, &has_no_name);
    return {DatumGetInt64(CatalogValue(row, 1)), !has_no_cap,
            has_no_population ? 0 : DatumGetInt64(population_id), !has_no_population && has_no_name, row};
}

// A population whose row was lost must not set its tables free.
void CheckNotLost(const Protection& protection, const char* relation_name) {
    if (protection.is_lost)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the population of \"%s\" is not in dpboost's catalog", relation_name),
                        errdetail("So its cap cannot be checked."),
                        errhint("Restore the catalog from a dump of the whole database.")));
}

void AppendCap(Collected* collected, const RelationSet* relations, int position, const Protection& protection,
               bool of_population) {
    BudgetState* state = Append(collected, relations, position);
    const uint64 row = protection.row;
    bool has_no_unit;
    ReadLimit(state, row, of_population ? 10 : 2);
    state->earlier_releases = DatumGetInt64(CatalogValue(row, 6));
    state->earlier_until = DatumGetInt64(CatalogValue(row, 7));
    const Datum unit = CatalogValue(row, 5, &has_no_unit);
    if (!has_no_unit)
        strlcpy(state->privacy_unit, NameStr(*DatumGetName(unit)), NAMEDATALEN);
    if (protection.population_id != 0)
        strlcpy(state->population_name, NameStr(*DatumGetName(CatalogValue(row, 9))), NAMEDATALEN);
    if (of_population)
        state->population_id = protection.population_id;
    state->unit_state_id = DatumGetInt64(CatalogValue(row, of_population ? 14 : 13));
}

void AppendCaps(Collected* collected, const RelationSet* relations, const Identities* identities) {
    const uint64 rows = CatalogRead(
        "SELECT p.relation_id, p.epsilon, p.delta, p.rdp_order, p.privacy_unit, p.earlier_releases,"
        " p.earlier_until, p.population_id, q.name, q.epsilon, q.delta, q.rdp_order,"
        " coalesce(p.unit_state_id, 0), coalesce(q.unit_state_id, 0)"
        " FROM dpboost.protection AS p LEFT JOIN dpboost.population AS q USING (population_id)"
        " WHERE p.relation_id = ANY ($1) ORDER BY p.relation_id",
        {{INT8ARRAYOID, AllIdentities(identities)}});
    for (uint64 row = 0; row < rows; ++row) {
        const Protection protection = ReadProtection(row);
        for (int i = 0; i < relations->count; ++i) {
            if (!HasIdentity(identities->of[i].own, protection.relation_id))
                continue;
            CheckNotLost(protection, relations->items[i].relation_name);
            if (protection.has_cap)
                AppendCap(collected, relations, i, protection, false);
            if (protection.population_id != 0)
                AppendCap(collected, relations, i, protection, true);
        }
    }
}

int FindRelation(const RelationSet* relations, Oid relid) {
    for (int i = 0; i < relations->count; ++i) {
        if (relations->items[i].relid == relid)
            return i;
    }
    return -1;
}

void ReadRenewal(BudgetState* state, uint64 row) {
    bool is_null;
    const Datum renew = CatalogValue(row, 8, &is_null);
    state->renews = !is_null;
    if (!state->renews)
        return;
    state->renew = *DatumGetIntervalP(renew);
    state->window = FindWindow(DatumGetTimestampTz(CatalogValue(row, 9)), &state->renew,
                               DatumGetTimestampTz(CatalogValue(row, 10)));
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

// Those of `caller`, or everybody's if that is 0.
void AppendAllowances(Collected* collected, const RelationSet* relations, Oid caller) {
    const uint64 rows = CatalogRead(
        "SELECT grantee::oid, epsilon, delta, rdp_order, max_epsilon_per_train, relation::oid,"
        " grantee, renew, renew_from, " DPBOOST_LEDGER_TIME
        " FROM dpboost.allowance WHERE relation::oid = ANY ($1) AND NOT revoked",
        {{OIDARRAYOID, OidsOf(relations, &ReadRelation::relid)}});
    for (uint64 row = 0; row < rows; ++row) {
        const Oid role = DatumGetObjectId(CatalogValue(row, 1));
        const Oid relid = DatumGetObjectId(CatalogValue(row, 6));
        const char* role_name = OidIsValid(role) ? RoleName(role) : nullptr;
        const int position = FindRelation(relations, relid);
        if (role_name == nullptr || position < 0 || (OidIsValid(caller) && !ActsFor(caller, role)))
            continue;
        BudgetState* state = Append(collected, relations, position);
        ReadLimit(state, row, 2);
        state->role = role;
        strlcpy(state->role_name, role_name, NAMEDATALEN);
        strlcpy(state->granted_name, RememberedRoleName(CatalogValue(row, 7)), NAMEDATALEN);
        bool has_no_limit;
        Datum limit = CatalogValue(row, 5, &has_no_limit);
        if (!has_no_limit)
            state->max_epsilon_per_train = DatumGetFloat8(limit);
        ReadRenewal(state, row);
    }
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
    bool found = false;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 rows =
        CatalogRead("SELECT grantee::oid FROM dpboost.allowance WHERE relation::oid = $1 AND NOT revoked",
                    {OidOf(relid)});
    for (uint64 row = 0; row < rows && !found; ++row) {
        const Oid role = DatumGetObjectId(CatalogValue(row, 1));
        found = OidIsValid(role) && RoleName(role) != nullptr && ActsFor(caller, role);
    }
    CatalogEnd(&scope);
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
