// What a query must not do when it runs with the rights of a relation's owner in somebody else's session.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Raises 55000 if the (rewritten) query runs functions that may look names up while the session has temporary
// tables, views or types: a name that is not qualified would find them, and what is behind it would run with
// the owner's rights.
void CheckOwnNames(Query* query, Oid relid);

}  // namespace dpboost
