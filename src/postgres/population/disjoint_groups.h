// Whether groups of rows by a column are groups of persons: nobody has rows in two of them. Only then may models of the groups
// be charged as one (see Cashier in ledger.h). The schema must say it, never rows: what holds of today's rows would be
// something about them.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Raises 0A000 unless it is so in every state that the schema allows:
//   - rows are persons (`unit` is null), or
//   - the group is the unit itself, or
//   - the unit is unique, so that a person has one row, or
//   - a foreign key of unit and group refers to a table in which the unit alone is unique, and so has one group.
// The last one also raises 55006 while a statement of the session that may still break it has the table open.
// The last two also raise 25001 where rows are read by a snapshot of the transaction, which may be older than the constraint.
// NULL breaks none of them: rows without a group are in no group, and rows without a unit are not read. Constraints must be
// valid, enforced at once and hold for all that is read; a view's columns are followed to one relation under it, but not through
// a materialized view. The relation is locked, so they stay until the transaction ends, and rows are read after that.
void CheckDisjointGroups(Oid relid, const char* unit, const char* group);

}  // namespace dpboost
