// Releases from before a privacy unit was declared. What they cost was counted for rows, or for another unit,
// or did not bound anybody of the relation at all; a cap that counts them as they are says less than it seems
// to. So its owner must accept them by name, and everyone sees that.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/limits/budget.h"

namespace dpboost {

struct EarlierReleases {
    int64 count;
    int64 last;        // the number of the last one, 0 if there is none
    int64 unaccepted;  // of them after number `accepted`
};

// Inside a catalog scope: the releases after number `after` that count for a relation but did not bound what this unit
// (empty: a row) of it adds. All of one moment, so that none comes in between two counts.
EarlierReleases FindEarlierReleases(Oid relid, const ArrayType* counted, const char* unit, int64 after,
                                    int64 accepted);

// Raises 55000 if a cap counts such releases that its owner did not accept: a table was attached, say, or
// created under a name that had been released from.
void CheckEarlierUnits(const RelationSet* relations, const BudgetList* limits);

// `all rows of one "patient_id" together`, `each of its rows`: what a unit stands for in a message. Palloc'ed.
char* DescribeUnit(const char* unit);

}  // namespace dpboost
