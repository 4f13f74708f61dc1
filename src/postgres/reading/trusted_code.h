// What a query may reach that reads rows for someone who may not see them. Its functions get every value, and
// run in the caller's session: so they must be those of the relation's owner, of someone who has the owner's
// rights anyway, or of the server itself.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Raises 42501 if the (rewritten) query reaches code of anybody else: functions, operators, casts, aggregates
// with their parts, domain checks, and what sorts, groups, hashes and compares. Raises 0A000 if it locks rows.
void CheckTrustedCode(Query* query, Oid relid, Oid owner);

// Raises 55000 if the query runs functions that may look names up while the session has temporary tables, views
// or types: a name that is not qualified would find them, and what is behind it would see values.
void CheckOwnNames(Query* query, Oid relid);

}  // namespace dpboost
