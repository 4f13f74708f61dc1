// Rows as PostgreSQL passes them between functions: a composite value taken apart, and a result of many rows.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// The fields of a composite value, which has the descriptor's type.
void ReadRow(HeapTupleHeader row, TupleDesc descriptor, Datum* values, bool* nulls);

// For a function that returns a set: where its rows go, and what they look like.
Tuplestorestate* BeginRows(FunctionCallInfo fcinfo, TupleDesc* descriptor);

}  // namespace dpboost
