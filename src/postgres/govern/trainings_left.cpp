// dpboost_trainings_left: how many more trainings of one size fit into every limit that they would be charged to. By the
// same filters as a charge, so the answer is what would happen if nobody else trained.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/limits/budget.h"
#include "postgres/limits/visible_limits.h"
#include "privacy/accountant/gdp.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_trainings_left);
}

namespace dpboost {
namespace {

constexpr int kMost = 100000;

// Whether one may ask for the role: as who trains himself, has its privileges, owns the relation or watches the server.
void CheckMayAsk(Oid caller, Oid role, Oid relid) {
    if (OwnsRelation(relid, caller) || SeesAll(caller))
        return;
    if (!has_privs_of_role(caller, role))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("permission denied for the privacy budget of role \"%s\"",
                               GetUserNameFromId(role, false))));
    CheckMayTrain(role, relid, nullptr, 0);
}

// In the core: as `auto` would be charged, or a pure method at delta 0.
dpboost::Cost CostOf(double epsilon, double delta) {
    dpboost::Cost cost;
    cost.epsilon = epsilon;
    cost.delta = delta;
    cost.events = {delta > 0 ? Event::Gdp(GdpMu(epsilon, delta), 1) : Event::Pure(epsilon, 1)};
    cost.curve = EventsCurve(cost.events);
    return cost;
}

int CountThatFit(const BudgetState& state, const dpboost::Cost& cost, int most) {
    if (cost.epsilon > state.max_epsilon_per_train)
        return 0;
    Budget budget = Budget::Restore(state.epsilon, state.delta, state.order, state.spent);
    int count = 0;
    for (; count < most && budget.Fits(cost); ++count)
        budget.Spend(cost);
    return count;
}

}  // namespace
}  // namespace dpboost

Datum dpboost_trainings_left(PG_FUNCTION_ARGS) {
    using namespace dpboost;
    RequireArguments(fcinfo, {"relation", "epsilon", "delta"});
    const Oid relid = PG_GETARG_OID(0);
    const double epsilon = PG_GETARG_FLOAT8(1);
    const double delta = PG_GETARG_FLOAT8(2);
    const Oid caller = GetUserId();
    const Oid role = PG_ARGISNULL(3) ? caller : PG_GETARG_OID(3);
    if (!(epsilon > 0) || std::isinf(epsilon) || !(delta >= 0 && delta <= kMaxDelta))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("epsilon must be positive, and delta between 0 and %g", kMaxDelta)));
    const RelationSet* relations = RelationsBehind(relid);
    CheckMayAsk(caller, role, relid);
    const BudgetList* budgets = LoadBudgets(role, relations);
    if (budgets->count == 0)
        PG_RETURN_NULL();
    int left = kMost;
    CallCore([&] {
        const dpboost::Cost cost = CostOf(epsilon, delta);
        for (int i = 0; i < budgets->count; ++i)
            left = std::min(left, CountThatFit(budgets->items[i], cost, left));
    });
    PG_RETURN_INT32(left);
}
