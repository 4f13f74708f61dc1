// A call's arguments, bound to a model: `f(model text, ..., VARIADIC features "any")` gets its features as columns, as one
// array, or as one row or JSON object whose columns are found by name. All that does not change from row to row (model, rights, types,
// encoders, positions) is bound at the first row of a query and kept with the call's expression.
#pragma once

#include "postgres/boundary/boundary.h"
#include "postgres/boundary/row_values.h"
#include "postgres/columns/source_column.h"
#include "postgres/predict/model_cache.h"

namespace dpboost {

using ModelPointer = std::shared_ptr<CachedModel>;

// One model, bound to the arguments of one call. Plain data in the call's memory context; the model is held
// by `holder`, which that context frees.
struct Binding {
    CoreState<ModelPointer>* holder;
    CachedModel* model;
    char* name;  // as the call gave it
    size_t name_size;
    int features;
    FeatureShape shape;
    Oid object_type;  // of a JSON object: jsonb, json, or unknown for a literal; else 0. Its shape is that of a row
    int first_feature;  // its argument's number, from 0
    MemoryContext context;
    ColumnReader* readers;
    uint16_t* codes;

    // A row: the type for which `fields` holds, and room for its values, in a context of their own because
    // rows of several types may alternate.
    MemoryContext row_context;
    RowTypeStamp row_type;
    TupleDesc descriptor;
    int* fields;
    Datum* values;
    bool* nulls;

    Oid element_type;  // of an array
};

// The binding of the model that argument 0 names, which must not be NULL; raises what LoadModel raises. Uses fn_extra.
Binding* BindCall(FunctionCallInfo fcinfo, int first_feature);

// One row or array of the call, its types bound and its values taken apart into `values` and `nulls`, which are found
// through `fields` if that is not null.
struct FeatureValues {
    const Datum* values;
    const bool* nulls;
    const int* fields;
};
FeatureValues TakeApart(Binding* binding, Datum argument);

// Calls visit(feature, is_null, value) for every feature of the row, in the model's order. A row or array that is NULL is
// one of NULLs.
template <class Visit>
inline void VisitFeatures(FunctionCallInfo fcinfo, Binding* binding, const Visit& visit) {
    const NullableDatum* arguments = &fcinfo->args[binding->first_feature];
    if (binding->shape == FeatureShape::kColumns) {
        for (int i = 0; i < binding->features; ++i)
            visit(i, arguments[i].isnull, arguments[i].value);
        return;
    }
    if (arguments[0].isnull) {
        for (int i = 0; i < binding->features; ++i)
            visit(i, true, Datum(0));
        return;
    }
    const FeatureValues row = TakeApart(binding, arguments[0].value);
    for (int i = 0; i < binding->features; ++i) {
        const int field = row.fields != nullptr ? row.fields[i] : i;
        visit(i, row.nulls[field], row.values[field]);
    }
}

// The codes of the row into binding->codes.
inline void EncodeFeatures(FunctionCallInfo fcinfo, Binding* binding) {
    VisitFeatures(fcinfo, binding, [binding](int i, bool is_null, Datum value) {
        binding->codes[i] = is_null ? binding->readers[i].missing : ReadCode(binding->readers[i], value);
    });
}

}  // namespace dpboost
