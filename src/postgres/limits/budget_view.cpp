// Budgets for people: the rows of the view dpboost_budgets, and what remains after a training. Shows
// limits and what the ledger says, nothing that depends on rows; and counts only for what the viewer may see.
#include <vector>

#include "base/text.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/row_values.h"
#include "postgres/boundary/settings.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/limits/visible_limits.h"
#include "privacy/trainings_left.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_budget_rows);
PG_FUNCTION_INFO_V1(dpboost_rounded_up);
}

namespace dpboost {
namespace {

// What the core says about a budget.
struct Figures {
    double spent_epsilon;     // had all trainings been fixed in advance
    double adaptive_epsilon;  // chosen on the way
    BudgetRemaining remaining;
    int64 releases;
    bool composable;      // privacy loss distributions would show less, in milliseconds
    double ever_epsilon;  // as spent_epsilon, over all windows of a budget that renews
    int trainings_left;   // of the size that the setting says
};

// Composing the losses of more limits than this takes too long for a view: all are shown by their curves then.
constexpr int kMaxComposed = 16;

// A limit's filters are solved for once, and so is the cost of a training at its delta, however many roles have it.
struct Limit {
    Budget budget;
    Cost training;
};
using Limits = std::vector<Limit>;
constexpr size_t kMaxLimits = 256;

Limit RestoreFrom(Limits& limits, const BudgetState& state, const BudgetSpent& spent) {
    for (const Limit& limit : limits)
        if (limit.budget.epsilon() == state.epsilon && limit.budget.delta() == state.delta &&
            limit.budget.order() == state.order)
            return {limit.budget.WithSpent(spent), limit.training};
    const Limit limit = {Budget::Restore(state.epsilon, state.delta, state.order, spent),
                         TrainingCost(TrainingsLeftEpsilon(), state.delta)};
    if (limits.size() < kMaxLimits)
        limits.push_back(limit);
    return limit;
}

void Compute(const BudgetState& state, const LimitTotals& totals, Limits& limits, Figures* figures) {
    const Spent all = SumOf(totals);
    figures->releases = static_cast<int64>(all.releases);
    figures->composable =
        state.delta > 0 && all.others_known && !all.others.empty() && PldApplies(all.others);
    figures->spent_epsilon = QuickEpsilon(all, state.delta);
    figures->adaptive_epsilon =
        all.releases <= 1 ? figures->spent_epsilon : AdaptiveEpsilon(all, state.delta);
    const Limit limit = RestoreFrom(limits, state, all.At(state.order));
    figures->remaining = limit.budget.Remaining();
    // None fits where the limit for one is lower.
    figures->trainings_left = limit.training.epsilon > state.max_epsilon_per_train
                                  ? 0
                                  : TrainingsLeft(limit.budget, limit.training);
}

// Nothing to adapt to after a single release.
void Compose(const BudgetState& state, const LimitTotals& totals, Figures* figures) {
    figures->spent_epsilon = ComposedEpsilon(SumOf(totals), state.delta);
    if (figures->releases == 1)
        figures->adaptive_epsilon = figures->spent_epsilon;
}

Figures* ComputeAll(const BudgetList* budgets, const LimitTotals* totals) {
    auto* figures = static_cast<Figures*>(palloc0(sizeof(Figures) * (budgets->count + 1)));
    auto* limits = CoreState<Limits>::Make(CurrentMemoryContext);
    int composable = 0;
    for (int i = 0; i < budgets->count; ++i) {
        CHECK_FOR_INTERRUPTS();
        CallCore([&] { Compute(budgets->items[i], totals[i], **limits, &figures[i]); });
        composable += figures[i].composable ? 1 : 0;
    }
    for (int i = 0; composable <= kMaxComposed && i < budgets->count; ++i) {
        CHECK_FOR_INTERRUPTS();
        if (figures[i].composable)
            CallCore([&] { Compose(budgets->items[i], totals[i], &figures[i]); });
    }
    return figures;
}

// With a serialised release: after it.
void ComputeRemaining(const BudgetState* state, const char* plan_bytes, size_t plan_size,
                      BudgetRemaining* remaining) {
    CallCore([&] {
        BudgetSpent spent = state->spent;
        if (plan_bytes != nullptr)
            spent.Add(Cost::Parse(std::string_view(plan_bytes, plan_size)), state->order);
        *remaining = Budget::Restore(state->epsilon, state->delta, state->order, spent).Remaining();
    });
}

// Who a person is: the relation's cap says it for the budgets of roles as well, which follow it in the list. Whoever
// sees one of these sees the cap.
const char* UnitOf(const BudgetList* budgets, int position) {
    const BudgetState* budget = &budgets->items[position];
    for (; position >= 0 && budgets->items[position].relid == budget->relid; --position)
        if (budgets->items[position].privacy_unit[0] != '\0')
            return budgets->items[position].privacy_unit;
    return "";
}

// What was spent over all time.
void AddEver(const VisibleLimits& visible, Figures* figures) {
    const size_t size = offsetof(BudgetList, items) + visible.budgets->count * sizeof(BudgetState);
    auto* ever = static_cast<BudgetList*>(memcpy(palloc(size), visible.budgets, size));
    bool any = false;
    for (int i = 0; i < ever->count; ++i) {
        figures[i].ever_epsilon = figures[i].spent_epsilon;
        any |= ever->items[i].renews;
        ever->items[i].renews = false;
    }
    const LimitTotals* totals = any ? FindTotals(ever, visible.relations, visible.identities) : nullptr;
    for (int i = 0; any && i < ever->count; ++i) {
        if (visible.budgets->items[i].renews)
            CallCore([&] { figures[i].ever_epsilon = QuickEpsilon(SumOf(totals[i]), ever->items[i].delta); });
    }
}

// Solvers leave some 1e-12 on the safe side, which rounding would make a digit of: one training at 1 has spent 1, and
// not 1.00001 of 1. What is counted against a limit is not this figure.
double Shown(double epsilon_spent) {
    constexpr double kSolved = 1e-9;
    return RoundedUp(epsilon_spent * (1 - kSolved));
}

void PutRow(Tuplestorestate* store, TupleDesc descriptor, const BudgetState* budget, const char* unit_name,
            const Figures& figures) {
    const bool by_unit = budget->unit_state_id != 0;
    NameData unit, population;
    namestrcpy(&unit, unit_name);
    namestrcpy(&population, budget->population_name);
    Datum values[] = {ObjectIdGetDatum(budget->relid),
                      ObjectIdGetDatum(budget->role),
                      Float8GetDatum(budget->epsilon),
                      DirectFunctionCall1(float8_numeric, Float8GetDatum(budget->delta)),
                      Float8GetDatum(budget->max_epsilon_per_train),
                      Float8GetDatum(Shown(figures.spent_epsilon)),
                      Float8GetDatum(Shown(figures.adaptive_epsilon)),
                      Float8GetDatum(RoundedDown(figures.remaining.epsilon)),
                      Float8GetDatum(RoundedDown(figures.remaining.share)),
                      Int64GetDatum(figures.releases),
                      NameGetDatum(&unit),
                      Int64GetDatum(budget->earlier_releases),
                      NameGetDatum(&population),
                      IntervalPGetDatum(&budget->renew),
                      TimestampTzGetDatum(budget->window.end),
                      Float8GetDatum(Shown(figures.ever_epsilon)),
                      CStringGetTextDatum(by_unit ? "unit" : "release"),
                      Int32GetDatum(figures.trainings_left)};
    bool nulls[lengthof(values)] = {};
    nulls[0] = !OidIsValid(budget->relid);
    nulls[1] = !OidIsValid(budget->role);
    nulls[4] = std::isinf(budget->max_epsilon_per_train);
    // What a person has spent, or has left, is for nobody to see, and the limit does not run out.
    nulls[5] = nulls[6] = nulls[7] = nulls[8] = nulls[15] = nulls[17] = by_unit;
    nulls[10] = unit_name[0] == '\0';
    nulls[11] = OidIsValid(budget->role);
    nulls[12] = budget->population_name[0] == '\0';
    nulls[13] = nulls[14] = !budget->renews;
    tuplestore_putvalues(store, descriptor, values, nulls);
}

}  // namespace

RemainingBudget* RemainingBudgets(const BudgetList* budgets, const char* plan_bytes, size_t plan_size) {
    auto* remaining = static_cast<RemainingBudget*>(palloc(sizeof(RemainingBudget) * (budgets->count + 1)));
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        BudgetRemaining left;
        if (budget->unit_state_id != 0)
            left = {1, budget->epsilon};  // for whoever has spent nothing; what others have is not shown
        else
            ComputeRemaining(budget, plan_bytes, plan_size, &left);
        remaining[i] = {budget->relation_name,
                        budget->role_name[0] != '\0' ? budget->role_name : nullptr,
                        budget->population_id != 0 ? budget->population_name : nullptr,
                        left.share,
                        left.epsilon,
                        budget->delta,
                        budget->unit_state_id != 0};
    }
    return remaining;
}

}  // namespace dpboost

Datum dpboost_budget_rows(PG_FUNCTION_ARGS) {
    using namespace dpboost;
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    const Oid viewer = GetUserId();
    CatalogScope scope;
    CatalogBegin(&scope);
    const VisibleLimits visible = FindVisibleLimits(viewer);
    const LimitTotals* totals = FindTotals(visible.budgets, visible.relations, visible.identities);
    Figures* figures = ComputeAll(visible.budgets, totals);
    AddEver(visible, figures);
    for (int i = 0; i < visible.budgets->count; ++i)
        PutRow(store, descriptor, &visible.budgets->items[i], UnitOf(visible.budgets, i), figures[i]);
    CatalogEnd(&scope);
    return Datum(0);
}

Datum dpboost_rounded_up(PG_FUNCTION_ARGS) {
    PG_RETURN_FLOAT8(dpboost::RoundedUp(PG_GETARG_FLOAT8(0)));
}
