#include "postgres/reading/parallel_scan.h"

namespace dpboost {
namespace {

// Chunks of the shared segment.
enum Key : uint64 { kHead = 1, kColumns, kDescription, kScan, kQueues };

struct Head {
    Oid relid;
    FeatureShape shape;
    int column_count;
};

// Of each worker. A message may be larger: it then passes in pieces.
constexpr Size kQueueBytes = 512 * 1024;
// One process takes what they send; their queues are 8 MB together.
constexpr int kMostWorkers = 16;
// Says that a worker has sent everything; rows are longer.
constexpr Size kEndBytes = 1;

// ---- a share of the rows ----

struct Share {
    Relation relation;
    ParallelTableScanDesc scan;
    FeatureShape shape;
    const AttrNumber* columns;  // as in Reading
    int column_count;
};

NullableDatum SlotValue(const TupleTableSlot* slot, AttrNumber column) {
    return {slot->tts_values[column - 1], slot->tts_isnull[column - 1]};
}

void AppendSlot(RowSink* sink, const Share& share, const TupleTableSlot* slot) {
    const NullableDatum target = SlotValue(slot, share.columns[0]);
    const NullableDatum unit =
        sink->has_units ? SlotValue(slot, share.columns[share.column_count - 1]) : NullableDatum{0, true};
    if (share.shape == FeatureShape::kArray) {
        AppendArrayRow(sink, target, unit, SlotValue(slot, share.columns[1]));
        return;
    }
    const AttrNumber* features = share.columns + 1;
    AppendRow(sink, target, unit, [slot, features](int i, bool* is_null) {
        *is_null = slot->tts_isnull[features[i] - 1];
        return slot->tts_values[features[i] - 1];
    });
}

// Reads until no process finds another row. `meanwhile` is called now and then.
template <class Meanwhile>
void ScanShare(RowSink* sink, const Share& share, Meanwhile meanwhile) {
    constexpr uint64 kRowsBetween = 1024;
    constexpr uint64 kRowsInContext = 64;
    AttrNumber last = 0;
    for (int i = 0; i < share.column_count; ++i)
        last = Max(last, share.columns[i]);
    MemoryContext row_context =
        AllocSetContextCreate(CurrentMemoryContext, "dpboost rows", ALLOCSET_DEFAULT_SIZES);
    TupleTableSlot* slot = table_slot_create(share.relation, nullptr);
    TableScanDesc scan = BeginParallelScan(share.relation, share.scan);
    for (uint64 rows = 1; table_scan_getnextslot(scan, ForwardScanDirection, slot); ++rows) {
        slot_getsomeattrs(slot, last);
        MemoryContext outer = MemoryContextSwitchTo(row_context);
        AppendSlot(sink, share, slot);
        MemoryContextSwitchTo(outer);
        if (rows % kRowsInContext == 0)
            MemoryContextReset(row_context);
        if (rows % kRowsBetween == 0)
            meanwhile();
    }
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(slot);
    MemoryContextDelete(row_context);
}

// ---- whether workers help ----

// Nothing but the columns of the reading's own table: no filter, no other relation, no expression.
bool IsPlainScan(const Reading& reading, const PlannedStmt* plan) {
    const ::Plan* top = plan->planTree;
    if (!IsA(top, SeqScan) || top->qual != NIL || top->initPlan != NIL || plan->subplans != NIL ||
        list_length(plan->rtable) != 1 || list_length(top->targetlist) != reading.column_count)
        return false;
    const auto* table = static_cast<const RangeTblEntry*>(linitial(plan->rtable));
    for (int i = 0; i < reading.column_count; ++i) {
        const Expr* column = static_cast<const TargetEntry*>(list_nth(top->targetlist, i))->expr;
        if (!IsA(column, Var) || reinterpret_cast<const Var*>(column)->varattno != reading.columns[i])
            return false;
    }
    return table->rtekind == RTE_RELATION && table->relid == reading.relid;
}

// As PostgreSQL gives workers to a sequential scan of the table: by its size, or by its own setting.
int WorkersBySize(Relation relation) {
    const int set = RelationGetParallelWorkers(relation, -1);
    if (set >= 0)
        return set;
    const uint64 pages = RelationGetNumberOfBlocks(relation);
    if (pages < static_cast<uint64>(min_parallel_table_scan_size))
        return 0;
    int workers = 1;
    for (uint64 enough = Max(min_parallel_table_scan_size, 1); pages >= 3 * enough; enough *= 3)
        ++workers;
    return workers;
}

// None if what they save of the scan, as PostgreSQL estimates it, is not worth starting them.
int WorkersFor(Relation relation, const ::Plan* plan) {
    if (relation->rd_rel->relkind != RELKIND_RELATION ||
        relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP ||
        relation->rd_tableam != GetHeapamTableAmRoutine() || IsInParallelMode() || IsolationIsSerializable())
        return 0;
    const int workers = Min(Min(WorkersBySize(relation), max_parallel_workers_per_gather), kMostWorkers);
    return plan->total_cost * workers / (workers + 1) > parallel_setup_cost ? workers : 0;
}

// ---- the session's own process ----

struct Parts {
    RowSink* sink;
    ParallelContext* context;
    shm_mq_handle** queues;  // null: has sent everything
    int left;
};

// Takes what has arrived. False if nothing had.
bool TakeArrived(Parts* parts) {
    bool arrived = false;
    for (int i = 0; i < parts->context->nworkers_launched; ++i) {
        Size size;
        void* bytes;
        if (parts->queues[i] == nullptr)
            continue;
        const shm_mq_result result = shm_mq_receive(parts->queues[i], &size, &bytes, true);
        if (result == SHM_MQ_WOULD_BLOCK)
            continue;
        arrived = true;
        if (result == SHM_MQ_SUCCESS && size > kEndBytes) {
            parts->sink->sharing->take(parts->sink, static_cast<const char*>(bytes), size);
            continue;
        }
        shm_mq_detach(parts->queues[i]);
        parts->queues[i] = nullptr;
        --parts->left;
        if (result == SHM_MQ_SUCCESS)
            continue;
        WaitForParallelWorkersToFinish(parts->context);  // raises why
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a parallel worker stopped reading")));
    }
    return arrived;
}

void TakeAll(Parts* parts) {
    while (parts->left > 0) {
        if (!TakeArrived(parts)) {
            WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
            ResetLatch(MyLatch);
        }
        CHECK_FOR_INTERRUPTS();
    }
}

void* Allocate(ParallelContext* context, Key key, Size size) {
    void* chunk = shm_toc_allocate(context->toc, size);
    shm_toc_insert(context->toc, key, chunk);
    return chunk;
}

// What workers need, in shared memory.
ParallelContext* ShareReading(RowSink* sink, const Reading& reading, Relation relation, int workers,
                              Share* share) {
    bytea* description = sink->sharing->describe(sink);
    const Size columns_size = sizeof(AttrNumber) * reading.column_count;
    const Size scan_size = table_parallelscan_estimate(relation, GetActiveSnapshot());
    ParallelContext* context = CreateParallelContext("$libdir/dpboost", "dpboost_read_part", workers);
    for (Size size : {sizeof(Head), columns_size, static_cast<Size>(VARSIZE(description)), scan_size,
                      kQueueBytes * static_cast<Size>(workers)})
        shm_toc_estimate_chunk(&context->estimator, size);
    shm_toc_estimate_keys(&context->estimator, 5);
    InitializeParallelDSM(context);
    auto* head = static_cast<Head*>(Allocate(context, kHead, sizeof(Head)));
    *head = {reading.relid, reading.shape, reading.column_count};
    memcpy(Allocate(context, kColumns, columns_size), reading.columns, columns_size);
    memcpy(Allocate(context, kDescription, VARSIZE(description)), description, VARSIZE(description));
    auto* scan = static_cast<ParallelTableScanDesc>(Allocate(context, kScan, scan_size));
    table_parallelscan_initialize(relation, scan, GetActiveSnapshot());
    auto* queues = static_cast<char*>(Allocate(context, kQueues, kQueueBytes * static_cast<Size>(workers)));
    for (int i = 0; i < workers; ++i)
        shm_mq_set_receiver(shm_mq_create(queues + i * kQueueBytes, kQueueBytes), MyProc);
    *share = {relation, scan, reading.shape, reading.columns, reading.column_count};
    return context;
}

void StartWorkers(Parts* parts) {
    ParallelContext* context = parts->context;
    LaunchParallelWorkers(context);
    parts->left = context->nworkers_launched;
    parts->queues = static_cast<shm_mq_handle**>(palloc0(sizeof(shm_mq_handle*) * (parts->left + 1)));
    auto* queues = static_cast<char*>(shm_toc_lookup(context->toc, kQueues, false));
    for (int i = 0; i < parts->left; ++i)
        parts->queues[i] = shm_mq_attach(reinterpret_cast<shm_mq*>(queues + i * kQueueBytes), context->seg,
                                         context->worker[i].bgwhandle);
}

void ReadShares(RowSink* sink, const Share& share, ParallelContext* context) {
    Parts parts = {sink, context, nullptr, 0};
    StartWorkers(&parts);
    if (parts.left == 0 || parallel_leader_participation)
        ScanShare(sink, share, [&parts] { TakeArrived(&parts); });
    TakeAll(&parts);
    WaitForParallelWorkersToFinish(context);
}

void ReadWithWorkers(RowSink* sink, const Reading& reading, Relation relation, int workers) {
    EnterParallelMode();
    Share share;
    ParallelContext* context = ShareReading(sink, reading, relation, workers, &share);
    PG_TRY();
    { ReadShares(sink, share, context); }
    PG_CATCH();
    {
        // Or the next interrupt, which whoever handles this error may serve, raises another worker's as it is.
        DestroyParallelContext(context);
        PG_RE_THROW();
    }
    PG_END_TRY();
    DestroyParallelContext(context);
    ExitParallelMode();
}

// ---- a worker ----

shm_mq_handle* to_session;

}  // namespace

bool ReadInParallel(RowSink* sink, const Reading& reading, const PlannedStmt* plan) {
    if (sink->sharing == nullptr || sink->route != nullptr || !IsPlainScan(reading, plan))
        return false;
    Relation relation = table_open(reading.relid, NoLock);
    const int workers = WorkersFor(relation, plan->planTree);
    if (workers > 0)
        ReadWithWorkers(sink, reading, relation, workers);
    table_close(relation, NoLock);
    return workers > 0;
}

void LockToastTable(Oid relid) {
    Relation relation = relation_open(relid, NoLock);
    const Oid toast = relation->rd_rel->reltoastrelid;
    relation_close(relation, NoLock);
    if (!OidIsValid(toast))
        return;
    Relation toast_relation = relation_open(toast, AccessShareLock);
    ListCell* index;
    foreach (index, RelationGetIndexList(toast_relation))
        LockRelationOid(lfirst_oid(index), AccessShareLock);
    relation_close(toast_relation, NoLock);
}

const bytea* DescriptionOfPart(shm_toc* toc) {
    return static_cast<const bytea*>(shm_toc_lookup(toc, kDescription, false));
}

bool SendRows(const char* bytes, size_t size) {
    return SendMessage(to_session, bytes, size);
}

void ReadPart(dsm_segment* segment, shm_toc* toc, RowSink* sink, void (*flush_last)(RowSink*)) {
    const auto* head = static_cast<const Head*>(shm_toc_lookup(toc, kHead, false));
    auto* queues = static_cast<char*>(shm_toc_lookup(toc, kQueues, false));
    auto* queue = reinterpret_cast<shm_mq*>(queues + ParallelWorkerNumber * kQueueBytes);
    shm_mq_set_sender(queue, MyProc);
    to_session = shm_mq_attach(queue, segment, nullptr);
    Relation relation = table_open(head->relid, AccessShareLock);
    LockToastTable(head->relid);
    const Share share = {relation, static_cast<ParallelTableScanDesc>(shm_toc_lookup(toc, kScan, false)),
                         head->shape, static_cast<const AttrNumber*>(shm_toc_lookup(toc, kColumns, false)),
                         head->column_count};
    ScanShare(sink, share, [] { CHECK_FOR_INTERRUPTS(); });
    flush_last(sink);
    SendRows("", kEndBytes);
    shm_mq_detach(to_session);
    table_close(relation, NoLock);
}

}  // namespace dpboost
