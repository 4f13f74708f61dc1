#include "postgres/predict/binding.h"

#include "postgres/predict/object_features.h"

namespace dpboost {

namespace {

constexpr int kMaxBindings = 64;

// The state of a call. Bindings are ordered by use, the latest first, for calls that name a model per row.
struct ModelCall {
    MemoryContext context;  // of the bindings; reset when they may be stale
    TimestampTz statement;
    Oid user;
    uint64 generation;
    FeatureShape shape;
    Oid object_type;
    int first_feature;
    int count;
    Binding* bindings[kMaxBindings];
};

ModelCall* NewCall(FunctionCallInfo fcinfo, int first_feature) {
    auto* call = static_cast<ModelCall*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ModelCall)));
    call->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dpboost call", ALLOCSET_SMALL_SIZES);
    call->shape = FeatureShape::kColumns;
    call->first_feature = first_feature;
    if (PG_NARGS() == first_feature + 1) {
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, first_feature);
        if (IsObject(type, fcinfo->args[first_feature]))
            call->object_type = type;
        if (OidIsValid(call->object_type) || type_is_rowtype(type))
            call->shape = FeatureShape::kRow;
        else if (OidIsValid(get_element_type(getBaseType(type))))
            call->shape = FeatureShape::kArray;
    }
    fcinfo->flinfo->fn_extra = call;
    return call;
}

// Within one statement of one role, models and rights stay as the first row found them.
bool IsFresh(const ModelCall& call) {
    return call.statement == GetCurrentStatementStartTimestamp() && call.user == GetUserId() &&
           call.generation == ModelGeneration();
}

void Refresh(ModelCall* call) {
    call->count = 0;
    MemoryContextReset(call->context);
    call->statement = GetCurrentStatementStartTimestamp();
    call->user = GetUserId();
    call->generation = ModelGeneration();
}

// ---- binding ----

const char* FeatureName(const Binding& binding, int feature) {
    return binding.model->model.features()[feature].name().c_str();
}

void BindColumn(Binding* binding, int feature, Oid type) {
    SourceColumn column;
    memset(static_cast<void*>(&column), 0, sizeof column);
    column.name = FeatureName(*binding, feature);
    column.type = type;
    CheckColumnType(&column, "feature");
    const Encoder* encoder = &binding->model->encoders[feature];
    if (!Fits(column.kind, binding->model->model.features()[feature]))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("feature \"%s\" of model \"%s\" cannot be of type %s", column.name,
                               binding->name, format_type_be(type)),
                        errdetail(encoder->kind() == FeatureKind::kNumeric
                                      ? "The model was trained on numbers."
                                      : "The model was trained on text, an enum or a boolean.")));
    MakeColumnReader(type, column.kind, encoder, &binding->readers[feature]);
}

// A literal without a type is part of the call, so a mistake in it can be told.
void CheckLiteral(const Binding& binding, int feature, const char* text) {
    char* end;
    strtod(text, &end);
    if (end == text || *end != '\0')
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                 errmsg("invalid number for feature \"%s\": \"%s\"", FeatureName(binding, feature), text),
                 errhint("Give a literal that is no number its type, as in date '2024-05-01'.")));
}

void BindColumns(FunctionCallInfo fcinfo, Binding* binding) {
    const int given = PG_NARGS() - binding->first_feature;
    if (given != binding->features)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg_plural("model \"%s\" has %d feature, and the call has %d",
                                      "model \"%s\" has %d features, and the call has %d",
                                      static_cast<unsigned long>(binding->features), binding->name,
                                      binding->features, given),
                        errhint("Pass them in the order of training, or pass a row or a JSON object, whose "
                                "columns are found by name.")));
    for (int i = 0; i < given; ++i) {
        const int argument = binding->first_feature + i;
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
        BindColumn(binding, i, type);
        if (type == UNKNOWNOID && !PG_ARGISNULL(argument) && binding->readers[i].as_number)
            CheckLiteral(*binding, i, DatumGetCString(PG_GETARG_DATUM(argument)));
    }
}

// Position (from 0) of the feature in the row, or -1.
int FindField(const Binding& binding, int feature) {
    for (int i = 0; i < binding.descriptor->natts; ++i) {
        const FormData_pg_attribute* attribute = TupleDescAttr(binding.descriptor, i);
        if (!attribute->attisdropped &&
            strcmp(NameStr(attribute->attname), FeatureName(binding, feature)) == 0)
            return i;
    }
    return -1;
}

// ROW(a, b) gives its columns the names f1, f2, ...; they are taken by position.
bool HasNoNames(TupleDesc descriptor) {
    char name[NAMEDATALEN];
    for (int i = 0; i < descriptor->natts; ++i) {
        snprintf(name, sizeof name, "f%d", i + 1);
        if (strcmp(NameStr(TupleDescAttr(descriptor, i)->attname), name) != 0)
            return false;
    }
    return true;
}

// And nullptr. Palloc'ed.
const char* const* ColumnNames(TupleDesc descriptor) {
    auto* names = static_cast<const char**>(palloc0(sizeof(char*) * (descriptor->natts + 1)));
    for (int i = 0, count = 0; i < descriptor->natts; ++i)
        if (!TupleDescAttr(descriptor, i)->attisdropped)
            names[count++] = NameStr(TupleDescAttr(descriptor, i)->attname);
    return names;
}

void BindRow(Binding* binding, Oid type, int32 typmod) {
    binding->row_type.type = InvalidOid;
    MemoryContextReset(binding->row_context);
    MemoryContext outer = MemoryContextSwitchTo(binding->row_context);
    RowTypeStamp stamp;
    binding->descriptor = CopyRowType(type, typmod, &stamp);
    const int width = binding->descriptor->natts;
    binding->fields = static_cast<int*>(palloc(sizeof(int) * binding->features));
    binding->values = static_cast<Datum*>(palloc(sizeof(Datum) * (width + 1)));
    binding->nulls = static_cast<bool*>(palloc(sizeof(bool) * (width + 1)));
    const bool by_position = width == binding->features && HasNoNames(binding->descriptor);
    for (int i = 0; i < binding->features; ++i) {
        binding->fields[i] = by_position ? i : FindField(*binding, i);
        if (binding->fields[i] < 0)
            RaiseMissingFeatures(*binding, ColumnNames(binding->descriptor));
        BindColumn(binding, i, TupleDescAttr(binding->descriptor, binding->fields[i])->atttypid);
    }
    binding->row_type = stamp;
    MemoryContextSwitchTo(outer);
}

void BindArray(Binding* binding, Oid element_type) {
    binding->element_type = InvalidOid;  // should a column raise
    for (int i = 0; i < binding->features; ++i)
        BindColumn(binding, i, element_type);
    binding->element_type = element_type;
}

Binding* NewBinding(FunctionCallInfo fcinfo, ModelCall* call, const char* name, size_t name_size) {
    MemoryContext outer = MemoryContextSwitchTo(call->context);
    auto* binding = static_cast<Binding*>(palloc0(sizeof(Binding)));
    binding->holder = CoreState<ModelPointer>::Make(call->context);
    binding->name = pnstrdup(name, name_size);
    binding->name_size = name_size;
    binding->shape = call->shape;
    binding->object_type = call->object_type;
    binding->first_feature = call->first_feature;
    binding->context = call->context;
    binding->row_context =
        AllocSetContextCreate(call->context, "dpboost row of a call", ALLOCSET_SMALL_SIZES);
    LoadModel(name, name_size, binding->holder->get());
    binding->model = binding->holder->get()->get();
    binding->features = static_cast<int>(binding->model->model.features().size());
    binding->readers = static_cast<ColumnReader*>(palloc0(sizeof(ColumnReader) * binding->features));
    binding->codes = static_cast<uint16_t*>(palloc0(sizeof(uint16_t) * binding->features));
    for (int i = 0; i < binding->features; ++i)  // for a row that is NULL, whose types are not bound
        binding->readers[i].missing = binding->model->encoders[i].Missing();
    if (call->shape == FeatureShape::kColumns)
        BindColumns(fcinfo, binding);
    if (OidIsValid(call->object_type))
        BindObject(binding);
    MemoryContextSwitchTo(outer);
    return binding;
}

// The binding of the model that this row names.
Binding* FindBinding(FunctionCallInfo fcinfo, ModelCall* call, const char* name, size_t name_size) {
    for (int i = 0; i < call->count; ++i) {
        Binding* binding = call->bindings[i];
        if (binding->name_size != name_size || memcmp(binding->name, name, name_size) != 0)
            continue;
        memmove(&call->bindings[1], &call->bindings[0], sizeof(Binding*) * i);
        return call->bindings[0] = binding;
    }
    if (call->count == kMaxBindings)
        Refresh(call);
    Binding* binding = NewBinding(fcinfo, call, name, name_size);
    memmove(&call->bindings[1], &call->bindings[0], sizeof(Binding*) * call->count);
    ++call->count;
    return call->bindings[0] = binding;
}

// ---- one row ----

FeatureValues TakeRowApart(Binding* binding, Datum row) {
    HeapTupleHeader header = DatumGetHeapTupleHeader(row);
    if (!Holds(binding->row_type, header))
        BindRow(binding, HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
    ReadRow(header, binding->descriptor, binding->values, binding->nulls);
    return {binding->values, binding->nulls, binding->fields};
}

FeatureValues TakeArrayApart(Binding* binding, Datum array) {
    ArrayElements elements;
    if (!ReadArray(array, &elements))
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("features must be a one-dimensional array")));
    if (elements.count != binding->features)
        ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                        errmsg_plural("model \"%s\" has %d feature, and the array has length %d",
                                      "model \"%s\" has %d features, and the array has length %d",
                                      static_cast<unsigned long>(binding->features), binding->name,
                                      binding->features, elements.count)));
    if (elements.type != binding->element_type) {
        MemoryContext outer = MemoryContextSwitchTo(binding->context);
        BindArray(binding, elements.type);
        MemoryContextSwitchTo(outer);
    }
    return {elements.values, elements.nulls, nullptr};
}

}  // namespace

Binding* BindCall(FunctionCallInfo fcinfo, int first_feature) {
    auto* call = static_cast<ModelCall*>(fcinfo->flinfo->fn_extra);
    if (call == nullptr)
        call = NewCall(fcinfo, first_feature);
    if (!IsFresh(*call))
        Refresh(call);
    const text* name = PG_GETARG_TEXT_PP(0);
    const char* name_data = VARDATA_ANY(name);
    const size_t name_size = VARSIZE_ANY_EXHDR(name);
    Binding* binding = call->bindings[0];
    if (call->count == 0 || binding->name_size != name_size ||
        memcmp(binding->name, name_data, name_size) != 0)
        binding = FindBinding(fcinfo, call, name_data, name_size);
    return binding;
}

FeatureValues TakeApart(Binding* binding, Datum argument) {
    if (OidIsValid(binding->object_type))
        return TakeObjectApart(binding, argument);
    return binding->shape == FeatureShape::kRow ? TakeRowApart(binding, argument)
                                                : TakeArrayApart(binding, argument);
}

}  // namespace dpboost
