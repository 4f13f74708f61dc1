// The view dpboost_methods: what the option "method" may name, of which parts it is made, when to use it, and which
// options it has.
#include "training/options.h"

#include "postgres/boundary/boundary.h"
#include "postgres/boundary/row_values.h"
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
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    auto* methods = CoreState<ListedMethods>::Make(CurrentMemoryContext);
    for (size_t i = 0; i < (*methods)->size(); ++i) {
        const ListedMethod& method = (**methods)[i];
        Datum values[] = {CStringGetTextDatum(method.info->name), CStringGetTextDatum(method.info->blocks),
                          CStringGetTextDatum(method.info->paper),
                          CStringGetTextDatum(method.info->when_to_use),
                          JsonTextToDatum(method.options.c_str())};
        bool nulls[lengthof(values)] = {};
        tuplestore_putvalues(store, descriptor, values, nulls);
    }
    return Datum(0);
}
