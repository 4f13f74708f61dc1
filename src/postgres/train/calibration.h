// The noise of a training or an evaluation, fixed by its own epsilon and by what budgets have left.
#pragma once

#include <vector>

#include "base/current_interrupt.h"
#include "privacy/budget.h"

#include "postgres/boundary/boundary.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// Calls use(constraints), in the core, with the budgets as the core knows them.
template <class Use>
void WithConstraints(const BudgetList* budgets, const Use& use) {
    auto** names = static_cast<char**>(palloc(sizeof(char*) * (budgets->count + 1)));
    for (int i = 0; i < budgets->count; ++i)
        names[i] = DescribeBudget(&budgets->items[i]);
    CallCore([&] {
        PgInterrupt interrupt;
        const InterruptScope scope(interrupt);
        std::vector<BudgetConstraint> constraints;
        for (int i = 0; i < budgets->count; ++i) {
            const BudgetState& state = budgets->items[i];
            constraints.push_back(
                Budget::Restore(state.epsilon, state.delta, state.order, state.spent).Constraint(names[i]));
        }
        use(constraints);
    });
}

// Calls core.Calibrate with them.
template <class Core>
void CalibrateFor(const BudgetList* budgets, Core& core) {
    WithConstraints(budgets,
                    [&](const std::vector<BudgetConstraint>& constraints) { core.Calibrate(constraints); });
}

// Whether nothing was charged or changed between the two.
bool SameBudgets(const BudgetList* a, const BudgetList* b);

}  // namespace dpboost
