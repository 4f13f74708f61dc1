// Rows in and out of functions.
#include "postgres/boundary/row_values.h"

namespace dpboost {

// The stamp comes first. Looking something up is when a session hears of another one's ALTER, and a stamp from after that
// would hold for rows that the descriptor does not describe.
TupleDesc CopyRowType(Oid type, int32 typmod, RowTypeStamp* stamp) {
    const TypeCacheEntry* entry = type == RECORDOID ? nullptr : lookup_type_cache(type, TYPECACHE_TUPDESC);
    *stamp = {type, typmod, entry, assign_record_type_identifier(type, typmod)};
    TupleDesc shared = lookup_rowtype_tupdesc(type, typmod);
    TupleDesc copy = CreateTupleDescCopy(shared);
    ReleaseTupleDesc(shared);
    return copy;
}

void ReadRow(HeapTupleHeader row, TupleDesc descriptor, Datum* values, bool* nulls) {
    HeapTupleData tuple;
    tuple.t_len = HeapTupleHeaderGetDatumLength(row);
    ItemPointerSetInvalid(&tuple.t_self);
    tuple.t_tableOid = InvalidOid;
    tuple.t_data = row;
    heap_deform_tuple(&tuple, descriptor, values, nulls);
}

Tuplestorestate* BeginRows(FunctionCallInfo fcinfo, TupleDesc* descriptor) {
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    if (result == nullptr || !IsA(result, ReturnSetInfo) || (result->allowedModes & SFRM_Materialize) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("set-valued function called in context that cannot accept a set")));
    if (get_call_result_type(fcinfo, nullptr, descriptor) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    MemoryContext outer = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
    *descriptor = CreateTupleDescCopy(*descriptor);
    Tuplestorestate* store = tuplestore_begin_heap(true, false, work_mem);
    result->returnMode = SFRM_Materialize;
    result->setResult = store;
    result->setDesc = *descriptor;
    MemoryContextSwitchTo(outer);
    return store;
}

}  // namespace dpboost
