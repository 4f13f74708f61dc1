// How rows are read for someone who may not see them: as if in a session that nobody chose the settings of,
// and without a trace in anything that PostgreSQL displays. Neither what the caller set nor how deep he is may
// decide whether a row can be read, and neither messages, counters nor locks may tell what was met.
#pragma once

#include "postgres/boundary/short_locks.h"

namespace dpboost {

// What QuietBegin changed.
struct Quiet {
    Oid user;
    int security;
    int settings_level;
    BufferUsage buffers;
    WalUsage wal;
    pg_stack_base_t stack_base;
    const PQcommMethods* client;
    bool read_only;
    ShortLocks locks;
};

// Raises 54001 in a caller that is already deep in its stack, and changes nothing then. Functions go on
// running as the caller, who is kept from changing his role or leaving anything behind.
void QuietBegin(Quiet* quiet, Oid owner);

// Undoes it all. After an error call QuietRestore instead, which undoes what the end of a (sub)transaction
// would not.
void QuietEnd(Quiet* quiet);
void QuietRestore(const Quiet* quiet);

}  // namespace dpboost
