// dpboost_trainings_left: how many more trainings of one size fit into every limit that they would be charged to. By the
// same filters as a charge, so the answer is what would happen if nobody else trained.
#include "privacy/trainings_left.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/printed.h"
#include "postgres/limits/budget.h"
#include "postgres/limits/visible_limits.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_trainings_left);
}

namespace dpboost {
namespace {

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
    if (!(epsilon > 0 && epsilon <= kMaxEpsilon))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("epsilon must be above 0 and at most %s, not %s", PrintedNumber(kMaxEpsilon),
                               PrintedNumber(epsilon))));
    if (!(delta >= 0 && delta <= kMaxDelta))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("delta must be between 0 and %s, not %s", PrintedNumber(kMaxDelta),
                               PrintedNumber(delta))));
    const RelationSet* relations = RelationsBehind(relid);
    CheckMayAsk(caller, role, relid);
    const BudgetList* budgets = LoadBudgets(role, relations);
    if (budgets->count == 0)
        PG_RETURN_NULL();
    int left = kMostTrainingsLeft;
    CallCore([&] {
        for (int i = 0; i < budgets->count; ++i) {
            const BudgetState& state = budgets->items[i];
            const Budget budget = Budget::Restore(state.epsilon, state.delta, state.order, state.spent);
            left = epsilon > state.max_epsilon_per_train ? 0 : TrainingsLeft(budget, epsilon, delta, left);
        }
    });
    PG_RETURN_INT32(left);
}
