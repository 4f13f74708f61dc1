#include "postgres/reading/reading.h"

#include "postgres/catalog/cluster.h"
#include "postgres/catalog/relations.h"
#include "postgres/reading/fresh_settings.h"
#include "postgres/reading/parallel_scan.h"
#include "postgres/reading/quiet.h"
#include "postgres/reading/trusted_code.h"

namespace dpboost {
namespace {

// What other modules see as the statement's text.
constexpr char kStatement[] = "SELECT (rows of a training)";

// ---- from the executor into codes ----

struct RowReceiver {
    DestReceiver receiver;
    RowSink* sink;
    FeatureShape shape;
    MemoryContext row_context;  // for values that have to be detoasted
    int rows_in_context;
};

NullableDatum SlotValue(const TupleTableSlot* slot, int column) {
    return {slot->tts_values[column], slot->tts_isnull[column]};
}

bool ReceiveRow(TupleTableSlot* slot, DestReceiver* self) {
    auto* receiver = reinterpret_cast<RowReceiver*>(self);
    RowSink* sink = receiver->sink;
    MemoryContext outer = MemoryContextSwitchTo(receiver->row_context);
    slot_getallattrs(slot);
    const int last = slot->tts_tupleDescriptor->natts - 1;
    const NullableDatum unit = sink->has_units ? SlotValue(slot, last) : NullableDatum{0, true};
    if (sink->route != nullptr)
        sink = sink->route(sink, SlotValue(slot, sink->has_units ? last - 1 : last));
    if (sink == nullptr) {
        // a row of no group
    } else if (receiver->shape == FeatureShape::kArray) {
        AppendArrayRow(sink, SlotValue(slot, 0), unit, SlotValue(slot, 1));
    } else {
        const Datum* values = slot->tts_values + 1;
        const bool* nulls = slot->tts_isnull + 1;
        AppendRow(sink, SlotValue(slot, 0), unit, [values, nulls](int i, bool* is_null) {
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

void MakeReceiver(RowReceiver* receiver, RowSink* sink, FeatureShape shape) {
    memset(static_cast<void*>(receiver), 0, sizeof *receiver);
    receiver->receiver.receiveSlot = ReceiveRow;
    receiver->receiver.rStartup = StartReceiver;
    receiver->receiver.rShutdown = StopReceiver;
    receiver->receiver.rDestroy = StopReceiver;
    receiver->receiver.mydest = DestNone;
    receiver->sink = sink;
    receiver->shape = shape;
    receiver->row_context =
        AllocSetContextCreate(CurrentMemoryContext, "dpboost rows", ALLOCSET_DEFAULT_SIZES);
}

// ---- the query ----

// SELECT columns FROM relation, by number: no name is looked up, and no module that parses along sees it.
Query* MakeQuery(const Reading& reading) {
    Relation relation = relation_open(reading.relid, NoLock);
    ParseState* state = make_parsestate(nullptr);
    addRangeTableEntryForRelation(state, relation, AccessShareLock, makeAlias("t", NIL), true, true);
    Query* query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->querySource = QSRC_ORIGINAL;
    query->canSetTag = true;
    Bitmapset* selected = nullptr;
    for (int i = 0; i < reading.column_count; ++i) {
        const AttrNumber column = reading.columns[i];
        const FormData_pg_attribute* attribute = TupleDescAttr(RelationGetDescr(relation), column - 1);
        Var* value =
            makeVar(1, column, attribute->atttypid, attribute->atttypmod, attribute->attcollation, 0);
        query->targetList = lappend(
            query->targetList, makeTargetEntry(reinterpret_cast<Expr*>(value), static_cast<AttrNumber>(i + 1),
                                               pstrdup(NameStr(attribute->attname)), false));
        selected = bms_add_member(selected, column - FirstLowInvalidHeapAttributeNumber);
    }
    SetReader(query, state, reading.as_owner ? reading.owner : InvalidOid, selected);
    RangeTblRef* reference = makeNode(RangeTblRef);
    reference->rtindex = 1;
    query->jointree = makeFromExpr(list_make1(reference), nullptr);
    free_parsestate(state);
    relation_close(relation, NoLock);
    return query;
}

// With views put in their place, and checked.
Query* RewriteQuery(const Reading& reading) {
    auto* query = static_cast<Query*>(linitial(QueryRewrite(MakeQuery(reading))));
    if (reading.as_owner) {
        CheckTrustedCode(query, reading.relid, reading.owner);
        CheckOwnNames(query, reading.relid);
    }
    return query;
}

void LockToastTables(const PlannedStmt* plan) {
    ListCell* cell;
    foreach (cell, plan->rtable) {
        const auto* entry = static_cast<const RangeTblEntry*>(lfirst(cell));
        if (entry->rtekind == RTE_RELATION)
            LockToastTable(entry->relid);
    }
}

// ---- errors ----

enum class Phase { kCheck, kPlan, kStart, kRun };

// Whether an error says nothing about rows: cancellation, resources, locks, our own memory limit; and before
// the first row a missing privilege, or a materialized view that was never filled. Functions can raise any of
// these codes by themselves, but then the message is in their language's domain.
bool IsIndependentOfRows(const ErrorData* error, Phase phase) {
    if (strcmp(error->domain, PG_TEXTDOMAIN("postgres")) != 0)
        return false;
    const int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
    return category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_INSUFFICIENT_RESOURCES ||
           error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
           error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
           (phase == Phase::kStart && (error->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE ||
                                       error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE));
}

// Raises what a caller without SELECT may know of an error. Columns of a table never raise, but an expression
// of a view or a foreign server may, and message, detail and context may quote a value (the context of a mere
// cancel shows the statement that a function was running). The owner finds all of it in the server's log.
[[noreturn]] void RaiseDiscreetly(const ErrorData* error, const Reading& reading, Phase phase) {
    const char* relation = DescribeRelation(reading.relid);
    ereport(LOG_SERVER_ONLY, (errcode(error->sqlerrcode),
                              errmsg("could not read %s for a training: %s", relation, error->message),
                              error->detail == nullptr ? 0 : errdetail_internal("%s", error->detail),
                              error->context == nullptr ? 0 : errcontext_msg("%s", error->context)));
    if (IsIndependentOfRows(error, phase)) {
        const bool is_ours = error->filename != nullptr && strcmp(error->filename, "boundary.cpp") == 0;
        ereport(ERROR, (errcode(error->sqlerrcode), errmsg_internal("%s", error->message),
                        is_ours && error->detail != nullptr ? errdetail_internal("%s", error->detail) : 0,
                        is_ours && error->hint != nullptr ? errhint("%s", error->hint) : 0));
    }
    ereport(ERROR,
            (errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION), errmsg("could not read %s", relation),
             errdetail("One of its expressions failed. The server's log says how."),
             errhint("Ask the owner for expressions that give NULL instead of an error, and for functions "
                     "that qualify all names: search_path is pinned here.")));
    pg_unreachable();
}

// ---- running ----

void ExecuteReading(RowSink* sink, const Reading& reading, PlannedStmt* plan, volatile Phase* phase) {
    RowReceiver receiver;
    MakeReceiver(&receiver, sink, reading.shape);
    QueryDesc* execution = CreateQueryDesc(plan, kStatement, GetActiveSnapshot(), InvalidSnapshot,
                                           &receiver.receiver, nullptr, nullptr, 0);
    ExecutorStart(execution, 0);
    *phase = Phase::kRun;
    RunToEnd(execution);
    ExecutorFinish(execution);
    ExecutorEnd(execution);
    FreeQueryDesc(execution);
    MemoryContextDelete(receiver.row_context);
}

void RunReading(RowSink* sink, const Reading& reading, volatile Phase* phase) {
    Query* query = RewriteQuery(reading);
    *phase = Phase::kPlan;
    PlannedStmt* plan = PlanQuery(query, kStatement);
    *phase = Phase::kCheck;
    CheckPermissions(plan);
    if (reading.as_owner)
        LockToastTables(plan);
    *phase = Phase::kStart;
    CommandCounterIncrement();
    PushActiveSnapshot(GetTransactionSnapshot());
    *phase = Phase::kRun;
    if (!ReadInParallel(sink, reading, plan)) {
        *phase = Phase::kStart;
        ExecuteReading(sink, reading, plan, phase);
    }
    PopActiveSnapshot();
}

void RunQuietly(RowSink* sink, const Reading& reading) {
    Quiet quiet;
    QuietBegin(&quiet, reading.owner);
    MemoryContext outer = CurrentMemoryContext;
    volatile Phase phase = Phase::kCheck;
    PG_TRY();
    { RunReading(sink, reading, &phase); }
    PG_CATCH();
    {
        QuietRestore(&quiet);
        if (phase == Phase::kCheck)
            PG_RE_THROW();
        MemoryContextSwitchTo(outer);
        const ErrorData* error = CopyErrorData();
        FlushErrorState();
        RaiseDiscreetly(error, reading, phase);
    }
    PG_END_TRY();
    QuietEnd(&quiet);
}

// Says with a name that was not found why it may not be: this happens in functions of views and indexes.
void DescribePinnedPath(void* argument) {
    const int code = geterrcode();
    if (code == ERRCODE_UNDEFINED_FUNCTION || code == ERRCODE_UNDEFINED_TABLE ||
        code == ERRCODE_UNDEFINED_OBJECT)
        errcontext(
            "reading %s for a training, where search_path is pinned: functions of its views and indexes must "
            "qualify all names",
            static_cast<const char*>(argument));
}

void CheckCaller(const Reading& reading) {
    if (reading.as_owner && IsolationIsSerializable())
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("cannot train with a privacy budget in a SERIALIZABLE transaction"),
                 errdetail("Its locks would show which rows were read."), errhint("Use REPEATABLE READ.")));
    if (reading.as_owner)
        CheckReadsShards(GetUserId(), reading.relid);
    const Oid schema = get_rel_namespace(reading.relid);
    if (!reading.as_owner && !MayUseSchema(schema, GetUserId()))
        aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));
}

}  // namespace

void CheckReading(const Reading& reading) {
    CheckCaller(reading);
    if (!reading.as_owner)
        return;
    Quiet quiet;
    QuietBegin(&quiet, reading.owner);
    PG_TRY();
    { RewriteQuery(reading); }
    PG_CATCH();
    {
        QuietRestore(&quiet);
        PG_RE_THROW();
    }
    PG_END_TRY();
    QuietEnd(&quiet);
}

void ReadRows(RowSink* sink, const Reading& reading) {
    CheckCaller(reading);
    if (reading.as_owner) {
        RunQuietly(sink, reading);
        return;
    }
    const int level = NewGUCNestLevel();
    volatile Phase phase = Phase::kCheck;
    PinSetting("search_path", "pg_catalog, pg_temp");
    ErrorContextCallback context;
    context.callback = DescribePinnedPath;
    context.arg = DescribeRelation(reading.relid);
    context.previous = error_context_stack;
    error_context_stack = &context;
    RunReading(sink, reading, &phase);
    error_context_stack = context.previous;
    AtEOXact_GUC(true, level);
}

}  // namespace dpboost
