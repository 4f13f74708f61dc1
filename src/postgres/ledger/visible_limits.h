// Which limits a role may see: an owner all on his relations and populations; others the allowances that they can use,
// and with one of them the relation's cap and its population's; who watches the server, all. Found before anything is counted, so that nobody waits for what others have.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/budget.h"

namespace dpboost {

struct VisibleLimits {
    BudgetList* budgets;  // by relation, its cap first; populations last
    const RelationSet* relations;
    const Identities* identities;
};

// Whether a role may see all statistics of the server, as members of pg_monitor do, and so all budgets and releases.
bool SeesAll(Oid viewer);

// Inside a catalog scope, and valid until it ends.
VisibleLimits FindVisibleLimits(Oid viewer);

}  // namespace dpboost
