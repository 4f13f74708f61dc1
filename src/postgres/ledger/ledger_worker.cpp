// The ledger worker: a background process with transactions of its own. It is the only writer of ledger and models. For the
// charge, under a lock that makes charges follow one another, it counts what was spent, refuses what does not fit, and
// commits the charge; later, for the delivery, it commits the model of a charge that the ledger holds. Each is done whole or
// not at all. A delivery that comes soon finds the worker of its charge still there, idle and without a transaction: a start
// costs more than the rest. Else another one is started for it, as for a model that is imported. A charge that was announced
// finds a worker that stands by in the same way.
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/govern/alert.h"
#include "postgres/ledger/ledger_layout.h"
#include "postgres/ledger/ledger_record.h"
#include "postgres/limits/budget.h"
#include "postgres/population/earlier_units.h"
#include "postgres/population/privacy_unit.h"
#include "postgres/units/unit_history.h"
#include "privacy/cost.h"

extern "C" {
PGDLLEXPORT void dpboost_ledger_worker(Datum main_arg);
}

namespace dpboost {
namespace {

constexpr int kLockedTimeoutMs = 1000;  // for any other lock while the ledger's is held
constexpr int kStayMs = 500;            // so long a worker waits for what comes next
constexpr int kLifeMs = 10000;          // so long one is kept: settings of the server are those of its start
constexpr int kSlotCheckMs = 50;        // so often it looks whether others need its slot

// As many texts as there are groups, and nothing behind the last.
bool HasGroupNames(const LedgerMessage* message) {
    const char* const names = PieceOf(message, message->groups);
    const char* const end = names + message->groups.size;
    return std::count(names, end, '\0') == message->group_count &&
           (message->group_count == 0 ? names == end : end[-1] == '\0');
}

bool IsWhole(const LedgerMessage* message, size_t mapped_size) {
    const LedgerPiece charge[] = {message->model_name,   message->method, message->task,
                                  message->privacy_unit, message->plan,   message->relations,
                                  message->federation,   message->units,  message->groups};
    const LedgerPiece delivery[] = {message->options, message->features,   message->target, message->positive,
                                    message->model,   message->evaluation, message->units,  message->groups};
    const LedgerPiece import[] = {message->model_name, message->method, message->task};
    if (mapped_size < sizeof(LedgerMessage) || message->magic != kLedgerMagic ||
        message->segment_size > mapped_size)
        return false;
    const auto fits = [message](const LedgerPiece& piece) {
        return piece.offset >= sizeof(LedgerMessage) && piece.offset <= message->segment_size &&
               piece.size <= message->segment_size - piece.offset;
    };
    if (message->work == LedgerWork::kStandBy)
        return true;
    if (message->group_count < 0 || message->group_count > kMaxGroups)
        return false;
    if (message->work == LedgerWork::kCharge)
        return std::all_of(std::begin(charge), std::end(charge), fits) && HasGroupNames(message);
    if (message->work == LedgerWork::kImport && !std::all_of(std::begin(import), std::end(import), fits))
        return false;
    return (message->work == LedgerWork::kDelivery || message->work == LedgerWork::kImport) &&
           std::all_of(std::begin(delivery), std::end(delivery), fits) &&
           message->groups.size == message->group_count * sizeof(LedgerGroupModel) &&
           std::all_of(
               GroupModelsOf(message), GroupModelsOf(message) + message->group_count,
               [&](const LedgerGroupModel& group) { return fits(group.features) && fits(group.model); });
}

void SetLockTimeout(int milliseconds) {
    char timeout[32];
    snprintf(timeout, sizeof timeout, "%d", milliseconds);
    SetConfigOption("lock_timeout", timeout, PGC_SUSET, PGC_S_OVERRIDE);
}

// Nothing that a database or a role has as its default may weaken the commit or change a statement's meaning.
void PinSettings(const LedgerMessage* message) {
    const struct {
        const char* name;
        const char* value;
    } settings[] = {{"search_path", "pg_catalog, pg_temp"},
                    {"default_transaction_read_only", "off"},
                    {"default_transaction_isolation", "read committed"},
                    {"default_transaction_deferrable", "off"},
                    {"session_replication_role", "origin"},
                    {"row_security", "off"},
                    {"exit_on_error", "off"},
                    {"jit", "off"},
                    {"max_parallel_workers_per_gather", "0"}};
    for (const auto& setting : settings)
        SetConfigOption(setting.name, setting.value, PGC_SUSET, PGC_S_OVERRIDE);
    if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
        SetConfigOption("synchronous_commit", "on", PGC_SUSET, PGC_S_OVERRIDE);
    SetLockTimeout(message->lock_timeout_ms);
}

Oid CatalogTable(const char* name) {
    return get_relname_relid(name, get_namespace_oid("dpboost", false));
}

// From here on until the commit nobody else charges in this database, so from here on nothing may wait long:
// whatever the caller was willing to wait, the others are not. What the delivery will need is locked too: a
// caller whose own transaction keeps it locked should learn that before he has paid.
void LockLedger(const LedgerMessage* message) {
    if (!OidIsValid(get_extension_oid("dpboost", true)))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot train in the transaction that creates the extension"),
                        errdetail("The privacy ledger sees the extension only after it was committed."),
                        errhint("Commit, then train.")));
    LockRelationOid(CatalogTable("charge_lock"), ExclusiveLock);
    SetLockTimeout(Min(message->lock_timeout_ms, kLockedTimeoutMs));
    DpboostExtension();
    for (const char* table : {"model", "model_grant", "delivery", "deployment", "evaluation"})
        LockRelationOid(CatalogTable(table), RowExclusiveLock);
}

void ReadPlan(const LedgerMessage* message, LedgerPlan* plan) {
    const char* bytes = PieceOf(message, message->plan);
    CallCore([&] {
        const Cost release = Cost::Parse(std::string_view(bytes, message->plan.size));
        plan->epsilon = release.epsilon;
        plan->delta = release.delta;
        plan->pure_epsilon = release.curve.pure_epsilon;
        plan->calibrated_by = CalibratedByName(release.calibrated_by);
        std::copy(release.curve.rho.begin(), release.curve.rho.end(), plan->rho);
    });
}

[[noreturn]] void RaiseUnserved(const BudgetState* budget) {
    if (budget->privacy_unit[0] != '\0')
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s \"%s\" protects all rows of one \"%s\" together", budget->relation_kind,
                               budget->relation_name, budget->privacy_unit),
                        errdetail("The training took another column or each single row for a person."),
                        errhint("Train again.")));
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s \"%s\" is protected and not read row by row", budget->relation_kind,
                           budget->relation_name),
                    errdetail("It was protected since the training began, or what is read has changed."),
                    errhint("Train again.")));
    pg_unreachable();
}

// What the caller's backend relied on must still be so: the owner may have changed it meanwhile.
void CheckStillAllowed(const LedgerMessage* message, const RelationSet* relations,
                       const BudgetList* budgets) {
    const Oid main = relations->count > 0 ? relations->items[0].relid : InvalidOid;
    bool has_allowance = false;
    for (int i = 0; i < budgets->count; ++i)
        has_allowance |= OidIsValid(budgets->items[i].role) && budgets->items[i].relid == main;
    CheckEarlierUnits(relations, budgets);
    const BudgetState* unserved = UnservedBudget(budgets, relations);
    if (unserved != nullptr)
        RaiseUnserved(unserved);
    if (message->right == TrainRight::kBudget && !has_allowance)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("role \"%s\" has no privacy budget on \"%s\" any more", message->caller_name,
                               relations->count > 0 ? relations->items[0].relation_name : "")));
}

void Answer(LedgerMessage* message, const BudgetList* budgets, const LedgerRecord& record) {
    LedgerAnswer* answer = &message->answer;
    answer->release_id = record.release_id;
    answer->version = record.version;
    memcpy(answer->group_versions, record.group_versions, sizeof answer->group_versions);
    answer->budget_count = Min(budgets->count, kMaxReportedBudgets);
    memcpy(answer->budgets, budgets->items, answer->budget_count * sizeof(BudgetState));
}

// The accounts that were charged are those of the limits as they are now, by these limits.
void CheckUnits(const LedgerMessage* message, const RelationSet* relations, const BudgetList* budgets) {
    bool same = true;
    bool any = false;
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->unit_state_id == 0)
            continue;
        any = true;
        same = same && budget->unit_state_id == message->unit_state_id &&
               budget->epsilon == message->unit_epsilon && budget->delta == message->unit_delta &&
               budget->order == message->unit_order;
    }
    if (!same || any != (message->unit_state_id != 0))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("how persons are accounted for has changed meanwhile"),
                        errdetail("Nothing was charged and nothing was released."), errhint("Try again.")));
    CheckUnitHistory(budgets, relations);
}

// Takes the commit on, unless the caller has given up. From here on nothing can be taken back, so that a cancel breaks
// nothing off, it is not listened to any more.
bool TakeOn(LedgerMessage* message) {
    uint32 expected = kLedgerPending;
    if (!pg_atomic_compare_exchange_u32(&message->state, &expected, kLedgerCommitting))
        return expected == kLedgerCommitting;  // it has, before
    IgnoreSignal(SIGINT);
    QueryCancelPending = false;
    return true;
}

// Last of all, when nothing can refuse the charge any more but a server that dies: how much is written may tell who is
// there, is shown whether it is committed or not, and is paid by those whose accounts are (training/units/unit_rooms.h). So
// whoever gives up while it is written has paid all the same. What was computed from accounts that have changed since is not
// written. Others wait meanwhile, of ten million persons a second or two.
void ChargeUnits(LedgerMessage* message) {
    if (message->unit_state_id == 0)
        return;
    CatalogScope scope;
    CatalogBegin(&scope);
    const char* bytes = PieceOf(message, message->units);
    if (!CountUnitWrite(message->unit_state_id, message->unit_generation, bytes, message->units.size))
        ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                        errmsg("the same persons were charged by another training meanwhile"),
                        errdetail("Nothing was charged and nothing was released."), errhint("Try again.")));
    if (TakeOn(message))
        WriteCountedBuckets(message->unit_state_id, bytes, message->units.size);
    CatalogEnd(&scope);
}

// What a charge is made by, after it was found to be allowed.
struct Terms {
    const RelationSet* relations;
    BudgetList* budgets;  // with the charge
    const double* parts_before;
};

Terms CheckTerms(const LedgerMessage* message, const LedgerPlan& plan) {
    HoldMoment({"relation_name", "protection", "allowance", "population", "population_member", "ledger",
                "group_model", "charge", "total", "model_name", "unit_state", "alert", "alert_raised"});
    const RelationSet* relations =
        WithCommittedSchema(reinterpret_cast<const RelationSet*>(PieceOf(message, message->relations)));
    BudgetList* budgets = LoadBudgets(message->caller, relations);
    CheckStillAllowed(message, relations, budgets);
    CheckUnits(message, relations, budgets);
    CheckPerTrainLimit(budgets, plan.epsilon, plan.delta);
    const double* parts_before = PartsLeft(budgets);
    ChargeBudgets(budgets, PieceOf(message, message->plan), message->plan.size);
    return {relations, budgets, parts_before};
}

// The whole transaction of a charge up to its commit. Who owns a table, what it belongs to and who acts for whom is read as it is, not
// as of the moment: an owner who moves a limit together with that, after the moment, would be seen in part. So if anything was
// committed since, a second look must allow the charge as well.
void PrepareCharge(LedgerMessage* message) {
    LockLedger(message);
    LedgerPlan plan;
    ReadPlan(message, &plan);
    Terms terms = CheckTerms(message, plan);
    if (IsMomentPast()) {
        LetMomentGo();
        terms = CheckTerms(message, plan);
    }
    LedgerRecord record;
    RecordCharge(message, &plan, terms.relations, &record);
    RaiseAlerts(terms.budgets, terms.parts_before, record.release_id);
    Answer(message, terms.budgets, record);
    ChargeUnits(message);
    LetMomentGo();
}

// The same of a delivery. Budgets, rights, privacy units and the model's name were checked at the charge, and
// that binds. It needs no lock: nobody else delivers this release.
void PrepareDelivery(const LedgerMessage* message) {
    DpboostExtension();
    HoldMoment({"ledger", "group_model", "delivery", "model"});
    RecordDelivery(message);
    LetMomentGo();
}

// The same of an import. The lock is the one that keeps names and versions apart.
void PrepareImport(const LedgerMessage* message) {
    LockLedger(message);
    HoldMoment({"model_name", "ledger", "group_model", "model"});
    RecordImport(message);
    LetMomentGo();
}

// Commits if the caller still waits. After this either all is committed or nothing ever will be. Done is said
// only of a commit that has ended as it should: one whose wait for a standby was broken off, by whoever may
// terminate the worker, may be lost with this server.
void CommitOrAbort(LedgerMessage* message) {
    if (!TakeOn(message)) {
        AbortCurrentTransaction();
        return;
    }
    CommitTransactionCommand();
    SendNotifies();
    if (ProcDiePending)
        return;
    pg_write_barrier();
    pg_atomic_write_u32(&message->state, kLedgerDone);
}

// The transaction was aborted: the caller gets the reason.
void AnswerError(LedgerMessage* message, const ErrorData* error) {
    LedgerAnswer* answer = &message->answer;
    const bool locked = error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
    answer->sqlstate = error->sqlerrcode;
    CopyClipped(answer->message, sizeof answer->message,
                locked ? "could not lock the privacy ledger" : error->message);
    CopyClipped(answer->detail, sizeof answer->detail,
                locked ? "Nothing was charged and nothing was released." : error->detail);
    CopyClipped(answer->hint, sizeof answer->hint,
                locked ? "Try again, outside a transaction that locks dpboost's tables." : error->hint);
    pg_write_barrier();
    pg_atomic_write_u32(&message->state, kLedgerFailed);
}

void Serve(LedgerMessage* message) {
    PG_TRY();
    {
        StartTransactionCommand();
        if (message->work == LedgerWork::kCharge) {
            pgstat_report_activity(STATE_RUNNING, "charging the privacy budget");
            PrepareCharge(message);
        } else if (message->work == LedgerWork::kImport) {
            pgstat_report_activity(STATE_RUNNING, "importing a model");
            PrepareImport(message);
        } else {
            pgstat_report_activity(STATE_RUNNING, "storing a model");
            PrepareDelivery(message);
        }
        CommitOrAbort(message);
    }
    PG_CATCH();
    {
        HOLD_INTERRUPTS();
        MemoryContextSwitchTo(TopMemoryContext);
        ErrorData* error = CopyErrorData();
        AbortCurrentTransaction();
        FlushErrorState();
        AnswerError(message, error);
        RESUME_INTERRUPTS();
    }
    PG_END_TRY();
}

// ---- between requests ----

TimestampTz started;  // this worker

// Whether others may soon find no worker slot: more than half are taken.
bool SlotsAreScarce() {
    int taken = 0;
    const int backends = pgstat_fetch_stat_numbackends();
    for (int i = 1; i <= backends; ++i)
        taken += LocalBackendStatus(i)->backendStatus.st_backendType == B_BG_WORKER;
    pgstat_clear_backend_activity_snapshot();
    return 2 * taken > max_worker_processes;
}

// Waits for the next request, outside any transaction: nothing is locked and no snapshot is held. Null if none comes soon, or
// nobody has one any more.
dsm_segment* AwaitNext(LedgerMessage* message, const char* activity) {
    pgstat_report_activity(STATE_IDLE, activity);
    const TimestampTz since = GetCurrentTimestamp();
    while (pg_atomic_read_u32(&message->door) == kDoorOpen) {
        const TimestampTz wanted = Min(static_cast<TimestampTz>(pg_atomic_read_u64(&message->wanted_at)),
                                       TimestampTzPlusMilliseconds(started, kLifeMs));
        const long left = TimestampDifferenceMilliseconds(
            GetCurrentTimestamp(), TimestampTzPlusMilliseconds(Max(since, wanted), kStayMs));
        if (left == 0 || SlotsAreScarce()) {
            TurnDoor(message, kDoorClosed);
            continue;
        }
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Min(kSlotCheckMs, left),
                        PG_WAIT_EXTENSION);
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
    pg_read_barrier();
    return pg_atomic_read_u32(&message->door) == kDoorHanded ? dsm_attach(message->next) : nullptr;
}

// Waits for the delivery of the release that was charged.
dsm_segment* AwaitDelivery(LedgerMessage* charge) {
    if (!charge->next_follows || pg_atomic_read_u32(&charge->state) != kLedgerDone)
        return nullptr;
    return AwaitNext(charge, "waiting for the model");
}

void CheckWhole(dsm_segment* segment) {
    if (!IsWhole(MessageIn(segment), dsm_segment_map_length(segment)))
        elog(ERROR, "the request to the privacy ledger is damaged");
}

// Says where to wake this worker, and only then does it look whether there is something to do (ledger.cpp, HandOver).
void Attend(LedgerMessage* message) {
    message->worker_latch = MyLatch;
    pg_memory_barrier();
}

// A transaction of its own, which a cancel may end again.
void ServeDelivery(dsm_segment* segment) {
    LedgerMessage* message = MessageIn(segment);
    CheckWhole(segment);
    QueryCancelPending = false;
    pqsignal(SIGINT, StatementCancelHandler);
    SetLockTimeout(message->lock_timeout_ms);
    Serve(message);
    SetLatch(message->backend_latch);
    dsm_detach(segment);
}

// A charge or an import, and the delivery of the charge if it comes soon.
void ServeRequest(dsm_segment* segment) {
    LedgerMessage* message = MessageIn(segment);
    CheckWhole(segment);
    Attend(message);
    QueryCancelPending = false;
    pqsignal(SIGINT, StatementCancelHandler);
    PinSettings(message);
    Serve(message);
    SetLatch(message->backend_latch);
    dsm_segment* delivery = AwaitDelivery(message);
    dsm_detach(segment);
    if (delivery != nullptr)
        ServeDelivery(delivery);
}

// However this worker ends: nothing is handed to it any more.
void CloseDoorOnDetach(dsm_segment* segment, Datum) {
    TurnDoor(MessageIn(segment), kDoorClosed);
}

// Whether the session that keeps this worker may hand it another charge.
bool Reopens(LedgerMessage* message) {
    uint32 expected = kDoorHanded;
    return message->stays && !TimestampDifferenceExceeds(started, GetCurrentTimestamp(), kLifeMs) &&
           pg_atomic_compare_exchange_u32(&message->door, &expected, kDoorOpen);
}

// Waits for charges in the segment. A request that its caller has given up meanwhile is not there any more, or commits nothing.
void StandBy(dsm_segment* segment) {
    LedgerMessage* message = MessageIn(segment);
    on_dsm_detach(segment, CloseDoorOnDetach, Datum(0));
    do {
        dsm_segment* charge = AwaitNext(message, "waiting for a charge");
        if (charge == nullptr)
            break;
        ServeRequest(charge);
    } while (Reopens(message));
}

}  // namespace
}  // namespace dpboost

// The entry point. Only the postmaster calls it, for a worker that ledger.cpp has registered; it has no
// SQL function and no function info record, so it cannot be called from SQL.
void dpboost_ledger_worker(Datum main_arg) {
    using namespace dpboost;
    if (MyBgworkerEntry == nullptr)
        elog(ERROR, "not a background worker");
    started = GetCurrentTimestamp();
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    dsm_segment* segment = dsm_attach(DatumGetUInt32(main_arg));
    if (segment == nullptr)
        proc_exit(0);  // the caller gave up already
    LedgerMessage* message = MessageIn(segment);
    CheckWhole(segment);
    Attend(message);
    BackgroundWorkerInitializeConnectionByOid(message->database, InvalidOid, 0);
    if (message->work == LedgerWork::kStandBy)
        StandBy(segment);
    else
        ServeRequest(segment);
    proc_exit(0);
}
