// Large tables are read by parallel workers too: each scans its share, encodes it as the sink's owner tells it, and sends the
// rows a block at a time to the session's own process, which does the same meanwhile. Who may read, and what, was decided
// before; workers only read the columns that the plan reads, of one table, without any expression. Who reads a row, and
// when it arrives, makes no difference to a training: its sums are exact.
#pragma once

#include "postgres/reading/reading.h"

namespace dpboost {

// Reads all rows of the plan into the sink with the active snapshot, if the plan scans one table, other processes can read
// for the sink, and PostgreSQL's settings give such a scan workers. Else returns false, and has read nothing.
bool ReadInParallel(RowSink* sink, const Reading& reading, const PlannedStmt* plan);

// A value that is stored out of line locks its TOAST table while it is fetched, which others can see. Locked
// beforehand, it tells nothing.
void LockToastTable(Oid relid);

// ---- in a worker ----

// What the sink's owner said of it.
const bytea* DescriptionOfPart(shm_toc* toc);

// Sends rows to the session's process. False if it does not wait for them any more.
bool SendRows(const char* bytes, size_t size);

// Reads this worker's share into the sink, which sends it; `flush_last` sends the rest.
void ReadPart(dsm_segment* segment, shm_toc* toc, RowSink* sink, void (*flush_last)(RowSink*));

}  // namespace dpboost
