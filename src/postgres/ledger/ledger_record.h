// The rows that a release leaves in the catalog: at the charge its entry in the ledger and whom it is charged
// to, at the delivery its model and that it was delivered. Written by the ledger worker, inside its
// transaction.
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
    const char* calibrated_by;
};

struct LedgerRecord {
    int64 release_id;
    int32 version;
    int32 group_versions[kMaxGroups];
};

// Raises what ReadNewModelName raises.
void RecordCharge(const LedgerMessage* message, const LedgerPlan* plan, const RelationSet* relations,
                  LedgerRecord* record);

// Raises 55000 if the ledger does not hold this training's charge. A release that is delivered already stays
// as it is.
void RecordDelivery(const LedgerMessage* message);

// The model of an import, without a release. Raises what ReadNewModelName raises.
void RecordImport(const LedgerMessage* message);

}  // namespace dpboost
