// Running totals. Releases that were charged to the same relations and roles share one line of dpboost.total,
// which the ledger worker brings up to date in the commit of each charge, so that neither a charge nor a view
// reads the ledger. What counts against a limit is the sum over the lines that match it. A release is in one
// line, so it counts once, however many ways lead to it, and whatever a relation is renamed to or made part
// of. Lines hold whole curves, so a limit may change its order.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// The lines that count against one limit, each the bytes of a Spent, in the order of their first releases.
struct LimitTotals {
    int count;
    int capacity;
    const bytea** items;
    const bytea* first_own;  // the first that is the limit's relation's own; nullptr: none is
    bool both_filters;       // of a population: case (c) of privacy/budget.h, however it began
};

// Inside a catalog scope: those of every budget in the list, by its position; valid until the scope ends.
// `identities` are those of `relations`, for which the budgets were looked up. Lines that do not know
// the last charge to a relation (they were not restored with the ledger) are not believed: the ledger worker
// makes them anew, anyone else gets the one line that the ledger itself adds up to.
LimitTotals* FindTotals(const BudgetList* budgets, const RelationSet* relations,
                        const Identities* identities);

// Inside a catalog scope: the same for one budget, from the ledger itself, reading every release.
LimitTotals CountLedger(const BudgetState* budget, const RelationSet* relations,
                        const Identities* identities);

// In the core: the sum of the lines. It began with Gaussian noise if the first of them did, or the first of the
// relation's own: a table that is attached later brings older releases, but a limit that has relied on its Gaussian
// filter keeps to that case of its proof (privacy/budget.h).
Spent SumOf(const LimitTotals& totals);

}  // namespace dpboost
