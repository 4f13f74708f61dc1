// dpboost_train_rows, the aggregate for engines that run aggregates in parts on several servers: plain types, nothing is
// read from expressions, and the state may travel. What the call passes as constants arrives as values of every row; they
// must be equal. Rights, budgets and the query are looked at where it ends, on the server that trains.
#include "postgres/train/aggregate/call_expressions.h"
#include "postgres/train/aggregate/call_site.h"
#include "postgres/train/aggregate/rows_charge.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_rows_step);
PG_FUNCTION_INFO_V1(dpboost_train_rows_combine);
PG_FUNCTION_INFO_V1(dpboost_train_rows_final);
}

namespace dpboost {
namespace {

enum Argument { kState, kModel, kOptions, kTarget, kFeatures, kUnit };

void RequireAggregate(FunctionCallInfo fcinfo) {
    if (AggCheckCallContext(fcinfo, nullptr) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("this function is called by dpboost_train_rows only")));
}

struct varlena* CallValue(NullableDatum argument, const char* what) {
    if (argument.isnull)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be NULL", what)));
    return PG_DETOAST_DATUM_PACKED(argument.value);
}

bool SameBytes(const struct varlena* a, const struct varlena* b) {
    return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
           memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

RowsState* BeginWith(FunctionCallInfo fcinfo, struct varlena* model, struct varlena* options,
                     bool has_units) {
    const char* name = text_to_cstring(model);
    RowsState* state = NewRowsState(fcinfo, name, DatumGetJsonbP(PointerGetDatum(options)), has_units);
    MemoryContext outer = MemoryContextSwitchTo(state->header.eoh_context);
    state->first_model = static_cast<struct varlena*>(palloc(VARSIZE_ANY(model)));
    memcpy(state->first_model, model, VARSIZE_ANY(model));
    state->first_options = static_cast<struct varlena*>(palloc(VARSIZE_ANY(options)));
    memcpy(state->first_options, options, VARSIZE_ANY(options));
    MemoryContextSwitchTo(outer);
    return state;
}

// The state of the group with this row's model and options: made by them, or made by equal ones.
RowsState* StateForRow(FunctionCallInfo fcinfo) {
    struct varlena* model = CallValue(fcinfo->args[kModel], "model");
    struct varlena* options = CallValue(fcinfo->args[kOptions], "options");
    RowsState* state = PG_ARGISNULL(kState) ? nullptr : RowsStateOf(PG_GETARG_DATUM(kState));
    if (state == nullptr && !PG_ARGISNULL(kState))
        elog(ERROR, "rows of dpboost_train_rows are added where they are collected");
    if (state == nullptr)
        return BeginWith(fcinfo, model, options, PG_NARGS() > kUnit);
    if (state->first_model == nullptr || state->gone || state->result != nullptr)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("dpboost_train_rows cannot take more rows after they were handed on")));
    if (!SameBytes(model, state->first_model) || !SameBytes(options, state->first_options))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("model and options of dpboost_train_rows must be the same for all rows of a group")));
    return state;
}

void AppendArray(RowsState* state, NullableDatum target, NullableDatum unit, ArrayType* array) {
    const int count = ARR_NDIM(array) == 0 ? 0 : ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    if (ARR_NDIM(array) > 1)
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("features must be a one-dimensional array")));
    if (count != state->features)
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("feature arrays must have equal lengths"),
                 errdetail("An array has length %d where the options list bounds for %d.", count,
                           state->features)));
    const auto* numbers = reinterpret_cast<const float8*>(ARR_DATA_PTR(array));
    const auto* present = ARR_NULLBITMAP(array);
    AppendRow(state->training, target, unit, [&](int i, bool* is_null) {
        *is_null = present != nullptr && (present[i / 8] & (1 << (i % 8))) == 0;
        return *is_null ? Datum(0) : Float8GetDatum(*numbers++);
    });
}

// A group without rows trains too, where PostgreSQL's plan still has the call.
RowsState* StateWithoutRows(FunctionCallInfo fcinfo) {
    NullableDatum arguments[2] = {{0, true}, {0, true}};
    bool known = CallsOwnAggregate(fcinfo);
    CallSite site = {};
    if (known)
        site = FindCallSite(reinterpret_cast<AggState*>(fcinfo->context), AggGetAggref(fcinfo));
    for (int i = 0; known && i < 2; ++i) {
        const Expr* expression = static_cast<TargetEntry*>(list_nth(site.call->args, i))->expr;
        known = IsA(expression, Const) || IsA(expression, Param);
        if (known)
            arguments[i] = EvaluateArgument(site.node, site.call, i);
    }
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_NO_DATA), errmsg("no row says which model is to be trained"),
                        errdetail("The engine that runs dpboost_train_rows brought no partial state.")));
    return BeginWith(fcinfo, CallValue(arguments[0], "model"), CallValue(arguments[1], "options"),
                     list_length(site.call->args) > kUnit - kModel);
}

Jsonb* TrainOn(FunctionCallInfo fcinfo, RowsState* state) {
    TrainingCall call = RowsCall(state);
    FindRowsCharge(fcinfo, state, &call);
    Training* training = BeginTraining(call);
    if (training->units.id != 0)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("persons of %s have accounts of their own, which dpboost_train_rows does not charge",
                        DescribeRelation(call.progress_relation)),
                 errhint("Use dpboost_train_on.")));
    state->gone = true;
    CallCore([&] { (*training->core)->TakeRows(&**state->training->core); });
    return DatumGetJsonbPCopy(FinishTraining(training));
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// Takes one row. Returns the state that it was given, or made at the first row.
Datum dpboost_train_rows_step(PG_FUNCTION_ARGS) {
    RequireAggregate(fcinfo);
    RowsState* state = StateForRow(fcinfo);
    const NullableDatum unit = PG_NARGS() > kUnit ? fcinfo->args[kUnit] : NullableDatum{0, true};
    if (!PG_ARGISNULL(kFeatures))
        AppendArray(state, fcinfo->args[kTarget], unit, PG_GETARG_ARRAYTYPE_P(kFeatures));
    else
        AppendRow(state->training, fcinfo->args[kTarget], unit, [](int, bool* is_null) {
            *is_null = true;
            return Datum(0);
        });
    return DatumOf(state);
}

// Adds what another process or server has collected.
Datum dpboost_train_rows_combine(PG_FUNCTION_ARGS) {
    RequireAggregate(fcinfo);
    RowsState* state = PG_ARGISNULL(0) ? nullptr : RowsStateOf(PG_GETARG_DATUM(0));
    if (state == nullptr && !PG_ARGISNULL(0))
        state = AddStateBytes(fcinfo, nullptr, PG_GETARG_DATUM(0));
    if (!PG_ARGISNULL(1))
        state = AddStateBytes(fcinfo, state, PG_GETARG_DATUM(1));
    if (state == nullptr)
        PG_RETURN_NULL();
    return DatumOf(state);
}

// Charges and trains. A state that PostgreSQL finishes again gives the same result again.
Datum dpboost_train_rows_final(PG_FUNCTION_ARGS) {
    RequireAggregate(fcinfo);
    RowsState* state = PG_ARGISNULL(0) ? StateWithoutRows(fcinfo) : RowsStateOf(PG_GETARG_DATUM(0));
    if (state == nullptr)
        state = AddStateBytes(fcinfo, nullptr, PG_GETARG_DATUM(0));
    if (state->result == nullptr) {
        if (state->gone)
            elog(ERROR, "the rows of a partial state were handed on already");
        MemoryContext outer = MemoryContextSwitchTo(state->header.eoh_context);
        state->result = TrainOn(fcinfo, state);
        MemoryContextSwitchTo(outer);
    }
    PG_RETURN_POINTER(DatumGetJsonbPCopy(JsonbPGetDatum(state->result)));
}
