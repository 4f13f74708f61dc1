// Who a person is in a training, and whether what it charges to each protected relation is what a person in
// that relation loses. A relation with a cap or an allowance must be read row by row, alone, and its privacy
// unit must be among what is read, followed column by column and not by its name; or it stands behind a view
// whose owner has protected the view with a privacy unit of its own and so vouches for it.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/row_sources.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// A training's relations with their limits, and the places at which they are read.
struct Inspection;

// `named` is the relation of the call, 0 for a query.
const Inspection* Inspect(RelationSet* relations, const RowSources* sources, Oid named);

// Where the persons of a training are found.
struct Persons {
    const RelationUse* use;  // the protected relation whose rows are read; nullptr: there is none
    AttrNumber column;       // its column whose equal values are one person; 0: its rows are persons
};

// Raises 0A000 with the reason if a protected relation is not read row by row, if there are two of them, or
// if their privacy units differ, and 55000 if one counts releases for another unit.
Persons FindPersons(const Inspection* inspection);

// The column of a use that the training's privacy unit is, 0 if it is none of it.
using UnitTrace = AttrNumber (*)(const void* context, const RelationUse* use);

// Fills in what the release means for each of the relations, for the ledger; after FindPersons.
void RecordPersons(const Inspection* inspection, UnitTrace trace, const void* context);

// All of it for a training on a relation: the column that is its privacy unit, or nullptr: rows are persons. Raises
// 55000 if it shows none. Palloc'ed.
char* UnitOfRelation(RelationSet* relations, Oid named);

// Raises 0A000 for a column of which different values are equal.
void CheckUnitCollation(Oid relid, AttrNumber column);

// The first budget that the release, as it was recorded, does not serve; nullptr if it serves them all.
const BudgetState* UnservedBudget(const BudgetList* budgets, const RelationSet* relations);

}  // namespace dpboost
