// How a request to the ledger worker is laid into shared memory, in a segment that nothing is committed from any more as soon as
// the caller leaves it, however he does.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/ledger/ledger_message.h"

namespace dpboost {

dsm_segment* LayOutCharge(const ChargeRequest* request, const uint8* claim, int lock_timeout_ms);
// As many deliveries as the release has groups, or one.
dsm_segment* LayOutDelivery(const PaidRelease* paid, const ModelDelivery* delivery);
dsm_segment* LayOutImport(const ModelImport* import, int lock_timeout_ms);
dsm_segment* LayOutStandBy(Oid caller, bool stays);

LedgerMessage* MessageIn(dsm_segment* segment);

// True if nothing will be committed from now on; false if the worker has gone too far.
bool Abandon(LedgerMessage* message);

}  // namespace dpboost
