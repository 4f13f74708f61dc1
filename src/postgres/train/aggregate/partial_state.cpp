#include "postgres/train/aggregate/partial_state.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_serialize);
PG_FUNCTION_INFO_V1(dpboost_train_deserialize);
PG_FUNCTION_INFO_V1(dpboost_train_combine);
}

namespace dpboost {
namespace {

constexpr uint32 kFormat = 0x31545344;

// ---- writing ----

void PutNumber(StringInfo out, uint32 number) {
    const uint32 bytes = pg_hton32(number);
    appendBinaryStringInfo(out, reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

void PutBytes(StringInfo out, const char* bytes, size_t size) {
    PutNumber(out, static_cast<uint32>(size));
    appendBinaryStringInfo(out, bytes, static_cast<int>(size));
}

void PutColumns(StringInfo out, const SourceColumns& columns) {
    PutNumber(out, columns.count);
    for (int i = 0; i < columns.count; ++i) {
        const SourceColumn& column = columns.columns[i];
        PutBytes(out, column.name, strlen(column.name));
        PutNumber(out, column.type);
        PutNumber(out, column.relid);
        PutNumber(out, column.attnum);
        PutNumber(out, columns.fields[i]);
    }
}

// As texts: whoever reads them checks them as input.
void PutWaiting(StringInfo out, const AggregateState* state) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(state->call.target.type, &output, &is_varlena);
    PutNumber(out, state->waiting_count);
    for (int i = 0; i < state->waiting_count; ++i) {
        appendStringInfoChar(out, state->waiting[i].isnull ? 1 : 0);
        if (state->waiting[i].isnull)
            continue;
        const char* value = OidOutputFunctionCall(output, state->waiting[i].value);
        PutBytes(out, value, strlen(value));
    }
}

void PutCall(StringInfo out, const AggregateState* state) {
    const Training* training = state->training;
    const char* model =
        training != nullptr ? training->call.model : text_to_cstring(DatumGetTextPP(state->model.value));
    const Jsonb* options =
        training != nullptr ? training->call.options : DatumGetJsonbP(state->options.value);
    PutNumber(out, kFormat);
    PutBytes(out, model, strlen(model));
    const char* json = JsonbToCString(nullptr, const_cast<JsonbContainer*>(&options->root), VARSIZE(options));
    PutBytes(out, json, strlen(json));
    appendStringInfoChar(out, training != nullptr ? 1 : 0);
    PutNumber(out, state->unit_field);
    PutColumns(out, training != nullptr ? state->shown : SourceColumns{0, nullptr, nullptr});
    PutWaiting(out, state);
}

// ---- reading ----

struct Cursor {
    const char* at;
    const char* end;
};

void Require(bool holds) {
    if (!holds)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a partial state of a training is damaged")));
}

const char* TakeBytes(Cursor* cursor, size_t size) {
    Require(size <= static_cast<size_t>(cursor->end - cursor->at));
    const char* bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

uint32 TakeNumber(Cursor* cursor) {
    uint32 number;
    memcpy(&number, TakeBytes(cursor, sizeof number), sizeof number);
    return pg_ntoh32(number);
}

// Texts of a state are those of this database: its encoding is checked, since bytes may come from anywhere.
char* TakeText(Cursor* cursor) {
    const uint32 size = TakeNumber(cursor);
    const char* bytes = TakeBytes(cursor, size);
    Require(pg_verifymbstr(bytes, static_cast<int>(size), true));
    return pnstrdup(bytes, size);
}

// At least so many bytes follow for each of them.
int TakeCount(Cursor* cursor, size_t least) {
    const uint32 count = TakeNumber(cursor);
    Require(count <= static_cast<size_t>(cursor->end - cursor->at) / least);
    return static_cast<int>(count);
}

SourceColumns TakeColumns(Cursor* cursor) {
    SourceColumns columns = NumberedColumns(TakeCount(cursor, 5 * sizeof(uint32)), InvalidOid);
    for (int i = 0; i < columns.count; ++i) {
        SourceColumn* column = &columns.columns[i];
        column->name = TakeText(cursor);
        column->type = TakeNumber(cursor);
        column->relid = TakeNumber(cursor);
        column->attnum = static_cast<AttrNumber>(TakeNumber(cursor));
        Require(SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(column->type)));
        Require(!OidIsValid(column->relid) || OidIsValid(get_atttype(column->relid, column->attnum)));
        columns.fields[i] = static_cast<int>(TakeNumber(cursor));
    }
    return columns;
}

// ---- taking rows in ----

// Features that the plan does not tell, as another process learned them from its rows.
void LearnFeatures(AggregateState* state, const PartialState* partial) {
    MemoryContext outer = MemoryContextSwitchTo(state->context);
    if (state->call.shape == FeatureShape::kArray) {
        state->call.array_length = partial->features.count;
        state->call.features = NumberedColumns(partial->features.count, state->call.element_type);
    } else {
        SourceColumns features = NumberedColumns(partial->features.count, InvalidOid);
        for (int i = 0; i < features.count; ++i) {
            features.columns[i] = partial->features.columns[i];
            features.columns[i].name = pstrdup(partial->features.columns[i].name);
            features.fields[i] = partial->features.fields[i];
        }
        state->call.features = features;
    }
    BeginWithFeatures(state);
    MemoryContextSwitchTo(outer);
}

void AppendWaitingTexts(AggregateState* state, const PartialState* partial) {
    Oid input, parameter;
    getTypeInputInfo(state->call.target.type, &input, &parameter);
    for (int i = 0; i < partial->waiting_count; ++i) {
        NullableDatum target = partial->waiting[i];
        if (!target.isnull)
            target.value =
                OidInputFunctionCall(input, static_cast<char*>(DatumGetPointer(target.value)), parameter, -1);
        AppendMissing(state, target);
    }
}

}  // namespace

bytea* WritePartialState(AggregateState* state) {
    StringInfoData head;
    initStringInfo(&head);
    PutCall(&head, state);
    Training* training = state->training;
    size_t rows = 0;
    if (training != nullptr)
        CallCore([&] { rows = kFingerprintBytes + (*training->core)->PartialBytes(); });
    const size_t size = VARHDRSZ + head.len + rows;
    if (!AllocSizeIsValid(size))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the rows of one process are too many to be passed on"),
                        errdetail("They take more than 1 GB."),
                        errhint("Use more parallel workers, or SET max_parallel_workers_per_gather = 0.")));
    auto* out = static_cast<bytea*>(palloc(size));
    SET_VARSIZE(out, size);
    memcpy(VARDATA(out), head.data, head.len);
    char* at = VARDATA(out) + head.len;
    if (training != nullptr)
        CallCore([&] {
            memcpy(at, (*training->core)->Fingerprint().data(), kFingerprintBytes);
            (*training->core)->WritePartial(at + kFingerprintBytes);
        });
    return out;
}

PartialState* ReadPartialState(const char* bytes, size_t size) {
    Cursor cursor = {bytes, bytes + size};
    auto* partial = static_cast<PartialState*>(palloc0(sizeof(PartialState)));
    Require(TakeNumber(&cursor) == kFormat);
    partial->model = cstring_to_text(TakeText(&cursor));
    partial->options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(TakeText(&cursor))));
    partial->begun = *TakeBytes(&cursor, 1) != 0;
    partial->unit_field = static_cast<int>(TakeNumber(&cursor));
    partial->features = TakeColumns(&cursor);
    partial->waiting_count = TakeCount(&cursor, 1);
    partial->waiting =
        static_cast<NullableDatum*>(palloc0(sizeof(NullableDatum) * (partial->waiting_count + 1)));
    for (int i = 0; i < partial->waiting_count; ++i) {
        partial->waiting[i].isnull = *TakeBytes(&cursor, 1) != 0;
        if (!partial->waiting[i].isnull)
            partial->waiting[i].value = PointerGetDatum(TakeText(&cursor));
    }
    if (partial->begun)
        partial->fingerprint = TakeBytes(&cursor, kFingerprintBytes);
    partial->rows_size = cursor.end - cursor.at;
    partial->rows = TakeBytes(&cursor, partial->rows_size);
    Require(partial->begun || partial->rows_size == 0);
    return partial;
}

void AppendPartialState(AggregateState* state, const PartialState* partial) {
    if (partial->begun && state->training == nullptr)
        LearnFeatures(state, partial);
    AppendWaitingTexts(state, partial);
    if (!partial->begun)
        return;
    if (partial->unit_field != state->unit_field)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                        errmsg("parts of a training tell persons apart in different ways")));
    Training* training = state->training;
    CallCore([&] {
        PgInterrupt interrupt;
        (*training->core)
            ->AppendPartial({partial->fingerprint, kFingerprintBytes}, {partial->rows, partial->rows_size},
                            interrupt);
    });
}

}  // namespace dpboost

using namespace dpboost;

// The rows that a process has read, as bytes for another. Only PostgreSQL's own executor gets here: nobody can pass or
// keep a value of type internal.
Datum dpboost_train_serialize(PG_FUNCTION_ARGS) {
    if (AggCheckCallContext(fcinfo, nullptr) != AGG_CONTEXT_AGGREGATE)
        elog(ERROR, "dpboost.train_serialize is called by aggregates only");
    PG_RETURN_BYTEA_P(WritePartialState(reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(0))));
}

Datum dpboost_train_deserialize(PG_FUNCTION_ARGS) {
    if (AggCheckCallContext(fcinfo, nullptr) != AGG_CONTEXT_AGGREGATE)
        elog(ERROR, "dpboost.train_deserialize is called by aggregates only");
    const bytea* bytes = PG_GETARG_BYTEA_PP(0);
    PG_RETURN_POINTER(ReadPartialState(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
}

// Takes what another process has read into the state of the one that trains.
Datum dpboost_train_combine(PG_FUNCTION_ARGS) {
    auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(0));
    if (PG_ARGISNULL(1)) {
        if (state == nullptr)
            PG_RETURN_NULL();
        PG_RETURN_POINTER(state);
    }
    const auto* partial = reinterpret_cast<const PartialState*>(PG_GETARG_POINTER(1));
    const bool is_first = state == nullptr;
    if (is_first)
        state = NewAggregateState(fcinfo);
    state->model = {PointerGetDatum(partial->model), false};
    state->options = {PointerGetDatum(partial->options), false};
    CheckSameCall(state);
    if (is_first)
        BeginByCall(state);
    AppendPartialState(state, partial);
    PG_RETURN_POINTER(state);
}
