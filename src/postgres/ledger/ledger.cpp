// The caller's side of the ledger: has a request laid into shared memory (ledger_layout), starts the ledger worker, waits, and
// hands its answer on. Whatever ends the wait early (cancel, terminate, error, deadline) first forbids the worker to
// commit; if the worker was quicker, what was asked for is there, and the caller was just not told. A delivery goes to the
// worker of the charge while that one still waits for it, and a charge to a worker that was started early or kept, else to a new
// one.
#include "postgres/ledger/ledger.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/cluster.h"
#include "postgres/govern/alert.h"
#include "postgres/ledger/ledger_layout.h"

namespace dpboost {
namespace {

constexpr int kSlotRetryMs = 5;
constexpr int kLatchMs = 200;  // so often the worker's health is looked at without being woken
constexpr int kDeliveryRetryMs = 100;
constexpr int kDeadlockCheckMs = 1000;
constexpr int kMaxSilentEnds = 5;  // workers of one delivery that end without a word

int ledger_timeout_ms;

// Of the worker of a charge or an import, whose caller waits no longer than this setting says.
int LockTimeoutMs() {
    return ledger_timeout_ms / 2 + 1;
}

// The milliseconds that are left until a deadline, at least 0.
long MillisecondsUntil(TimestampTz deadline) {
    return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

// ---- the worker ----

void WaitForLatch(long milliseconds) {
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                    PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

// Raises 53000 if all slots stay taken until the deadline.
BackgroundWorkerHandle* StartWorker(dsm_segment* segment, TimestampTz deadline) {
    BackgroundWorker worker = LedgerWorker(segment);
    BackgroundWorkerHandle* handle;
    while (!RegisterDynamicBackgroundWorker(&worker, &handle)) {
        const long left = MillisecondsUntil(deadline);
        if (left == 0)
            ereport(ERROR,
                    (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                     errmsg("could not start the privacy ledger's background worker"),
                     errdetail("All worker slots of the server are taken. Nothing was charged and nothing "
                               "was released."),
                     errhint("Try again, or raise \"max_worker_processes\".")));
        WaitForLatch(Min(kSlotRetryMs, left));
    }
    return handle;
}

// How a wait for the worker has ended; only after kAnswered the state is kLedgerDone or kLedgerFailed.
enum class Wait {
    kAnswered,
    kEnded,  // without an answer: it failed before its commit, or was killed while it committed
    kLate,
};

// One look at the worker. Its health comes first: what it wrote before it ended is seen then.
Wait LookAtWorker(LedgerMessage* message, BackgroundWorkerHandle* handle, pid_t* pid) {
    const BgwHandleStatus status = GetBackgroundWorkerPid(handle, pid);
    if (status != BGWH_STARTED)
        *pid = 0;
    const uint32 state = pg_atomic_read_u32(&message->state);
    pg_read_barrier();
    if (state == kLedgerDone || state == kLedgerFailed)
        return Wait::kAnswered;
    return status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED ? Wait::kEnded : Wait::kLate;
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

// ---- the charge ----

// No answer: nothing may be drawn, and if the worker can still be stopped, nothing is charged.
[[noreturn]] void RaiseUnpaid(LedgerMessage* message, const char* reason) {
    if (message->work == LedgerWork::kImport && Abandon(message))
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("could not store the model"),
                        errdetail("%s", reason), errhint("Try again.")));
    if (Abandon(message))
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("could not charge the privacy budget"),
                        errdetail("%s Nothing was charged and nothing was released.", reason),
                        errhint("Try again, outside a transaction that locks dpboost's tables.")));
    ereport(ERROR, (errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
                    errmsg("could not confirm the charge to the privacy budget"),
                    errdetail("%s The training may be charged; nothing was released.", reason),
                    errhint("Look for the charge in dpboost_ledger.")));
}

void WaitForCharge(LedgerMessage* message, BackgroundWorkerHandle* handle, TimestampTz deadline) {
    for (;;) {
        pid_t pid;
        const Wait wait = LookAtWorker(message, handle, &pid);
        if (wait == Wait::kAnswered)
            return;
        if (wait == Wait::kEnded)
            RaiseUnpaid(message, "The ledger's background worker has ended.");
        const long left = MillisecondsUntil(deadline);
        if (left == 0)
            RaiseUnpaid(message, "The ledger's background worker did not answer in time.");
        WaitForLatch(Min(kLatchMs, left));
    }
}

// The worker that this session keeps, if it does.
WaitingWorker kept_worker;

// Gives a request to a worker that waits. Null if that one has gone, or is not to be asked twice; if it ends on the way, it
// has ended like any other. What it waits in must stay until it has come.
BackgroundWorkerHandle* HandOver(WaitingWorker* waiting, dsm_segment* next) {
    if (waiting != nullptr && waiting->kept)
        waiting = &kept_worker;  // as it is now: another call may have given up the one that there was
    if (waiting == nullptr || waiting->segment == nullptr)
        return nullptr;
    LedgerMessage* message = MessageIn(waiting->segment);
    if (pg_atomic_read_u32(&message->door) != kDoorOpen)
        return nullptr;  // what was handed over before may not be attached so far
    message->next = dsm_segment_handle(next);
    pg_write_barrier();
    pid_t pid;
    const bool handed =
        GetBackgroundWorkerPid(waiting->handle, &pid) != BGWH_STOPPED && TurnDoor(message, kDoorHanded);
    if (handed && message->worker_latch != nullptr)  // else it has not come so far, and will look
        SetLatch(message->worker_latch);
    return handed ? waiting->handle : nullptr;
}

// Nothing more is handed over, unless it is by the session.
void LeaveDoor(WaitingWorker* waiting) {
    if (waiting->segment != nullptr && !waiting->kept)
        dsm_detach(waiting->segment);
    waiting->segment = nullptr;
}

// Registers the worker that stands by in the segment. If there is no slot for one, there is none.
void StandBy(dsm_segment* segment, WaitingWorker* waiting) {
    BackgroundWorker worker = LedgerWorker(segment);
    if (RegisterDynamicBackgroundWorker(&worker, &waiting->handle))
        waiting->segment = segment;
    else
        dsm_detach(segment);
}

// It waits half a second from now on, if it does.
void SayWanted(const WaitingWorker& worker) {
    if (worker.segment != nullptr)
        pg_atomic_write_u64(&MessageIn(worker.segment)->wanted_at,
                            static_cast<uint64>(GetCurrentTimestamp()));
}

// Whether it waits or is about to, and then for half a second from now on.
bool IsStillThere(const WaitingWorker& worker) {
    pid_t pid;
    if (worker.segment == nullptr)
        return false;
    const BgwHandleStatus status = GetBackgroundWorkerPid(worker.handle, &pid);
    if (status != BGWH_STARTED && status != BGWH_NOT_YET_STARTED)
        return false;
    SayWanted(worker);
    pg_memory_barrier();
    return pg_atomic_read_u32(&MessageIn(worker.segment)->door) == kDoorOpen;
}

// A release that is being paid points to what this frees: between its charge and its delivery no other call may begin.
void ForgetKept() {
    if (kept_worker.segment == nullptr)
        return;
    dsm_detach(kept_worker.segment);
    pfree(kept_worker.handle);
    kept_worker = {nullptr, nullptr, false};
}

void CopyAnswer(const LedgerAnswer& answer, PaidRelease* paid) {
    paid->release_id = answer.release_id;
    paid->version = answer.version;
    memcpy(paid->group_versions, answer.group_versions, sizeof paid->group_versions);
    paid->budgets = static_cast<BudgetList*>(
        palloc0(offsetof(BudgetList, items) + (answer.budget_count + 1) * sizeof(BudgetState)));
    paid->budgets->count = answer.budget_count;
    memcpy(paid->budgets->items, answer.budgets, answer.budget_count * sizeof(BudgetState));
}

// ---- the delivery ----

// Whether the worker waits, through whatever chain of sessions, for a lock of this very transaction, which
// waits for the worker. PostgreSQL does not see such a circle, because this backend waits for no lock.
bool WaitsForUs(pid_t worker) {
    if (worker == 0)
        return false;
    CatalogScope scope;
    CatalogBegin(&scope);
    const bool found =
        CatalogRead(
            "WITH RECURSIVE blocker (pid) AS (SELECT pg_catalog.unnest(pg_catalog.pg_blocking_pids($1))"
            " UNION SELECT pg_catalog.unnest(pg_catalog.pg_blocking_pids(pid)) FROM blocker)"
            " SELECT FROM blocker WHERE pid = pg_catalog.pg_backend_pid()",
            {Int4(static_cast<int32>(worker))}, 1) > 0;
    CatalogEnd(&scope);
    return found;
}

// Until the worker has answered or ended. A circle of waits that was seen twice is one.
Wait WaitForDelivery(LedgerMessage* message, BackgroundWorkerHandle* handle) {
    TimestampTz next_check = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kDeadlockCheckMs);
    int circles = 0;
    for (;;) {
        pid_t pid;
        const Wait wait = LookAtWorker(message, handle, &pid);
        if (wait != Wait::kLate)
            return wait;
        if (MillisecondsUntil(next_check) == 0) {
            circles = WaitsForUs(pid) ? circles + 1 : 0;
            if (circles == 2 && Abandon(message))
                ereport(ERROR, (errcode(ERRCODE_T_R_DEADLOCK_DETECTED), errmsg("could not store the model"),
                                errdetail("A lock on dpboost's tables is needed that waits for this "
                                          "transaction to end."),
                                errhint("Train outside a transaction that reads or locks them, or while they "
                                        "are not being altered.")));
            next_check = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kDeadlockCheckMs);
        }
        WaitForLatch(kLatchMs);
    }
}

// One worker's attempt. False if another one should try: nothing is known to have gone wrong for good.
bool TryDelivery(PaidRelease* paid, const ModelDelivery* delivery, int* silent_ends) {
    dsm_segment* segment = LayOutDelivery(paid, delivery);
    LedgerMessage* message = MessageIn(segment);
    BackgroundWorkerHandle* volatile handle = nullptr;
    volatile Wait wait = Wait::kLate;
    PG_TRY();
    {
        handle = HandOver(&paid->waiting, segment);
        LeaveDoor(&paid->waiting);
        if (handle == nullptr)
            handle = StartWorker(segment, DT_NOEND);
        wait = WaitForDelivery(message, handle);
    }
    PG_CATCH();
    {
        // Before the caller reads the error, not when the transaction is cleaned up: told of a cancel, he may count on it.
        Abandon(message);
        PG_RE_THROW();
    }
    PG_END_TRY();
    const bool done = wait == Wait::kAnswered && pg_atomic_read_u32(&message->state) == kLedgerDone;
    if (wait == Wait::kAnswered && !done && message->answer.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE)
        RaiseAnswer(message->answer);
    if (wait == Wait::kEnded && ++*silent_ends == kMaxSilentEnds)
        ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("could not store the model"),
                        errdetail("The ledger's background worker has ended %d times without an answer.",
                                  kMaxSilentEnds),
                        errhint("The server's log says why.")));
    dsm_detach(segment);
    return done;
}

}  // namespace

void CheckCanCharge() {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot train during recovery"),
                        errdetail("A standby server cannot charge the privacy budget."),
                        errhint("Train on the primary server.")));
    if (XactReadOnly)
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot train in a read-only transaction"),
                        errdetail("A training charges the privacy budget and stores a model.")));
    if (IsParallelWorker())
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TRANSACTION_STATE), errmsg("cannot train in a parallel worker")));
    CheckNoClusterWorker();
}

void CheckCanRelease(Oid caller, const char* model_name, NewModelName* name) {
    CheckCanCharge();
    ReadNewModelName(caller, model_name, name);
}

void StartEarly(Oid caller, WaitingWorker* waiting) {
    StandBy(LayOutStandBy(caller, false), waiting);
}

void StartOrKeep(Oid caller, WaitingWorker* waiting) {
    if (!IsStillThere(kept_worker)) {
        ForgetKept();
        dsm_segment* segment = LayOutStandBy(caller, true);
        dsm_pin_mapping(segment);  // until the session ends, or gets another one
        const MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
        StandBy(segment, &kept_worker);
        MemoryContextSwitchTo(before);
    }
    *waiting = kept_worker;
    waiting->kept = true;
}

void StayOn(const PaidRelease* paid) {
    SayWanted(kept_worker);
    SayWanted(paid->waiting);
}

void BeginCharge(const ChargeRequest* request, PaidRelease* paid) {
    CheckCanCharge();
    memset(static_cast<void*>(paid), 0, sizeof *paid);
    paid->caller = request->caller;
    paid->kind = request->kind;
    paid->model_id = request->model.model_id;
    paid->group_count = request->group_count;
    paid->delivery_follows = request->delivery_follows;
    paid->plan_bytes =
        static_cast<char*>(memcpy(palloc(request->plan_size), request->plan_bytes, request->plan_size));
    paid->plan_size = request->plan_size;
    if (request->units != nullptr) {
        paid->unit_state_id = request->units->id;
        paid->unit_generation = request->units->generation + 1;
    }
    if (!pg_strong_random(paid->claim, kClaimSize))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    paid->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ledger_timeout_ms);
    paid->waiting.segment = LayOutCharge(request, paid->claim, LockTimeoutMs());
    paid->stood_by = request->waiting;
    paid->waiting.handle = HandOver(request->waiting, paid->waiting.segment);
    if (paid->waiting.handle == nullptr)
        paid->waiting.handle = StartWorker(paid->waiting.segment, paid->deadline);
}

int64 ChargedSoFar(const PaidRelease* paid) {
    if (paid->release_id > 0 || paid->waiting.segment == nullptr)
        return paid->release_id;
    LedgerMessage* message = MessageIn(paid->waiting.segment);
    const bool done = pg_atomic_read_u32(&message->state) == kLedgerDone;
    pg_read_barrier();
    return done ? message->answer.release_id : 0;
}

void AwaitCharge(PaidRelease* paid) {
    LedgerMessage* message = MessageIn(paid->waiting.segment);
    WaitForCharge(message, paid->waiting.handle, paid->deadline);
    if (pg_atomic_read_u32(&message->state) != kLedgerDone)
        RaiseAnswer(message->answer);
    CopyAnswer(message->answer, paid);
    if (paid->stood_by != nullptr)
        LeaveDoor(paid->stood_by);
    paid->stood_by = nullptr;
    if (!paid->delivery_follows)
        LeaveDoor(&paid->waiting);
    ShowAlerts(paid->budgets);
}

void CommitCharge(const ChargeRequest* request, PaidRelease* paid) {
    BeginCharge(request, paid);
    AwaitCharge(paid);
}

PaidCharge Cashier::Receipt(PaidRelease* paid) {
    CheckInternal(paid->release_id > 0 && paid->plan_bytes != nullptr,
                  "there is no charge to give a receipt for");
    PaidCharge receipt(std::string(paid->plan_bytes, paid->plan_size));
    if (++paid->receipts >= paid->group_count)
        paid->plan_bytes = nullptr;
    return receipt;
}

void DeliverModel(PaidRelease* paid, const ModelDelivery* delivery) {
    DeliverGroups(paid, delivery);
}

void DeliverGroups(PaidRelease* paid, const ModelDelivery* delivery) {
    int silent_ends = 0;
    while (!TryDelivery(paid, delivery, &silent_ends))
        WaitForLatch(kDeliveryRetryMs);
}

void ImportModel(const ModelImport* import) {
    const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ledger_timeout_ms);
    dsm_segment* segment = LayOutImport(import, LockTimeoutMs());
    BackgroundWorkerHandle* handle = StartWorker(segment, deadline);
    WaitForCharge(MessageIn(segment), handle, deadline);
    if (pg_atomic_read_u32(&MessageIn(segment)->state) != kLedgerDone)
        RaiseAnswer(MessageIn(segment)->answer);
    dsm_detach(segment);
    pfree(handle);
}

void DefineLedgerSettings() {
    DefineCustomIntVariable(
        "dpboost.ledger_timeout", "Time that a training may wait for its charge to the privacy budget.",
        "A training that could not charge in time fails, and nothing is drawn.", &ledger_timeout_ms, 20000,
        100, 600000, PGC_USERSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
}

}  // namespace dpboost
