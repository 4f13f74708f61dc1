// The view dpboost_methods: what the option "method" may name, of which parts it is made, and when to use it.
#include "postgres/boundary/boundary.h"
#include "postgres/train/methods.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_list_methods);
}

using namespace dpboost;

Datum dpboost_list_methods(PG_FUNCTION_ARGS) {
    FuncCallContext* context;
    if (SRF_IS_FIRSTCALL()) {
        context = SRF_FIRSTCALL_INIT();
        MemoryContext outer = MemoryContextSwitchTo(context->multi_call_memory_ctx);
        TupleDesc descriptor;
        if (get_call_result_type(fcinfo, nullptr, &descriptor) != TYPEFUNC_COMPOSITE)
            elog(ERROR, "return type must be a row type");
        context->tuple_desc = BlessTupleDesc(descriptor);
        CallCore([&] { context->max_calls = ListMethods().size(); });
        MemoryContextSwitchTo(outer);
    }
    context = SRF_PERCALL_SETUP();
    if (context->call_cntr >= context->max_calls)
        SRF_RETURN_DONE(context);
    MethodPreset method;  // its texts are constants
    CallCore([&] { method = ListMethods()[context->call_cntr]; });
    Datum values[] = {CStringGetTextDatum(method.name), CStringGetTextDatum(method.parts),
                      CStringGetTextDatum(method.paper), CStringGetTextDatum(method.when_to_use)};
    bool nulls[] = {false, false, false, false};
    SRF_RETURN_NEXT(context, HeapTupleGetDatum(heap_form_tuple(context->tuple_desc, values, nulls)));
}
