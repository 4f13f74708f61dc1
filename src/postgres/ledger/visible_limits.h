// Which limits a role may see: an owner all on his relations; others the allowances that they can use, and with
// one of them the relation's cap. Found before anything is counted, so that nobody waits for what others have.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/budget.h"

namespace dpboost {

struct VisibleLimits {
    BudgetList* budgets;  // by relation, its cap first
    RelationSet* relations;
    Identities* identities;
};

// Inside a catalog scope, and valid until it ends.
VisibleLimits FindVisibleLimits(Oid viewer);

}  // namespace dpboost
