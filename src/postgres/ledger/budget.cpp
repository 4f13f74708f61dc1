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

void Accumulate(ArrayBuildState* result, const ArrayType* ids) {
    if (ids == nullptr)
        return;
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    const int count = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));
    for (int i = 0; i < count; ++i)
        accumArrayResult(result, Int64GetDatum(values[i]), false, INT8OID, CurrentMemoryContext);
}

// The identities of all members, and more, together as bigint[].
Datum AllIdentities(const Identities* identities, const ArrayType* more = nullptr) {
    ArrayBuildState* result = initArrayResult(INT8OID, CurrentMemoryContext, false);
    Accumulate(result, more);
    for (int i = 0; i < identities->count; ++i)
        Accumulate(result, identities->of[i].own);
    return makeArrayResult(result, CurrentMemoryContext);
}

void AppendCaps(Collected* collected, const RelationSet* relations, const Identities* identities) {
    const Oid types[] = {INT8ARRAYOID};
    const Datum values[] = {AllIdentities(identities)};
    const uint64 rows = CatalogRead(
        "SELECT relation_id, epsilon, delta, rdp_order, privacy_unit FROM dpboost.protection"
        " WHERE relation_id = ANY ($1)",
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

// The identities of the relations that this one is a partition of: a release that read all of them read it.
Datum AncestorIdentities(Oid relid) {
    return AllIdentities(ResolveIdentities(AncestorsOf(relid), CurrentMemoryContext));
}

// Those of the relation, and of what are its partitions now: their rows are its own, also those that were
// released before they were attached.
Datum WithDescendants(const ArrayType* ids, Oid relid) {
    return AllIdentities(ResolveIdentities(DescendantsOf(relid), CurrentMemoryContext), ids);
}

// The releases that count against a budget, as a condition on dpboost.ledger. A release counts once, however
// many ways lead to it. $1: identities of the relation and its descendants, $2: of its ancestors, $3 and $4:
// the role.
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
    const Datum values[] = {WithDescendants(ids, state->relid), AncestorIdentities(state->relid),
                            ObjectIdGetDatum(state->role), NameGetDatum(&role_name)};
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

bool IsGoverned(const RelationSet* relations) {
    return Load(relations, InvalidOid, true, Counting::kLimitsOnly)->count > 0;
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

const BudgetState* UnmetUnit(const BudgetList* budgets, Oid main, const char* unit) {
    const BudgetState* own = nullptr;
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->privacy_unit[0] != '\0' && budget->relid == main)
            own = budget;
    }
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->privacy_unit[0] == '\0' || (unit != nullptr && own != nullptr && own != budget))
            continue;
        if (unit == nullptr || strcmp(unit, budget->privacy_unit) != 0)
            return budget;
    }
    return nullptr;
}

// Values that a collation calls equal are one person; keys are bytes, so such a column would split people.
static void CheckUnitCollation(Oid relid, const char* column) {
    HeapTuple tuple = SearchSysCacheAttName(relid, column);
    if (!HeapTupleIsValid(tuple))
        return;
    const Oid collation = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attcollation;
    ReleaseSysCache(tuple);
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("privacy unit \"%s\" has a nondeterministic collation", column),
                        errdetail("Different texts that are equal under it would count as different people."),
                        errhint("Name a column with another collation, or with a number for each person.")));
}

char* PrivacyUnit(const RelationSet* relations, Oid named) {
    BudgetList* caps = Load(relations, InvalidOid, false, Counting::kLimitsOnly);
    const BudgetState* chosen = nullptr;
    for (int i = 0; i < caps->count; ++i) {
        const BudgetState* cap = &caps->items[i];
        if (cap->privacy_unit[0] != '\0' && (chosen == nullptr || cap->relid == named))
            chosen = cap;
    }
    if (chosen == nullptr)
        return nullptr;
    const BudgetState* other = UnmetUnit(caps, named, chosen->privacy_unit);
    if (other != nullptr)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("cannot protect \"%s\" of %s \"%s\" and \"%s\" of %s \"%s\" in one training",
                               chosen->privacy_unit, chosen->relation_kind, chosen->relation_name,
                               other->privacy_unit, other->relation_kind, other->relation_name)));
    if (OidIsValid(named) && get_attnum(named, chosen->privacy_unit) <= 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s has no column \"%s\", by which %s \"%s\" tells persons apart",
                               DescribeRelation(named), chosen->privacy_unit, chosen->relation_kind,
                               chosen->relation_name),
                        errhint("Its owner can name the column that holds it with dpboost_protect.")));
    CheckUnitCollation(chosen->relid, chosen->privacy_unit);
    if (OidIsValid(named))
        CheckUnitCollation(named, chosen->privacy_unit);
    return pstrdup(chosen->privacy_unit);
}

char* DescribeBudget(const BudgetState* budget) {
    if (budget->role_name[0] == '\0')
        return psprintf("%s \"%s\"", budget->relation_kind, budget->relation_name);
    return psprintf("role \"%s\" on %s \"%s\"", budget->role_name, budget->relation_kind,
                    budget->relation_name);
}

}  // namespace dpboost
