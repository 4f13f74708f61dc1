// The view dpboost_methods: what the option "method" may name, of which parts it is made, when to use it, and which
// options it has.
#include "training/options.h"

#include "postgres/boundary/boundary.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_list_methods);
}

namespace dpboost {
namespace {

// A method as the view shows it.
struct ListedMethod {
    const MethodInfo* info;  // a constant
    std::string options;
};

class ListedMethods {
  public:
    ListedMethods() {
        for (const MethodInfo* method : AllMethods())
            methods_.push_back({method, DescribeOptions(method->options)});
    }
    size_t size() const { return methods_.size(); }
    const ListedMethod& operator[](size_t i) const { return methods_[i]; }

  private:
    std::vector<ListedMethod> methods_;
};

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
        auto* methods = CoreState<ListedMethods>::Make(context->multi_call_memory_ctx);
        context->user_fctx = methods;
        context->max_calls = (*methods)->size();
        MemoryContextSwitchTo(outer);
    }
    context = SRF_PERCALL_SETUP();
    if (context->call_cntr >= context->max_calls)
        SRF_RETURN_DONE(context);
    const ListedMethod& method =
        (**static_cast<CoreState<ListedMethods>*>(context->user_fctx))[context->call_cntr];
    Datum values[] = {CStringGetTextDatum(method.info->name), CStringGetTextDatum(method.info->blocks),
                      CStringGetTextDatum(method.info->paper), CStringGetTextDatum(method.info->when_to_use),
                      JsonTextToDatum(method.options.c_str())};
    bool nulls[] = {false, false, false, false, false};
    SRF_RETURN_NEXT(context, HeapTupleGetDatum(heap_form_tuple(context->tuple_desc, values, nulls)));
}
