// Rows as PostgreSQL passes them between functions: a composite value taken apart, and a result of many rows.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// A row type as it looks now. A named one may be altered in the middle of a statement, by code that the statement calls: a
// descriptor is good for rows for which this holds. It also ceases to hold for no reason, rarely.
struct RowTypeStamp {
    Oid type;                     // 0: holds for no row
    int32 typmod;                 // of a record
    const TypeCacheEntry* entry;  // of a named type; a session keeps it for good
    uint64 identifier;
};

// The descriptor of a row type, copied, and a stamp that does not outlive it.
TupleDesc CopyRowType(Oid type, int32 typmod, RowTypeStamp* stamp);

// A named type's rows may have any typmod: since 2026 the server keeps a version there, which only headers from then on hide.
inline bool Holds(const RowTypeStamp& stamp, HeapTupleHeader row) {
    if (HeapTupleHeaderGetTypeId(row) != stamp.type)
        return false;
    if (stamp.entry != nullptr)
        return stamp.entry->tupDesc_identifier == stamp.identifier;
    return HeapTupleHeaderGetTypMod(row) == stamp.typmod &&
           assign_record_type_identifier(stamp.type, stamp.typmod) == stamp.identifier;
}

// The fields of a composite value, which has the descriptor's type.
void ReadRow(HeapTupleHeader row, TupleDesc descriptor, Datum* values, bool* nulls);

// For a function that returns a set: where its rows go, and what they look like.
Tuplestorestate* BeginRows(FunctionCallInfo fcinfo, TupleDesc* descriptor);

}  // namespace dpboost
