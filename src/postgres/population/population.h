// A population as its owner sees it: created, changed, dropped, and joined by tables. See population_tables.h for what it
// means.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Inside a catalog scope: the population of this name, which `caller` must own, or be a superuser; it cannot be dropped
// before the transaction ends.
int64 OpenPopulation(const char* name, Oid caller);

// Inside a catalog scope: its name; nullptr if it is gone. Palloc'ed.
const char* PopulationName(int64 population_id);

// Inside a catalog scope: what was and will be charged to the identities counts for the population, for good, and must
// protect the unit (empty: each row) but for the releases up to `earlier_until`, also when the table has left.
void JoinPopulation(int64 population_id, ArrayType* ids, const NameData& unit, int64 earlier_until,
                    Oid caller);

}  // namespace dpboost
