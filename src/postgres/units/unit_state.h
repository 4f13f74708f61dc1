// The accounts of persons in the catalog, as a release finds them: which of its limits has them, and what they hold. The
// order is reserve, commit, train, settle (training/units/unit_account.h); whoever has loaded accounts holds a lock on
// them until he is done, and should that fail to keep others out, the generation does: it was counted up if they have
// changed since, and then nothing is charged. What is read here is secret and leaves no trace in what PostgreSQL shows.
#pragma once

#include "training/units/unit_account.h"

#include "postgres/boundary/pg.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// The accounts that a release is charged to. Plain data.
struct UnitState {
    int64 id;  // 0: none of its limits is accounted by unit
    double epsilon;
    double delta;
    uint32 order;
    char family;       // of the column that tells persons apart
    int64 generation;  // as it was loaded
    const char* name;  // of the limit, for messages
};

// Which accounts the budgets name, for a release that tells persons apart by a column of this type. Raises 0A000 if they
// are several, or not those of the rows that are read, and 42804 for a type that has no lasting keys.
void FindUnitState(const BudgetList* budgets, const RelationSet* relations, Oid unit_type, UnitState* state);

// The kind of a type that tells persons apart, whose members have the same keys. Raises 42804 for one without lasting keys.
char KeyFamily(Oid type);

// Locks the accounts against other releases, waiting for those that run, and loads them into the book of the account,
// which has its units' keys. Raises 55000 if they are missing, damaged or of another kind of key.
void OpenUnits(UnitState* state, UnitAccount* account);
void CloseUnits(const UnitState* state);

// The lock alone, until the transaction ends or CloseUnits.
void LockUnits(int64 id);

// A stored state. Raises 55000 if it is missing.
struct StoredUnits {
    int64 generation;
    UnitBuckets buckets;
    char salt[kUnitSaltSize];
    char family;
};
// Inside a catalog scope.
StoredUnits ReadStoredUnits(int64 id, const char* name);
// Inside a catalog scope: all buckets into a book that has its units.
void LoadBuckets(int64 id, UnitBook* book);

// Inside a catalog scope: what UnitBook::WriteOut gave, if the generation is still this one; else false, and nothing is
// changed.
bool WriteUnitBuckets(int64 id, int64 generation, const char* bytes, size_t size);
// The same in two steps: what may fail, by whatever others do, and what is seen.
bool CountUnitWrite(int64 id, int64 generation, const char* bytes, size_t size);
void WriteCountedBuckets(int64 id, const char* bytes, size_t size);

}  // namespace dpboost
