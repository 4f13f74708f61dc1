// What was released of the persons of a limit with accounts, and is not in them: a table became part of it, or was
// one for a while no longer, and something was released from that table alone. A cap that counts releases counts it
// when the table is attached; accounts cannot, so nothing is released while it is.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// Inside a catalog scope: what counts for the limit of new accounts now is in them.
void RecordUnitHistory(int64 unit_state_id, Oid relid, int64 population_id);

// Raises 55000 if anything counts for one of the limits that is not in its accounts.
void CheckUnitHistory(const BudgetList* budgets, const RelationSet* relations);

}  // namespace dpboost
