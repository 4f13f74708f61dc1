// What the schema itself says about a column's values: CHECK constraints of the table and of its domain type
// that compare the column with constants, enum labels, and boolean.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/columns/domain.h"

namespace dpboost {

// Fills the domain, or leaves it at kNone if the schema bounds the column not at all or on one side only.
void LoadSchemaDomain(Oid relid, AttrNumber attnum, ColumnDomain* domain);

}  // namespace dpboost
