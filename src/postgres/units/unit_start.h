// How a limit comes to be accounted by unit: dpboost_protect(..., accounting => 'unit').
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

enum class Accounting { kUnnamed, kRelease, kUnit };

// "release" or "unit"; raises 22023.
Accounting ReadAccounting(const char* text);

// The column by which a relation that has no privacy unit tells its persons apart: its primary key, if that is one column.
// Raises 55000 if it has none.
void PrimaryKeyUnit(Oid relid, NameData* unit);

// Inside a catalog scope: the accounts of a limit, the population's if there is one, else the relation's own, whose
// identities are `ids`; 0: it counts releases.
int64 UnitStateOf(ArrayType* ids, int64 population_id);

// Opens accounts for the limit of a relation, or of its population, which has been written. Persons who are present and of
// whom something was released start with what the ledger says; whoever comes later starts with nothing spent.
void StartUnits(const ReadRelation* relation, ArrayType* ids, int64 population_id, const NameData& unit,
                Oid caller);

// Inside a catalog scope: raises 55000 if a table that is still there has left the population. What is released from it
// counts for the population, but would be in nobody's account.
void CheckAllBelong(int64 population_id);

// Inside a catalog scope: whether a relation is in a population now.
bool BelongsTo(int64 population_id, ArrayType* ids);

// Inside a catalog scope: raises 55000 unless a relation can join a population with these accounts: its persons have keys
// of the same kind, and nothing was released from it yet.
void CheckMayJoinUnits(int64 id, const ReadRelation* relation, const NameData& unit,
                       const ArrayType* counted);

}  // namespace dpboost
