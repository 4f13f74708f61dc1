#include "postgres/train/aggregate/rows_state.h"

#include "training/call/partial_call.h"

#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_state_in);
PG_FUNCTION_INFO_V1(dpboost_train_state_out);
}

namespace dpboost {
namespace {

// ---- as an expanded object ----

// What the state says before its rows. Core side: may throw.
std::string HeadOf(const RowsState* state, size_t* rows) {
    TrainingCore& core = **state->training->core;
    *rows = core.PartialBytes();
    const std::string fingerprint = core.Fingerprint();
    PartialCall call;
    call.model = state->model;
    call.options = state->options_text;
    call.has_units = state->has_units;
    call.fingerprint = fingerprint;
    return WritePartialHead(call, *rows);
}

void CheckHasRows(const RowsState* state) {
    if (state->gone)
        elog(ERROR, "the rows of a partial state were handed on already");
}

Size FlatSize(ExpandedObjectHeader* header) {
    const auto* state = reinterpret_cast<RowsState*>(header);
    CheckHasRows(state);
    size_t size = 0;
    CallCore([&] {
        size_t rows;
        size = HeadOf(state, &rows).size();
        size += rows + VARHDRSZ;
    });
    if (!AllocSizeIsValid(size))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the rows of one process are too many to be passed on"),
                        errdetail("They take more than 1 GB."),
                        errhint("Spread them over more processes, or over more shards.")));
    return size;
}

// The rows are freed as they are written: they are not held twice.
void FlattenInto(ExpandedObjectHeader* header, void* result, Size size) {
    auto* state = reinterpret_cast<RowsState*>(header);
    CheckHasRows(state);
    state->gone = true;
    SET_VARSIZE(result, size);
    char* out = static_cast<char*>(result) + VARHDRSZ;
    CallCore([&] {
        size_t rows;
        const std::string head = HeadOf(state, &rows);
        CheckInternal(VARHDRSZ + head.size() + rows == size, "a partial state has the size that it said");
        memcpy(out, head.data(), head.size());
        (*state->training->core)->WritePartial(out + head.size());
    });
}

const ExpandedObjectMethods kMethods = {FlatSize, FlattenInto};

// ---- the call ----

// The options of the training: "relation" says what is charged, and is not one of them.
Jsonb* WithoutRelation(Jsonb* options) {
    return DatumGetJsonbP(DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(options),
                                              PointerGetDatum(cstring_to_text("relation"))));
}

int CountFeatures(Jsonb* options) {
    const int count = JB_ROOT_IS_OBJECT(options) ? CountListedBounds(options) : -1;
    if (count < 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("the options do not list the bounds of all features"),
                 errdetail("dpboost_train_rows learns from them how many features there are."),
                 errhint("Pass them in the order of the array, as in {\"bounds\": [[0, 1], [0, 9]]}.")));
    return count;
}

char* CheckedText(const std::string_view& bytes) {
    if (!pg_verifymbstr(bytes.data(), static_cast<int>(bytes.size()), true))
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a partial state of a training is damaged")));
    return pnstrdup(bytes.data(), bytes.size());
}

}  // namespace

TrainingCall RowsCall(const RowsState* state) {
    TrainingCall call;
    memset(static_cast<void*>(&call), 0, sizeof call);
    call.caller = GetUserId();
    call.right = TrainRight::kSelect;
    call.model = state->model;
    call.options = WithoutRelation(state->options);
    call.target.name = "target";
    call.target.type = FLOAT8OID;
    call.features = NumberedColumns(state->features, FLOAT8OID);
    CheckColumnType(&call.target, "target");
    CheckFeatureTypes(call.features);
    call.unit_type = TEXTOID;
    return call;
}

RowsState* NewRowsState(FunctionCallInfo fcinfo, const char* model, Jsonb* options, bool has_units) {
    MemoryContext aggregate_context;
    if (AggCheckCallContext(fcinfo, &aggregate_context) != AGG_CONTEXT_AGGREGATE)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("dpboost_train_rows can only be used as an aggregate"),
                        errdetail("As a window function it would train a model for every row.")));
    MemoryContext context = AllocSetContextCreate(aggregate_context, "dpboost rows", ALLOCSET_DEFAULT_SIZES);
    MemoryContext outer = MemoryContextSwitchTo(context);
    auto* state = static_cast<RowsState*>(palloc0(sizeof(RowsState)));
    EOH_init_header(&state->header, &kMethods, context);
    state->model = pstrdup(model);
    state->options = DatumGetJsonbPCopy(JsonbPGetDatum(options));
    state->options_text =
        JsonbToCString(nullptr, &state->options->root, static_cast<int>(VARSIZE(state->options)));
    state->has_units = has_units;
    state->features = CountFeatures(state->options);
    TrainingCall call = RowsCall(state);
    call.partial = true;
    call.rows_only = true;
    call.unit = has_units ? "unit" : nullptr;
    call.relations = static_cast<RelationSet*>(palloc0(sizeof(RelationSet)));
    state->training = BeginTraining(call);
    MemoryContextSwitchTo(outer);
    return state;
}

RowsState* RowsStateOf(Datum value) {
    if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
        return nullptr;
    ExpandedObjectHeader* header = DatumGetEOHP(value);
    if (header->eoh_methods != &kMethods)
        elog(ERROR, "a state of dpboost_train_rows is of another kind");
    return reinterpret_cast<RowsState*>(header);
}

Datum DatumOf(RowsState* state) {
    return EOHPGetRWDatum(&state->header);
}

RowsState* AddStateBytes(FunctionCallInfo fcinfo, RowsState* state, Datum bytes) {
    const struct varlena* flat = PG_DETOAST_DATUM_PACKED(bytes);
    PartialCall call;
    CallCore([&] { call = ReadPartialCall({VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat)}); });
    const char* model = CheckedText(call.model);
    const char* options = CheckedText(call.options);
    if (state == nullptr) {
        const Datum json = DirectFunctionCall1(jsonb_in, CStringGetDatum(options));
        state = NewRowsState(fcinfo, model, DatumGetJsonbP(json), call.has_units);
    }
    CheckHasRows(state);
    if (strcmp(model, state->model) != 0 || strcmp(options, state->options_text) != 0 ||
        call.has_units != state->has_units)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("parts of a training come from different calls"),
                        errdetail("Model and options must be the same for all rows.")));
    CallCore([&] {
        PgInterrupt interrupt;
        (*state->training->core)->AppendPartial(call.fingerprint, call.rows, interrupt);
    });
    return state;
}

}  // namespace dpboost

using namespace dpboost;

// The text of a state, by which engines carry it. What it says is checked when it is combined.
Datum dpboost_train_state_in(PG_FUNCTION_ARGS) {
    const char* printed = PG_GETARG_CSTRING(0);
    const size_t length = strlen(printed);
    size_t size = 0;
    CallCore([&] { size = PrintedSize({printed, length}); });
    auto* bytes = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(bytes, size + VARHDRSZ);
    CallCore([&] {
        ReadPrintable({printed, length}, VARDATA(bytes));
        ReadPartialCall({VARDATA(bytes), size});
    });
    PG_RETURN_BYTEA_P(bytes);
}

Datum dpboost_train_state_out(PG_FUNCTION_ARGS) {
    const struct varlena* bytes = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));
    const size_t size = VARSIZE_ANY_EXHDR(bytes);
    const size_t length = PrintableSize(size);
    if (!AllocSizeIsValid(length + 1))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the rows of one process are too many to be passed on"),
                        errdetail("They take more than 1 GB."),
                        errhint("Spread them over more processes, or over more shards.")));
    auto* printed = static_cast<char*>(palloc(length + 1));
    WritePrintable({VARDATA_ANY(bytes), size}, printed);
    printed[length] = '\0';
    PG_RETURN_CSTRING(printed);
}
