// The view dpboost_methods: what the option "method" may name, of which parts it is made, and when to use it.
#include "learner/presets.h"
#include "postgres/pg.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_list_methods);
}

namespace dpboost {

namespace {

constexpr MethodPreset kOwnMethods[] = {
    {"auto",
     "noisy histograms, additive stage with shrinkage that knows the noise, one-feature trees on the "
     "residual, "
     "interactions where a query finds them",
     "auto-method.md", "the default: no tuning"},
    {"sbdt",
     "random splits, Newton leaves with leaf-balanced noise, Poisson sampling, private first guess, Renyi "
     "filter",
     "sbdt.txt", "many trees with interactions, and all that can be set by hand"}};
constexpr uint64 kOwnMethodCount = lengthof(kOwnMethods);

const MethodPreset& ListedMethod(uint64 number) {
    return number < kOwnMethodCount ? kOwnMethods[number] : kMethodPresets[number - kOwnMethodCount];
}

}  // namespace

}  // namespace dpboost

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
        context->max_calls = kOwnMethodCount + kMethodPresetCount;
        MemoryContextSwitchTo(outer);
    }
    context = SRF_PERCALL_SETUP();
    if (context->call_cntr >= context->max_calls)
        SRF_RETURN_DONE(context);
    const MethodPreset& method = ListedMethod(context->call_cntr);
    Datum values[] = {CStringGetTextDatum(method.name), CStringGetTextDatum(method.parts),
                      CStringGetTextDatum(method.paper), CStringGetTextDatum(method.when_to_use)};
    bool nulls[] = {false, false, false, false};
    SRF_RETURN_NEXT(context, HeapTupleGetDatum(heap_form_tuple(context->tuple_desc, values, nulls)));
}
