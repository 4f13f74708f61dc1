// What functions that write ask for first.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// First of all, of a function that writes to the catalog: an error of ours instead of one of a statement of ours.
inline void RequireWritable(FunctionCallInfo fcinfo) {
    const bool standby = RecoveryInProgress();
    if (!standby && !XactReadOnly)
        return;
    ereport(
        ERROR,
        (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
         errmsg("cannot execute %s() %s", get_func_name(fcinfo->flinfo->fn_oid),
                standby ? "during recovery" : "in a read-only transaction"),
         standby ? errhint("This server is a standby. Call it on its primary.")
                 : errhint("Begin the transaction with READ WRITE, or see default_transaction_read_only.")));
}

}  // namespace dpboost
