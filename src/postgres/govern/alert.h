// Alerts: who set one on a limit learns when a charge takes it below a part of what it was. The ledger worker finds and
// records it in the commit of the charge; a NOTIFY with no payload tells whoever listens that there is something to look
// at, and nothing else, since every role may listen. A limit and what was spent of it do not depend on rows.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// What each of the budgets has left, as a part of its limit; nullptr if no alert is set on any of them. Palloc'ed.
double* PartsLeft(const BudgetList* budgets);

// By the ledger worker, when the release is recorded: raises the alerts that it took a budget below, and says so in the
// list. `before` is what PartsLeft gave before the charge.
void RaiseAlerts(BudgetList* charged, const double* before, int64 release_id);

// By the caller's backend: a notice for each alert that was raised.
void ShowAlerts(const BudgetList* charged);

}  // namespace dpboost
