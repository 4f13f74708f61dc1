// Where this server stands in a cluster of Citus, if it is one: tables are spread over its servers, limits and the ledger are
// at the coordinator alone, so only the coordinator trains, and never on a shard, which no limit knows.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

// Whether this is the coordinator of a cluster that has other servers.
bool IsCoordinator();

// Raises 55000 at other servers of a cluster than its coordinator.
void CheckNoClusterWorker();

// Raises 0A000 if one of the relations is a shard of a table.
void CheckNoShards(const RelationSet* relations);

// Raises 0A000 if the relation, or one behind it, is spread over servers and the caller may not read that one: the others know
// nothing of budgets.
void CheckReadsShards(Oid caller, Oid relid);

}  // namespace dpboost
