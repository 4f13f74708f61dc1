// Reads caps and allowances with what was spent of them, and decides who may train. Used twice per training:
// by the caller's backend before it reads rows, and by the ledger worker when it counts.
#include "postgres/ledger/budget.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "privacy/accountant/rdp.h"

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

BudgetState* Append(Collected* collected, const ReadRelation& relation) {
    if (collected->list->count == collected->capacity) {
        collected->capacity *= 2;
        collected->list = static_cast<BudgetList*>(repalloc(
            collected->list, offsetof(BudgetList, items) + collected->capacity * sizeof(BudgetState)));
    }
    BudgetState* state = &collected->list->items[collected->list->count++];
    memset(state, 0, sizeof *state);
    state->relid = relation.relid;
    state->max_epsilon_per_train = std::numeric_limits<double>::infinity();
    strlcpy(state->relation_name, relation.relation_name, NAMEDATALEN);
    strlcpy(state->relation_kind, RelationKindName(relation.relid), sizeof state->relation_kind);
    return state;
}

Datum Column(uint64 row, int column, bool* is_null) {
    return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, is_null);
}

void ReadLimit(BudgetState* state, uint64 row) {
    bool is_null;
    state->epsilon = DatumGetFloat8(Column(row, 2, &is_null));
    state->delta = DatumGetFloat8(Column(row, 3, &is_null));
    state->order = static_cast<uint32>(DatumGetInt64(Column(row, 4, &is_null)));
}

void AppendCaps(Collected* collected, const RelationSet* relations, const Identities* identities) {
    const Oid types[] = {INT8ARRAYOID};
    const Datum values[] = {AllIdentities(identities)};
    const uint64 rows = CatalogRead(
        "SELECT relation_id, epsilon, delta, rdp_order, privacy_unit, earlier_releases, earlier_until"
        " FROM dpboost.protection WHERE relation_id = ANY ($1)",
        1, types, values, nullptr, 0);
    for (uint64 row = 0; row < rows; ++row) {
        bool is_null, has_no_unit;
        const int64 relation_id = DatumGetInt64(Column(row, 1, &is_null));
        const Datum unit = Column(row, 5, &has_no_unit);
        for (int i = 0; i < relations->count; ++i) {
            if (!HasIdentity(identities->of[i].own, relation_id))
                continue;
            BudgetState* state = Append(collected, relations->items[i]);
            ReadLimit(state, row);
            state->earlier_releases = DatumGetInt64(Column(row, 6, &is_null));
            state->earlier_until = DatumGetInt64(Column(row, 7, &is_null));
            if (!has_no_unit)
                strlcpy(state->privacy_unit, NameStr(*DatumGetName(unit)), NAMEDATALEN);
        }
    }
}

const ReadRelation* FindRelation(const RelationSet* relations, Oid relid) {
    for (int i = 0; i < relations->count; ++i) {
        if (relations->items[i].relid == relid)
            return &relations->items[i];
    }
    return nullptr;
}

// Those of `caller`, or everybody's if that is 0.
void AppendAllowances(Collected* collected, const RelationSet* relations, Oid caller) {
    auto* relids = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    for (int i = 0; i < relations->count; ++i)
        relids[i] = ObjectIdGetDatum(relations->items[i].relid);
    const Oid types[] = {OIDARRAYOID};
    const Datum values[] = {
        PointerGetDatum(construct_array(relids, relations->count, OIDOID, sizeof(Oid), true, TYPALIGN_INT))};
    const uint64 rows = CatalogRead(
        "SELECT grantee::oid, epsilon, delta, rdp_order, max_epsilon_per_train, relation::oid"
        " FROM dpboost.allowance WHERE relation::oid = ANY ($1) AND NOT revoked",
        1, types, values, nullptr, 0);
    for (uint64 row = 0; row < rows; ++row) {
        bool is_null;
        const Oid role = DatumGetObjectId(Column(row, 1, &is_null));
        const Oid relid = DatumGetObjectId(Column(row, 6, &is_null));
        const char* role_name = OidIsValid(role) ? RoleName(role) : nullptr;
        const ReadRelation* relation = FindRelation(relations, relid);
        if (role_name == nullptr || relation == nullptr || (OidIsValid(caller) && !ActsFor(caller, role)))
            continue;
        BudgetState* state = Append(collected, *relation);
        ReadLimit(state, row);
        state->role = role;
        strlcpy(state->role_name, role_name, NAMEDATALEN);
        Datum limit = Column(row, 5, &is_null);
        if (!is_null)
            state->max_epsilon_per_train = DatumGetFloat8(limit);
    }
}

// Position of an order in the ledger's curves, from 1; 0 stands for order infinity.
int CurveIndex(uint32 order) {
    if (order == kInfiniteOrder)
        return 0;
    for (size_t i = 0; i < kOrderCount; ++i) {
        if (kOrders[i] == order)
            return static_cast<int>(i) + 1;
    }
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("a privacy budget is kept at order %u, which is none of ours", order)));
}

// The releases that count against a budget, as a condition on dpboost.ledger. A release counts once, however
// many ways lead to it. $1 and $2: CountedIdentities, $3 and $4: the role.
constexpr char kCountedForAll[] =
    " WHERE release_id IN (SELECT release_id FROM dpboost.charge"
    " WHERE relation_id = ANY ($1) OR direct AND relation_id = ANY ($2))";
constexpr char kCountedForRole[] =
    " WHERE release_id IN (SELECT release_id FROM dpboost.charge"
    " WHERE (relation_id = ANY ($1) OR direct AND relation_id = ANY ($2))"
    " AND (role::oid = $3 OR role_name = $4))";

uint64 ReadCounted(const char* selection, const BudgetState* state, ArrayType* ids, const char* grouping) {
    const bool has_role = OidIsValid(state->role);
    const Oid types[] = {INT8ARRAYOID, INT8ARRAYOID, OIDOID, NAMEOID};
    NameData role_name;
    namestrcpy(&role_name, state->role_name);
    const CountedIdentities counted = IdentitiesThatCount(state->relid, ids);
    const Datum values[] = {counted.any, counted.direct, ObjectIdGetDatum(state->role),
                            NameGetDatum(&role_name)};
    const char* query = psprintf("SELECT %s FROM dpboost.ledger%s%s", selection,
                                 has_role ? kCountedForRole : kCountedForAll, grouping);
    return CatalogRead(query, has_role ? 4 : 2, types, values, nullptr, 0);
}

// Adds up what the ledger holds against a budget, rounded up.
void CountSpending(BudgetState* state, ArrayType* ids) {
    if (ids == nullptr)
        return;
    const int index = CurveIndex(state->order);
    const char* rho = index > 0 ? psprintf("curve[%d]", index) : "pure_epsilon";
    ReadCounted(psprintf("count(*), sum(%s)", rho), state, ids, "");
    bool is_null;
    state->releases = DatumGetInt64(Column(0, 1, &is_null));
    Datum sum = Column(0, 2, &is_null);
    // Each of the additions rounds by at most half a unit in the last place of a sum that only grows.
    const double rounding =
        (static_cast<double>(state->releases) + 2) * std::numeric_limits<double>::epsilon();
    state->spent = is_null ? 0 : DatumGetFloat8(sum) * (1 + rounding);
}

enum class Counting { kSpending, kLimitsOnly };

BudgetList* Load(const RelationSet* relations, Oid caller, bool allowances, Counting counting) {
    Collected collected;
    Start(&collected, CurrentMemoryContext);
    CatalogScope scope;
    CatalogBegin(&scope);
    Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    AppendCaps(&collected, relations, identities);
    if (allowances)
        AppendAllowances(&collected, relations, caller);
    for (int b = 0; counting == Counting::kSpending && b < collected.list->count; ++b) {
        for (int i = 0; i < relations->count; ++i) {
            if (relations->items[i].relid == collected.list->items[b].relid)
                CountSpending(&collected.list->items[b], identities->of[i].counted);
        }
    }
    CatalogEnd(&scope);
    return collected.list;
}

bool HasAllowance(Oid caller, Oid relid) {
    bool found = false;
    CatalogScope scope;
    CatalogBegin(&scope);
    const Oid types[] = {OIDOID};
    const Datum values[] = {ObjectIdGetDatum(relid)};
    const uint64 rows =
        CatalogRead("SELECT grantee::oid FROM dpboost.allowance WHERE relation::oid = $1 AND NOT revoked", 1,
                    types, values, nullptr, 0);
    for (uint64 row = 0; row < rows && !found; ++row) {
        bool is_null;
        const Oid role = DatumGetObjectId(Column(row, 1, &is_null));
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
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("permission denied to train on %s", DescribeRelation(relid)),
                    errdetail("Role \"%s\" has no privacy budget on it and may not SELECT from it.",
                              GetUserNameFromId(caller, false)),
                    errhint("Ask the owner to run dpboost_set_budget.")));
}

BudgetList* LoadBudgets(Oid caller, const RelationSet* relations) {
    return Load(relations, caller, true, Counting::kSpending);
}

BudgetList* LoadAllBudgets(const RelationSet* relations) {
    return Load(relations, InvalidOid, true, Counting::kSpending);
}

CountedPlans* LoadCountedPlans(const RelationSet* relations, const BudgetState* state, int limit) {
    auto* result = static_cast<CountedPlans*>(
        palloc0(offsetof(CountedPlans, items) + sizeof(CountedPlan) * (limit + 1)));
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    ArrayType* ids = ResolveIdentities(relations, CurrentMemoryContext)->of[0].counted;
    if (ids != nullptr)
        result->count = static_cast<int>(
            ReadCounted("plan, count(*)", state, ids, psprintf(" GROUP BY plan LIMIT %d", limit + 1)));
    MemoryContext inner = MemoryContextSwitchTo(outer);
    for (int i = 0; i < result->count; ++i) {
        bool is_null;
        bytea* plan = DatumGetByteaPCopy(Column(i, 1, &is_null));
        result->items[i] = {VARDATA_ANY(plan), static_cast<size_t>(VARSIZE_ANY_EXHDR(plan)),
                            DatumGetInt64(Column(i, 2, &is_null))};
    }
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    return result;
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
                        errmsg("privacy budget of %s allows at most epsilon %g at delta %g per training",
                               DescribeBudget(budget), budget->max_epsilon_per_train, budget->delta),
                        errdetail("The training asks for epsilon %g at delta %g.", epsilon, delta)));
    }
}

char* DescribeBudget(const BudgetState* budget) {
    if (budget->role_name[0] == '\0')
        return psprintf("%s \"%s\"", budget->relation_kind, budget->relation_name);
    return psprintf("role \"%s\" on %s \"%s\"", budget->role_name, budget->relation_kind,
                    budget->relation_name);
}

}  // namespace dpboost
