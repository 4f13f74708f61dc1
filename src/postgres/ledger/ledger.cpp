// The caller's side of a release: lays the request into shared memory, starts the ledger worker, waits, and
// hands its answer on. Whatever ends the wait early (cancel, terminate, error, deadline) first forbids the
// worker to commit; if the worker was quicker, charge and model are both there, and the caller was just not
// told.
#include "postgres/ledger/ledger.h"

#include "postgres/ledger/ledger_message.h"

namespace dpboost {
namespace {

constexpr int kSlotRetryMs = 5;
constexpr int kLatchMs = 200;  // so often the worker's health is looked at without being woken

int ledger_timeout_ms;

// The milliseconds that are left until a deadline, at least 0.
long MillisecondsUntil(TimestampTz deadline) {
    return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

size_t AddPiece(size_t offset, size_t size, LedgerPiece* piece) {
    piece->offset = MAXALIGN(offset);
    piece->size = size;
    return piece->offset + size;
}

size_t TextSize(const char* text) {
    return text == nullptr ? 1 : strlen(text) + 1;
}

size_t RelationSetSize(const RelationSet* relations) {
    return offsetof(RelationSet, items) + relations->count * sizeof(ReadRelation);
}

// Where everything goes; returns the size of the segment.
size_t LayOut(const ReleaseRequest* request, LedgerMessage* message) {
    size_t end = sizeof(LedgerMessage);
    end = AddPiece(end, TextSize(request->model_name), &message->model_name);
    end = AddPiece(end, TextSize(request->method), &message->method);
    end = AddPiece(end, TextSize(request->task), &message->task);
    end = AddPiece(end, TextSize(request->options), &message->options);
    end = AddPiece(end, TextSize(request->features), &message->features);
    end = AddPiece(end, TextSize(request->privacy_unit), &message->privacy_unit);
    end = AddPiece(end, request->model_size, &message->model);
    end = AddPiece(end, request->plan_size, &message->plan);
    return AddPiece(end, RelationSetSize(request->relations), &message->relations);
}

void CopyPiece(LedgerMessage* message, const LedgerPiece& piece, const void* content) {
    char* to = reinterpret_cast<char*>(message) + piece.offset;
    if (content == nullptr)
        memset(to, 0, piece.size);
    else
        memcpy(to, content, piece.size);
}

void Fill(const ReleaseRequest* request, LedgerMessage* message) {
    message->magic = kLedgerMagic;
    pg_atomic_init_u32(&message->state, kLedgerPending);
    message->database = MyDatabaseId;
    message->backend_latch = MyLatch;
    message->lock_timeout_ms = ledger_timeout_ms / 2 + 1;
    message->caller = request->caller;
    strlcpy(message->caller_name, GetUserNameFromId(request->caller, false), NAMEDATALEN);
    message->right = request->right;
    message->has_privacy_unit = request->privacy_unit != nullptr;
    CopyPiece(message, message->model_name, request->model_name);
    CopyPiece(message, message->method, request->method);
    CopyPiece(message, message->task, request->task);
    CopyPiece(message, message->options, request->options);
    CopyPiece(message, message->features, request->features);
    CopyPiece(message, message->privacy_unit, request->privacy_unit);
    CopyPiece(message, message->model, request->model_bytes);
    CopyPiece(message, message->plan, request->plan_bytes);
    CopyPiece(message, message->relations, request->relations);
}

// True if nothing will be committed from now on; false if the worker has gone too far.
bool Abandon(LedgerMessage* message) {
    uint32 expected = kLedgerPending;
    return pg_atomic_compare_exchange_u32(&message->state, &expected, kLedgerAbandoned) ||
           expected == kLedgerAbandoned || expected == kLedgerFailed;
}

// However this backend leaves, by an error, a cancel or the end of the process: the segment is detached.
void AbandonOnDetach(dsm_segment* segment, Datum) {
    Abandon(static_cast<LedgerMessage*>(dsm_segment_address(segment)));
}

void WaitForLatch(long milliseconds) {
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                    PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

BackgroundWorkerHandle* StartWorker(dsm_segment* segment, TimestampTz deadline) {
    BackgroundWorker worker = {};
    BackgroundWorkerHandle* handle;
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment));
    worker.bgw_notify_pid = MyProcPid;
    strlcpy(worker.bgw_name, "dpboost ledger", BGW_MAXLEN);
    strlcpy(worker.bgw_type, "dpboost ledger", BGW_MAXLEN);
    strlcpy(worker.bgw_library_name, "$libdir/dpboost", BGW_MAXLEN);
    strlcpy(worker.bgw_function_name, "dpboost_ledger_worker", BGW_MAXLEN);
    while (!RegisterDynamicBackgroundWorker(&worker, &handle)) {
        if (MillisecondsUntil(deadline) == 0)
            ereport(ERROR,
                    (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                     errmsg("could not start the privacy ledger's background worker"),
                     errdetail("All worker slots of the server are taken. Nothing was charged and nothing "
                               "was released."),
                     errhint("Try again, or raise \"max_worker_processes\".")));
        WaitForLatch(Min(kSlotRetryMs, MillisecondsUntil(deadline)));
    }
    return handle;
}

[[noreturn]] void RaiseUnfinished(bool abandoned, const char* reason) {
    if (abandoned)
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("could not charge the privacy budget"),
                        errdetail("%s Nothing was charged and nothing was released.", reason),
                        errhint("Try again, outside a transaction that locks dpboost's tables.")));
    ereport(ERROR, (errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
                    errmsg("could not confirm the charge to the privacy budget"),
                    errdetail("%s The charge and the model are both there, or neither is.", reason),
                    errhint("Look for the model in dpboost_models.")));
}

// Until the worker has answered. A worker that ended without an answer has failed before its commit, or was
// killed while it committed.
void WaitForAnswer(LedgerMessage* message, BackgroundWorkerHandle* handle, TimestampTz deadline) {
    for (;;) {
        const uint32 state = pg_atomic_read_u32(&message->state);
        pg_read_barrier();
        if (state == kLedgerDone || state == kLedgerFailed)
            return;
        pid_t pid;
        const BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);
        if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED) {
            const uint32 last = pg_atomic_read_u32(&message->state);
            if (last == kLedgerDone || last == kLedgerFailed)
                continue;
            RaiseUnfinished(Abandon(message), "The ledger's background worker has ended.");
        }
        const long left = MillisecondsUntil(deadline);
        if (left == 0)
            RaiseUnfinished(Abandon(message), "The ledger's background worker did not answer in time.");
        WaitForLatch(Min(kLatchMs, left));
    }
}

// The worker's error as if it had happened here.
[[noreturn]] void RaiseAnswer(const LedgerAnswer& answer) {
    const int sqlstate = answer.sqlstate;
    const char* message = pstrdup(answer.message);
    const char* detail = pstrdup(answer.detail);
    const char* hint = pstrdup(answer.hint);
    ereport(ERROR, (errcode(sqlstate), errmsg_internal("%s", message),
                    detail[0] != '\0' ? errdetail_internal("%s", detail) : 0,
                    hint[0] != '\0' ? errhint("%s", hint) : 0));
    pg_unreachable();
}

void CopyAnswer(const LedgerAnswer& answer, ReleaseResult* result) {
    result->release_id = answer.release_id;
    result->model_id = answer.model_id;
    result->version = answer.version;
    result->budgets = static_cast<BudgetList*>(
        palloc0(offsetof(BudgetList, items) + (answer.budget_count + 1) * sizeof(BudgetState)));
    result->budgets->count = answer.budget_count;
    memcpy(result->budgets->items, answer.budgets, answer.budget_count * sizeof(BudgetState));
}

void CheckSession() {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot train during recovery"),
                        errdetail("A standby server cannot charge the privacy budget."),
                        errhint("Train on the primary server.")));
    if (XactReadOnly)
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot train in a read-only transaction"),
                        errdetail("A training charges the privacy budget and stores a model.")));
    if (IsInParallelMode())
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot train during a parallel operation")));
}

}  // namespace

void CheckCanRelease(Oid caller, const char* model_name, NewModelName* name) {
    CheckSession();
    ReadNewModelName(caller, model_name, name);
}

void CommitRelease(const ReleaseRequest* request, ReleaseResult* result) {
    CheckSession();
    const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ledger_timeout_ms);
    LedgerMessage layout = {};
    layout.segment_size = LayOut(request, &layout);
    dsm_segment* segment = dsm_create(layout.segment_size, 0);
    auto* message = static_cast<LedgerMessage*>(dsm_segment_address(segment));
    memcpy(message, &layout, sizeof layout);
    Fill(request, message);
    on_dsm_detach(segment, AbandonOnDetach, Datum(0));

    BackgroundWorkerHandle* handle = StartWorker(segment, deadline);
    WaitForAnswer(message, handle, deadline);
    if (pg_atomic_read_u32(&message->state) == kLedgerFailed)
        RaiseAnswer(message->answer);
    CopyAnswer(message->answer, result);
    dsm_detach(segment);
    pfree(handle);
}

void DefineLedgerSettings() {
    DefineCustomIntVariable(
        "dpboost.ledger_timeout", "Time that a training may wait for its charge to the privacy budget.",
        "A training that could not charge in time fails, and nothing is released.", &ledger_timeout_ms, 20000,
        100, 600000, PGC_USERSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
}

}  // namespace dpboost
