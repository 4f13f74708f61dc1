// What pg.h leaves out because only connections to other servers need it: libpq, foreign servers, and how their use differs
// between versions of PostgreSQL. Comes last among a file's includes.
#pragma once

#include <libpq-fe.h>

#include "postgres/boundary/pg.h"

extern "C" {
#include <catalog/pg_foreign_server.h>
#include <commands/defrem.h>
#include <foreign/foreign.h>
#include <storage/fd.h>
}

namespace dpboost {

inline bool MayUseServer(Oid server, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(ForeignServerRelationId, server, role, ACL_USAGE) == ACLCHECK_OK;
#else
    return pg_foreign_server_aclcheck(server, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// For many waits; freed by the caller in any case, before the current memory context is gone.
inline WaitEventSet* MakeWaitEventSet(int events) {
#if PG_VERSION_NUM >= 170000
    return CreateWaitEventSet(nullptr, events);
#else
    return CreateWaitEventSet(CurrentMemoryContext, events);
#endif
}

}  // namespace dpboost
