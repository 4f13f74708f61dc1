// Requests to the ledger worker that no backend of dpboost's would make: damaged ones, and deliveries by
// someone who has not paid. Only C code that a superuser has installed can do this; the worker must stay
// right all the same.
#include "postgres/ledger/ledger_message.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_fault_late_worker);
PG_FUNCTION_INFO_V1(dpboost_fault_request);
}

namespace dpboost {
namespace {

void SetPiece(LedgerMessage* message, LedgerPiece* piece, const char* text) {
    piece->offset = message->segment_size;
    piece->size = strlen(text) + 1;
    memcpy(reinterpret_cast<char*>(message) + piece->offset, text, piece->size);
    message->segment_size += MAXALIGN(piece->size);
}

// A whole request to deliver the model "x".
void FillDelivery(LedgerMessage* message, int64 release_id, const bytea* claim, Oid caller) {
    message->magic = kLedgerMagic;
    pg_atomic_init_u32(&message->state, kLedgerPending);
    message->segment_size = sizeof(LedgerMessage);
    message->database = MyDatabaseId;
    message->backend_latch = MyLatch;
    message->lock_timeout_ms = 1000;
    message->work = LedgerWork::kDelivery;
    message->kind = ReleaseKind::kTraining;
    message->deploy = true;
    message->caller = caller;
    strlcpy(message->caller_name, GetUserNameFromId(caller, false), NAMEDATALEN);
    memcpy(message->claim, VARDATA_ANY(claim), Min(VARSIZE_ANY_EXHDR(claim), sizeof message->claim));
    message->release_id = release_id;
    SetPiece(message, &message->options, "{}");
    SetPiece(message, &message->features, "[]");
    SetPiece(message, &message->target, "y");
    SetPiece(message, &message->positive, "");
    SetPiece(message, &message->model, "x");
    SetPiece(message, &message->evaluation, "");
    message->units = {sizeof(LedgerMessage), 0};
    message->groups = {sizeof(LedgerMessage), 0};
}

// A model for one group, whole: but the release may have none.
void AddGroup(LedgerMessage* message) {
    message->groups = {message->segment_size, sizeof(LedgerGroupModel)};
    message->segment_size += MAXALIGN(sizeof(LedgerGroupModel));
    const LedgerGroupModel group = {message->features, message->model};
    memcpy(reinterpret_cast<char*>(message) + message->groups.offset, &group, sizeof group);
    message->group_count = 1;
}

void Damage(LedgerMessage* message, const char* kind) {
    if (strcmp(kind, "magic") == 0)
        message->magic++;
    else if (strcmp(kind, "size") == 0)
        message->segment_size = size_t{1} << 40;
    else if (strcmp(kind, "piece") == 0)
        message->model.size = message->segment_size;
    else if (strcmp(kind, "piece before") == 0)
        message->model.offset = 0;
    else if (strcmp(kind, "work") == 0)
        message->work = static_cast<LedgerWork>(7);
    else if (strcmp(kind, "groups") == 0)
        AddGroup(message);
    else if (strcmp(kind, "groups without models") == 0)
        message->group_count = 1;
    else if (strcmp(kind, "too many groups") == 0)
        message->group_count = kMaxGroups + 1;
    else if (strcmp(kind, "group piece") == 0) {
        AddGroup(message);
        message->segment_size = message->groups.offset + message->groups.size;
        reinterpret_cast<LedgerGroupModel*>(reinterpret_cast<char*>(message) + message->groups.offset)
            ->model.size = message->segment_size;
    } else if (strcmp(kind, "charge") == 0)
        message->work = LedgerWork::kCharge;  // without the pieces of one
}

BackgroundWorkerHandle* Register(BackgroundWorker* worker) {
    BackgroundWorkerHandle* handle;
    if (!RegisterDynamicBackgroundWorker(worker, &handle))
        elog(ERROR, "no worker slot");
    return handle;
}

}  // namespace
}  // namespace dpboost

// A worker that is too late: the caller has given up, and its memory is gone. It ends, and harms nobody.
Datum dpboost_fault_late_worker(PG_FUNCTION_ARGS) {
    using namespace dpboost;
    (void)fcinfo;
    dsm_segment* segment = dsm_create(sizeof(LedgerMessage), 0);
    BackgroundWorker worker = LedgerWorker(segment);
    dsm_detach(segment);
    BackgroundWorkerHandle* handle = Register(&worker);
    PG_RETURN_BOOL(WaitForBackgroundWorkerShutdown(handle) == BGWH_STOPPED);
}

// Sends the request and says how it ended.
Datum dpboost_fault_request(PG_FUNCTION_ARGS) {
    using namespace dpboost;
    const char* kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const bool is_short = strcmp(kind, "short") == 0;
    const size_t size = is_short ? 16 : sizeof(LedgerMessage) + 256;
    dsm_segment* segment = dsm_create(size, 0);
    auto* message = static_cast<LedgerMessage*>(dsm_segment_address(segment));
    memset(static_cast<void*>(message), 0, size);
    if (!is_short) {
        FillDelivery(message, PG_GETARG_INT64(1), PG_GETARG_BYTEA_PP(2), PG_GETARG_OID(3));
        Damage(message, kind);
    }
    BackgroundWorker worker = LedgerWorker(segment);
    WaitForBackgroundWorkerShutdown(Register(&worker));
    const uint32 state = is_short ? static_cast<uint32>(kLedgerPending) : pg_atomic_read_u32(&message->state);
    const char* result = "no answer";
    if (state == kLedgerDone)
        result = "done";
    else if (state == kLedgerFailed)
        result = psprintf("%s: %s", unpack_sql_state(message->answer.sqlstate), message->answer.message);
    dsm_detach(segment);
    PG_RETURN_TEXT_P(cstring_to_text(result));
}
