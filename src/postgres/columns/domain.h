// What is public about a column: declared with dpboost_set_domain, or stated by the schema itself in CHECK
// constraints with constants, in enum labels or by being boolean. Never derived from rows or from statistics.
#pragma once

#include "training/domain.h"

#include "postgres/boundary/pg.h"

namespace dpboost {

// Where it stands what is public about a column.
enum class DomainSource : uint8_t { kNone, kDeclared, kConstraint, kType };

// A Domain as plain data; levels are palloc'ed, in declared or enum order, without duplicates.
struct ColumnDomain {
    DomainKind kind;
    double lower;
    double upper;
    Scale scale;
    int level_count;
    char** levels;
    DomainSource source;
    Oid source_relid;  // the column's own relation, a parent of it, or one behind a view
};

// Of a column of a table, view, ...; a view's column without a declaration of its own has the domain of the
// table column that it shows unchanged.
void LoadColumnDomain(Oid relid, AttrNumber attnum, ColumnDomain* domain);

// A value as the number that ranges and features use: numeric types as they are, boolean 0 and 1, date in
// days and timestamp(tz) in seconds since 2000-01-01. False if the type has no such number; infinities and
// NaN stay what they are, a numeric too large for float8 becomes infinite. Never raises. Looks through
// domain types: pass the base type.
bool NumberOfDatum(Oid base_type, Datum value, double* number);

// Whether NumberOfDatum can serve the type.
bool HasNumber(Oid base_type);

}  // namespace dpboost
