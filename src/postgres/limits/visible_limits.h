// Which limits a role may see: an owner all on his relations and populations; others the allowances that they can use,
// and with one of them the relation's cap and its population's; who watches the server, all. Found before anything is counted, so that nobody waits for what others have.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"
#include "postgres/limits/budget.h"

namespace dpboost {

struct VisibleLimits {
    BudgetList* budgets;  // by relation, its cap first; populations last
    const RelationSet* relations;
    const Identities* identities;
};

// Whether a role may see all statistics of the server, as members of pg_monitor do, and so all budgets and releases.
bool SeesAll(Oid viewer);

// Raises 42704 unless the view dpboost_ledger shows the release to the caller: asked with his rights, by way of one of our
// functions, which knows where the view is.
void CheckMaySeeRelease(Oid function, int64 release_id);

// Inside a catalog scope, and valid until it ends.
VisibleLimits FindVisibleLimits(Oid viewer);

}  // namespace dpboost
