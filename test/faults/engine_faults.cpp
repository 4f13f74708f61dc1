// What carries the rows of one process to another, in other hands than PostgreSQL's own: partial states of dpboost_train whose
// bytes a test has damaged, and an engine that ends dpboost_train_rows inside an aggregate of its own, as Citus does. Only C
// code that a superuser has installed can do either.
#include "postgres/boundary/boundary.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_fault_carry);
PG_FUNCTION_INFO_V1(dpboost_fault_take);
PG_FUNCTION_INFO_V1(dpboost_fault_taken);
PG_FUNCTION_INFO_V1(dpboost_fault_engine_final);
}

namespace dpboost {
namespace {

bytea* carried = nullptr;

// Calls a function with the context of the aggregate that calls us.
Datum CallInAggregate(FunctionCallInfo fcinfo, const char* name, const NullableDatum* arguments) {
    FmgrInfo function;
    fmgr_info(DatumGetObjectId(DirectFunctionCall1(regprocedurein, CStringGetDatum(name))), &function);
    LOCAL_FCINFO(call, 2);
    InitFunctionCallInfoData(*call, &function, function.fn_nargs, PG_GET_COLLATION(), fcinfo->context,
                             nullptr);
    for (int i = 0; i < function.fn_nargs; ++i)
        call->args[i] = arguments[i];
    const Datum result = FunctionCallInvoke(call);
    if (call->isnull)
        elog(ERROR, "%s returned NULL", name);
    return result;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// The bytes that the next dpboost_fault_took takes.
Datum dpboost_fault_carry(PG_FUNCTION_ARGS) {
    MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);
    if (carried != nullptr)
        pfree(carried);
    carried = PG_GETARG_BYTEA_P_COPY(0);
    MemoryContextSwitchTo(outer);
    PG_RETURN_VOID();
}

// At the first row: as the process that trains takes what a worker has sent.
Datum dpboost_fault_take(PG_FUNCTION_ARGS) {
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0 || carried == nullptr)
        elog(ERROR, "nothing is carried to an aggregate");
    if (!PG_ARGISNULL(0))
        PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    MemoryContext outer = MemoryContextSwitchTo(context);
    const NullableDatum sent[] = {{PointerGetDatum(carried), false}, {0, false}};
    const Datum partial = CallInAggregate(fcinfo, "dpboost.train_deserialize(bytea,internal)", sent);
    const NullableDatum combined[] = {{0, true}, {partial, false}};
    const Datum state = CallInAggregate(fcinfo, "dpboost.train_combine(internal,internal)", combined);
    MemoryContextSwitchTo(outer);
    PG_RETURN_DATUM(state);
}

Datum dpboost_fault_taken(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(!PG_ARGISNULL(0));
}

Datum dpboost_fault_engine_final(PG_FUNCTION_ARGS) {
    PG_RETURN_DATUM(CallInAggregate(fcinfo, "dpboost.train_rows_final(dpboost.train_state)", fcinfo->args));
}
