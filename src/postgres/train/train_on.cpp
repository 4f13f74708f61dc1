// dpboost_train_on and dpboost_estimate: training on a relation by name, for callers who need not be able to
// read it. The rows are read here, by a query that selects the declared columns and nothing else, with the
// owner's rights where an allowance gives the right to train, and go straight from the executor into codes.
// No value of a row can raise an error that tells what it is, or change a message.
#include "postgres/columns/source_column.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/owner_rights.h"
#include "postgres/train/training.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_on);
PG_FUNCTION_INFO_V1(dpboost_estimate);
}

namespace dpboost {

namespace {

// The arguments of a call; `model` is null for an estimate.
struct NamedCall {
    const char* model;
    Oid relid;
    const char* target;
    ArrayType* features;  // null: all that can be
    TrainingCall training;
    FeatureShape shape;
    const char* array_column;
};

// ---- columns ----

SourceColumn FindColumn(Oid relid, const char* name) {
    SourceColumn column;
    memset(static_cast<void*>(&column), 0, sizeof column);
    HeapTuple tuple = SearchSysCacheAttName(relid, name);
    if (!HeapTupleIsValid(tuple) || reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attnum <= 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of %s does not exist", name, DescribeRelation(relid))));
    const auto* attribute = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple));
    column.name = pstrdup(name);
    column.type = attribute->atttypid;
    column.relid = relid;
    column.attnum = attribute->attnum;
    ReleaseSysCache(tuple);
    return column;
}

bool Contains(const SourceColumns& columns, const char* name) {
    for (int i = 0; i < columns.count; ++i)
        if (strcmp(columns.columns[i].name, name) == 0)
            return true;
    return false;
}

// Every column but the target, the privacy unit and the primary key.
SourceColumns DefaultFeatures(Relation relation, const char* target, const char* unit) {
    SourceColumns columns = ColumnsOfRowType(RelationGetDescr(relation), RelationGetRelid(relation));
    Bitmapset* key = RelationGetIndexAttrBitmap(relation, INDEX_ATTR_BITMAP_PRIMARY_KEY);
    int kept = 0;
    for (int i = 0; i < columns.count; ++i) {
        const SourceColumn& column = columns.columns[i];
        if (strcmp(column.name, target) == 0 || (unit != nullptr && strcmp(column.name, unit) == 0) ||
            bms_is_member(column.attnum - FirstLowInvalidHeapAttributeNumber, key))
            continue;
        columns.columns[kept++] = column;
    }
    columns.count = kept;
    return columns;
}

SourceColumns NamedFeatures(Oid relid, ArrayType* names, const char* target, const char* unit) {
    Datum* values;
    bool* nulls;
    int count;
    deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &values, &nulls, &count);
    SourceColumns columns = NumberedColumns(count, InvalidOid);
    columns.count = 0;
    for (int i = 0; i < count; ++i) {
        const char* name = nulls[i] ? nullptr : NameStr(*DatumGetName(values[i]));
        if (name == nullptr)
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a feature's name is NULL")));
        if (strcmp(name, target) == 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the target \"%s\" cannot be a feature", name)));
        if (unit != nullptr && strcmp(name, unit) == 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the privacy unit \"%s\" cannot be a feature", name),
                            errdetail("It tells people apart.")));
        if (Contains(columns, name))
            ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                            errmsg("feature \"%s\" is given more than once", name)));
        columns.columns[columns.count] = FindColumn(relid, name);
        columns.fields[columns.count] = columns.count;
        ++columns.count;
    }
    return columns;
}

// A single array column stands for as many features as the options list bounds for: its length must be
// public.
void ExpandArray(NamedCall* call) {
    SourceColumns* features = &call->training.features;
    call->shape = FeatureShape::kColumns;
    if (features->count != 1)
        return;
    const Oid element = get_element_type(getBaseType(features->columns[0].type));
    if (!OidIsValid(element))
        return;
    call->shape = FeatureShape::kArray;
    call->array_column = features->columns[0].name;
    const int length = CountListedBounds(call->training.options);
    if (length < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the length of array \"%s\" is not public", call->array_column),
                        errhint("List the bounds of all its elements in the options, as in {\"bounds\": "
                                "[[0, 1], [0, 1]]}.")));
    *features = NumberedColumns(length, element);
}

// ---- reading ----

struct RowReceiver {
    DestReceiver receiver;
    Training* training;
    FeatureShape shape;
    MemoryContext row_context;  // for values that have to be detoasted
    int rows_in_context;
};

NullableDatum SlotValue(const TupleTableSlot* slot, int column) {
    return {slot->tts_values[column], slot->tts_isnull[column]};
}

// An array of another length or with more dimensions has no features: it must not raise, because whether it
// is there is private.
void AppendArray(Training* training, NullableDatum target, NullableDatum unit, NullableDatum array) {
    ArrayElements elements;
    const bool usable =
        !array.isnull && ReadArray(array.value, &elements) && elements.count == training->features;
    AppendRow(training, target, unit, [&](int i, bool* is_null) {
        *is_null = !usable || elements.nulls[i];
        return *is_null ? Datum(0) : elements.values[i];
    });
}

// Columns of the query: target, features (or one array), privacy unit.
bool ReceiveRow(TupleTableSlot* slot, DestReceiver* self) {
    auto* receiver = reinterpret_cast<RowReceiver*>(self);
    Training* training = receiver->training;
    MemoryContext outer = MemoryContextSwitchTo(receiver->row_context);
    slot_getallattrs(slot);
    const int last = slot->tts_tupleDescriptor->natts - 1;
    const NullableDatum unit = training->has_units ? SlotValue(slot, last) : NullableDatum{0, true};
    if (receiver->shape == FeatureShape::kArray) {
        AppendArray(training, SlotValue(slot, 0), unit, SlotValue(slot, 1));
    } else {
        const Datum* values = slot->tts_values + 1;
        const bool* nulls = slot->tts_isnull + 1;
        AppendRow(training, SlotValue(slot, 0), unit, [values, nulls](int i, bool* is_null) {
            *is_null = nulls[i];
            return values[i];
        });
    }
    MemoryContextSwitchTo(outer);
    if (++receiver->rows_in_context == 64) {
        MemoryContextReset(receiver->row_context);
        receiver->rows_in_context = 0;
    }
    return true;
}

void StartReceiver(DestReceiver*, int, TupleDesc) {}
void StopReceiver(DestReceiver*) {}

char* ReadingQuery(const NamedCall& call) {
    StringInfoData sql;
    initStringInfo(&sql);
    appendStringInfo(&sql, "SELECT t.%s", quote_identifier(call.target));
    if (call.shape == FeatureShape::kArray)
        appendStringInfo(&sql, ", t.%s", quote_identifier(call.array_column));
    for (int i = 0; call.shape == FeatureShape::kColumns && i < call.training.features.count; ++i)
        appendStringInfo(&sql, ", t.%s", quote_identifier(call.training.features.columns[i].name));
    if (call.training.unit != nullptr)
        appendStringInfo(&sql, ", t.%s", quote_identifier(call.training.unit));
    appendStringInfo(&sql, " FROM %s AS t",
                     quote_qualified_identifier(get_namespace_name(get_rel_namespace(call.relid)),
                                                get_rel_name(call.relid)));
    return sql.data;
}

PlannedStmt* PlanReading(const char* sql, const NamedCall& call) {
    auto* statement = static_cast<RawStmt*>(linitial(pg_parse_query(sql)));
    Query* query = AnalyzeStatement(statement, sql);
    const auto* entry = static_cast<const RangeTblEntry*>(linitial(query->rtable));
    if (list_length(query->rtable) != 1 || entry->relid != call.relid)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("the relation was renamed meanwhile")));
    query = static_cast<Query*>(linitial(QueryRewrite(query)));
    if (call.training.right == TrainRight::kBudget)
        CheckOwnNames(query, call.relid);
    return pg_plan_query(query, sql, 0, nullptr);
}

// Whether an error says nothing about rows: cancellation, resources, locks, and our own memory limit. Other
// limits may be those of a value, whose message tells its size.
bool IsIndependentOfRows(int sqlstate) {
    const int category = ERRCODE_TO_CATEGORY(sqlstate);
    return category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_INSUFFICIENT_RESOURCES ||
           sqlstate == ERRCODE_STATEMENT_TOO_COMPLEX || sqlstate == ERRCODE_LOCK_NOT_AVAILABLE ||
           sqlstate == ERRCODE_T_R_DEADLOCK_DETECTED;
}

// Runs the query. Columns of a table never raise, but an expression of a view or a foreign server may, and
// its message may quote a value. A caller who reads with the owner's rights learns only that reading failed;
// the owner finds the rest in the server's log.
void PullRows(QueryDesc* query, const NamedCall& call) {
    MemoryContext outer = CurrentMemoryContext;
    PG_TRY();
    {
        ExecutorRun(query, ForwardScanDirection, 0, true);
        ExecutorFinish(query);
    }
    PG_CATCH();
    {
        if (call.training.right != TrainRight::kBudget || IsIndependentOfRows(geterrcode()))
            PG_RE_THROW();
        MemoryContextSwitchTo(outer);
        ErrorData* error = CopyErrorData();
        FlushErrorState();
        ereport(LOG_SERVER_ONLY,
                (errcode(error->sqlerrcode), errmsg("could not read %s for a training: %s",
                                                    DescribeRelation(call.relid), error->message)));
        ereport(ERROR, (errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
                        errmsg("could not read %s", DescribeRelation(call.relid)),
                        errdetail("One of its expressions failed. The server's log says how."),
                        errhint("Ask the owner for expressions that give NULL instead of an error.")));
    }
    PG_END_TRY();
}

void RunReading(Training* training, const NamedCall& call) {
    const char* sql = ReadingQuery(call);
    PlannedStmt* plan = PlanReading(sql, call);
    RowReceiver receiver;
    memset(static_cast<void*>(&receiver), 0, sizeof receiver);
    receiver.receiver.receiveSlot = ReceiveRow;
    receiver.receiver.rStartup = StartReceiver;
    receiver.receiver.rShutdown = StopReceiver;
    receiver.receiver.rDestroy = StopReceiver;
    receiver.receiver.mydest = DestNone;
    receiver.training = training;
    receiver.shape = call.shape;
    receiver.row_context =
        AllocSetContextCreate(CurrentMemoryContext, "dpboost rows", ALLOCSET_DEFAULT_SIZES);
    CommandCounterIncrement();
    PushActiveSnapshot(GetTransactionSnapshot());
    QueryDesc* query = CreateQueryDesc(plan, sql, GetActiveSnapshot(), InvalidSnapshot, &receiver.receiver,
                                       nullptr, nullptr, 0);
    ExecutorStart(query, 0);
    PullRows(query, call);
    ExecutorEnd(query);
    FreeQueryDesc(query);
    PopActiveSnapshot();
    MemoryContextDelete(receiver.row_context);
}

void PinSetting(const char* name, const char* value) {
    set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

// Reads all rows. With an allowance they are read as the owner, all of them: row security that would hide
// some (a forced policy) is an error, as pg_dump has it. Otherwise the caller reads as himself.
void ReadRows(Training* training, const NamedCall& call, Oid owner) {
    Oid user;
    int security;
    GetUserIdAndSecContext(&user, &security);
    const int level = NewGUCNestLevel();
    PinSetting("search_path", "pg_catalog, pg_temp");
    if (call.training.right == TrainRight::kBudget) {
        SetUserIdAndSecContext(owner,
                               security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
        PinSetting("row_security", "off");
        // What a view's functions or the planner might tell the client about rows and their statistics.
        PinSetting("client_min_messages", "error");
        PinSetting("debug_print_parse", "off");
        PinSetting("debug_print_rewritten", "off");
        PinSetting("debug_print_plan", "off");
        // The caller's own statistics would count the rows that were read, one by one.
        PinSetting("track_counts", "off");
    }
    RunReading(training, call);
    AtEOXact_GUC(true, level);
    SetUserIdAndSecContext(user, security);
}

// ---- the call ----

void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name)));
}

// Arguments from `first` on: relation, target, epsilon, delta, features, options.
NamedCall* ReadArguments(FunctionCallInfo fcinfo, int first) {
    static const char* const kNames[] = {"relation", "target", "epsilon"};
    for (int i = 0; i < 3; ++i)
        RequireArgument(fcinfo, first + i, kNames[i]);
    RequireArgument(fcinfo, first + 5, "options");
    auto* call = static_cast<NamedCall*>(palloc0(sizeof(NamedCall)));
    call->relid = PG_GETARG_OID(first);
    call->target = pstrdup(NameStr(*PG_GETARG_NAME(first + 1)));
    call->training.privacy.given = true;
    call->training.privacy.epsilon = PG_GETARG_FLOAT8(first + 2);
    if (!PG_ARGISNULL(first + 3))
        call->training.privacy.delta = PG_GETARG_FLOAT8(first + 3);
    call->features = PG_ARGISNULL(first + 4) ? nullptr : PG_GETARG_ARRAYTYPE_P(first + 4);
    call->training.options = PG_GETARG_JSONB_P(first + 5);
    call->training.caller = GetUserId();
    return call;
}

void CheckRight(NamedCall* call) {
    TrainingCall* training = &call->training;
    auto* columns = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * (training->features.count + 2)));
    int count = 0;
    columns[count++] = training->target.attnum;
    for (int i = 0; i < training->features.count; ++i)
        columns[count++] = training->features.columns[i].attnum;
    if (training->unit != nullptr)
        columns[count++] = get_attnum(call->relid, training->unit);
    training->right = CheckMayTrain(training->caller, call->relid, columns, count);
}

// Everything up to the first row. The relation stays locked until the transaction ends.
Training* Begin(NamedCall* call, Oid* owner) {
    Relation relation = relation_open(call->relid, AccessShareLock);
    TrainingCall* training = &call->training;
    training->model = call->model;
    training->relations = RelationsBehind(call->relid);
    training->progress_relation = call->relid;
    training->unit = PrivacyUnit(training->relations, call->relid);
    training->target = FindColumn(call->relid, call->target);
    training->features = call->features == nullptr
                             ? DefaultFeatures(relation, call->target, training->unit)
                             : NamedFeatures(call->relid, call->features, call->target, training->unit);
    if (training->unit != nullptr)
        training->unit_type = FindColumn(call->relid, training->unit).type;
    CheckRight(call);
    ExpandArray(call);
    CheckColumnType(&training->target, "target");
    for (int i = 0; i < training->features.count; ++i)
        CheckColumnType(&training->features.columns[i], "feature");
    *owner = relation->rd_rel->relowner;
    relation_close(relation, NoLock);
    return BeginTraining(*training);
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Trains a model on a relation and returns what it cost.
Datum dpboost_train_on(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    NamedCall* call = ReadArguments(fcinfo, 1);
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    Oid owner;
    Training* training = Begin(call, &owner);
    ReadRows(training, *call, owner);
    PG_RETURN_DATUM(FinishTraining(training));
}

// What dpboost_train_on with the same arguments would cost. Reads no row and charges nothing.
Datum dpboost_estimate(PG_FUNCTION_ARGS) {
    NamedCall* call = ReadArguments(fcinfo, 0);
    Oid owner;
    PG_RETURN_DATUM(DescribeEstimate(Begin(call, &owner)));
}
