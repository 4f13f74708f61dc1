// Rows as PostgreSQL passes them between functions: a composite value taken apart, and a result of many rows.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// A number for what a row type looks like now. A named one may be altered in the middle of a statement, by code that the
// statement calls: a descriptor is good for as long as this stays the same. It also changes for no reason, rarely.
uint64 RowTypeState(Oid type, int32 typmod);

// The fields of a composite value, which has the descriptor's type.
void ReadRow(HeapTupleHeader row, TupleDesc descriptor, Datum* values, bool* nulls);

// For a function that returns a set: where its rows go, and what they look like.
Tuplestorestate* BeginRows(FunctionCallInfo fcinfo, TupleDesc* descriptor);

}  // namespace dpboost
