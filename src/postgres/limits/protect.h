// What the functions for owners have in common: who may govern a relation, which relations can be, and what a limit is.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

constexpr double kDefaultDelta = 1e-6;  // of a limit, as of a training

// A limit as the functions take it.
struct BudgetLimit {
    double epsilon;
    double delta;
    uint32 order;
};

// Checks a limit and fixes its order. Raises 22023.
BudgetLimit CheckLimit(double epsilon, double delta);

// Says that a limit takes the place of another one, unless they are the same: who sets those of a whole schema may not know
// what was there.
void NoteReplacedLimit(const char* whose, double old_epsilon, double old_delta, double epsilon, double delta);

// Checks that `caller` owns the relation or is a superuser and that it can be protected, and locks it against
// other such changes until the transaction ends. Trainings do not wait for that lock.
void OpenGoverned(Oid relid, Oid caller, ReadRelation* relation);

// The role as the catalog remembers it.
Datum CallerRef(Oid caller);

// Inside a catalog scope: the identities whose limits are this relation's alone to change, of which it gets a
// first one if it has none.
ArrayType* RememberedIdentities(const ReadRelation* relation);

// Inside a catalog scope: ends the allowances of roles that are gone. PostgreSQL tells nobody in a database that
// a role was dropped, and its oid may be used again one day; no right may wait for it.
void RevokeOfDroppedRoles(Oid relid);

}  // namespace dpboost
