// What the functions for owners have in common: who may govern a relation, and which relations can be.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

// Checks that `caller` owns the relation or is a superuser and that it can be protected, and locks it against
// other such changes until the transaction ends. Trainings do not wait for that lock.
void OpenGoverned(Oid relid, Oid caller, ReadRelation* relation);

}  // namespace dpboost
