// Bytes of a request to the ledger worker, as columns hold them.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/ledger_message.h"

namespace dpboost {

inline Datum ByteaDatum(const char* bytes, size_t size) {
    auto* value = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(value, size + VARHDRSZ);
    memcpy(VARDATA(value), bytes, size);
    return PointerGetDatum(value);
}

// What the ledger keeps of the claim.
inline Datum ClaimDatum(const LedgerMessage* message) {
    return DirectFunctionCall1(sha256_bytea,
                               ByteaDatum(reinterpret_cast<const char*>(message->claim), kClaimSize));
}

}  // namespace dpboost
