// The rows that one release leaves in the catalog: its entry in the ledger, whom it is charged to, and the
// model. Written by the ledger worker, inside its transaction.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/ledger/ledger_message.h"

namespace dpboost {

// What a release costs, as plain data.
struct LedgerPlan {
    double epsilon;
    double delta;
    double rho[64];
    double pure_epsilon;
};

struct LedgerRecord {
    int64 release_id;
    int64 model_id;
    int32 version;
};

// Raises what ReadNewModelName raises.
void WriteRecord(const LedgerMessage* message, const LedgerPlan* plan, const RelationSet* relations,
                 LedgerRecord* record);

}  // namespace dpboost
