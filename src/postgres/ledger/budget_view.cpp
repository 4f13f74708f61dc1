// Budgets for people: the rows of the view dpboost_budgets, and what remains after a training. Shows
// limits and what the ledger says, nothing that depends on rows.
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/budget.h"
#include "privacy/budget.h"
#include "privacy/cost.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_budget_rows);
}

namespace dpboost {
namespace {

// What the core says about a budget.
struct Figures {
    double spent_epsilon;
    double remaining_epsilon;
    double remaining_share;
};

// With a serialised release: after it.
void Compute(const BudgetState* state, const char* plan_bytes, size_t plan_size, Figures* figures) {
    CallCore([&] {
        double spent = state->spent;
        if (plan_bytes != nullptr)
            spent += Cost::Parse(std::string_view(plan_bytes, plan_size)).curve.At(state->order);
        const Budget budget = Budget::Restore(state->epsilon, state->delta, state->order, spent);
        const BudgetRemaining remaining = budget.Remaining();
        *figures = {budget.SpentEpsilon(), remaining.epsilon, remaining.share};
    });
}

// Composing more kinds of trainings than this takes too long for a view.
constexpr int kMaxPlans = 16;

// What the releases add up to: by their privacy loss distributions if that can be done, else by the Renyi
// order of the budget, which is what checks go by.
double SpentEpsilon(const RelationSet* relation, const BudgetState* state, const Figures& figures) {
    if (state->releases == 0 || state->delta == 0)
        return figures.spent_epsilon;
    const CountedPlans* plans = LoadCountedPlans(relation, state, kMaxPlans);
    double composed = figures.spent_epsilon;
    if (plans->count > kMaxPlans)
        return composed;
    CallCore([&] {
        std::vector<Cost> releases;
        for (int i = 0; i < plans->count; ++i) {
            const CountedPlan& plan = plans->items[i];
            Cost release = Cost::Parse(std::string_view(plan.bytes, plan.size));
            releases.insert(releases.end(), static_cast<size_t>(plan.count), release);
        }
        composed = std::min(composed, ComposedEpsilon(releases, state->delta));
    });
    return composed;
}

Tuplestorestate* BeginResult(FunctionCallInfo fcinfo, TupleDesc* descriptor) {
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    if (result == nullptr || !IsA(result, ReturnSetInfo) || (result->allowedModes & SFRM_Materialize) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("set-valued function called in context that cannot accept a set")));
    if (get_call_result_type(fcinfo, nullptr, descriptor) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    MemoryContext outer = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
    *descriptor = CreateTupleDescCopy(*descriptor);
    Tuplestorestate* store = tuplestore_begin_heap(true, false, work_mem);
    result->returnMode = SFRM_Materialize;
    result->setResult = store;
    result->setDesc = *descriptor;
    MemoryContextSwitchTo(outer);
    return store;
}

// Every relation that exists and has a cap or an allowance, as a list of oids.
List* GovernedRelations() {
    List* relations = NIL;
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 rows = CatalogRead(
        "SELECT c.oid FROM pg_class c WHERE c.oid IN ("
        "  SELECT relation::oid FROM dpboost.allowance WHERE NOT revoked"
        "  UNION ALL SELECT n.relation::oid FROM dpboost.relation_name n JOIN dpboost.protection USING "
        "(relation_id)"
        "  UNION ALL SELECT k.oid FROM dpboost.relation_name n JOIN dpboost.protection USING (relation_id)"
        "    JOIN pg_namespace s ON s.nspname = n.schema_name"
        "    JOIN pg_class k ON k.relnamespace = s.oid AND k.relname = n.relation_name)"
        " ORDER BY c.relname, c.oid",
        0, nullptr, nullptr, nullptr, 0);
    MemoryContext inner = MemoryContextSwitchTo(outer);
    for (uint64 row = 0; row < rows; ++row) {
        bool is_null;
        relations = lappend_oid(relations, DatumGetObjectId(SPI_getbinval(
                                               SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &is_null)));
    }
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    return relations;
}

RelationSet* OnlyRelation(Oid relid) {
    const char* name = get_rel_name(relid);
    const char* schema_name = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relid));
    auto* set = static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + sizeof(ReadRelation)));
    if (schema_name == nullptr)
        return set;  // dropped meanwhile
    set->count = 1;
    set->items[0].relid = relid;
    set->items[0].owner = RelationOwner(relid);
    strlcpy(set->items[0].schema_name, schema_name, NAMEDATALEN);
    strlcpy(set->items[0].relation_name, name, NAMEDATALEN);
    return set;
}

void PutRow(Tuplestorestate* store, TupleDesc descriptor, const RelationSet* relation,
            const BudgetState* budget) {
    Figures figures;
    Compute(budget, nullptr, 0, &figures);
    NameData unit;
    namestrcpy(&unit, budget->privacy_unit);
    Datum values[] = {ObjectIdGetDatum(budget->relid),
                      ObjectIdGetDatum(budget->role),
                      Float8GetDatum(budget->epsilon),
                      Float8GetDatum(budget->delta),
                      Float8GetDatum(budget->max_epsilon_per_train),
                      Float8GetDatum(SpentEpsilon(relation, budget, figures)),
                      Float8GetDatum(figures.remaining_epsilon),
                      Float8GetDatum(figures.remaining_share),
                      Int64GetDatum(budget->releases),
                      NameGetDatum(&unit)};
    bool nulls[] = {false,
                    !OidIsValid(budget->role),
                    false,
                    false,
                    std::isinf(budget->max_epsilon_per_train),
                    false,
                    false,
                    false,
                    false,
                    budget->privacy_unit[0] == '\0'};
    tuplestore_putvalues(store, descriptor, values, nulls);
}

// An owner sees all; others see the allowances that they can use, and with one of them the cap.
void PutVisible(Tuplestorestate* store, TupleDesc descriptor, const RelationSet* relation, Oid viewer) {
    const BudgetList* budgets = LoadAllBudgets(relation);
    bool has_allowance = false;
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        has_allowance |= OidIsValid(budget->role) && has_privs_of_role(viewer, budget->role);
    }
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        const bool own = OidIsValid(budget->role) ? has_privs_of_role(viewer, budget->role) : has_allowance;
        if (own || OwnsRelation(budget->relid, viewer))
            PutRow(store, descriptor, relation, budget);
    }
}

}  // namespace

RemainingBudget* RemainingBudgets(const BudgetList* budgets, const char* plan_bytes, size_t plan_size) {
    auto* remaining = static_cast<RemainingBudget*>(palloc(sizeof(RemainingBudget) * (budgets->count + 1)));
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        Figures figures;
        Compute(budget, plan_bytes, plan_size, &figures);
        remaining[i] = {budget->relation_name, budget->role_name[0] != '\0' ? budget->role_name : nullptr,
                        figures.remaining_share, figures.remaining_epsilon, budget->delta};
    }
    return remaining;
}

}  // namespace dpboost

Datum dpboost_budget_rows(PG_FUNCTION_ARGS) {
    TupleDesc descriptor;
    Tuplestorestate* store = dpboost::BeginResult(fcinfo, &descriptor);
    const Oid viewer = GetUserId();
    ListCell* cell;
    foreach (cell, dpboost::GovernedRelations())
        dpboost::PutVisible(store, descriptor, dpboost::OnlyRelation(lfirst_oid(cell)), viewer);
    return Datum(0);
}
