#include "postgres/ledger/ledger_layout.h"

namespace dpboost {
namespace {

constexpr int kDeliveryLockTimeoutMs = 3000;  // then another worker tries
constexpr int kDeliveryPieces = 8;            // of every delivery; then come those of the groups

// What goes into a piece of the message.
struct Content {
    LedgerPiece* piece;
    const void* bytes;
    size_t size;
};

Content Text(LedgerPiece* piece, const char* text) {
    return {piece, text == nullptr ? "" : text, text == nullptr ? 1 : strlen(text) + 1};
}

void StartMessage(LedgerMessage* message, LedgerWork work, Oid caller) {
    memset(static_cast<void*>(message), 0, sizeof *message);
    message->magic = kLedgerMagic;
    message->work = work;
    message->database = MyDatabaseId;
    message->backend_latch = MyLatch;
    message->caller = caller;
    strlcpy(message->caller_name, GetUserNameFromId(caller, false), NAMEDATALEN);
}

// However this backend leaves, by an error, a cancel or the end of the process: the segment is detached. A worker that
// waits for what comes next need not wait any longer. One that the session kept leaves when it has done what it was handed; if
// it has not looked at that so far, it is given up with the session.
void AbandonOnDetach(dsm_segment* segment, Datum) {
    LedgerMessage* message = MessageIn(segment);
    Abandon(message);
    if (message->stays)
        pg_atomic_write_u32(&message->door, kDoorClosed);
    else if (!TurnDoor(message, kDoorClosed))
        return;
    if (message->worker_latch != nullptr)
        SetLatch(message->worker_latch);
}

// Gives every piece its place behind the message, and copies all into a new segment, of this size at least.
dsm_segment* LayOut(LedgerMessage* message, const Content* contents, int count, size_t least = 0) {
    size_t end = sizeof(LedgerMessage);
    for (int i = 0; i < count; ++i) {
        contents[i].piece->offset = MAXALIGN(end);
        contents[i].piece->size = contents[i].size;
        end = contents[i].piece->offset + contents[i].size;
    }
    message->segment_size = end;
    dsm_segment* segment = dsm_create(Max(end, least), 0);
    memcpy(static_cast<void*>(MessageIn(segment)), message, sizeof *message);
    pg_atomic_init_u32(&MessageIn(segment)->state, kLedgerPending);
    pg_atomic_init_u32(&MessageIn(segment)->door, message->next_follows ? kDoorOpen : kDoorClosed);
    pg_atomic_init_u64(&MessageIn(segment)->wanted_at, static_cast<uint64>(GetCurrentTimestamp()));
    for (int i = 0; i < count; ++i)
        if (contents[i].size > 0)
            memcpy(static_cast<char*>(dsm_segment_address(segment)) + contents[i].piece->offset,
                   contents[i].bytes, contents[i].size);
    on_dsm_detach(segment, AbandonOnDetach, Datum(0));
    return segment;
}

// One after the other, each with its zero byte.
Content Texts(LedgerPiece* piece, const char* const* texts, int count) {
    StringInfoData all;
    initStringInfo(&all);
    for (int i = 0; i < count; ++i)
        appendBinaryStringInfo(&all, texts[i], static_cast<int>(strlen(texts[i])) + 1);
    return {piece, all.data, static_cast<size_t>(all.len)};
}

}  // namespace

bool Abandon(LedgerMessage* message) {
    uint32 expected = kLedgerPending;
    return pg_atomic_compare_exchange_u32(&message->state, &expected, kLedgerAbandoned) ||
           expected == kLedgerAbandoned || expected == kLedgerFailed;
}

LedgerMessage* MessageIn(dsm_segment* segment) {
    return static_cast<LedgerMessage*>(dsm_segment_address(segment));
}

dsm_segment* LayOutCharge(const ChargeRequest* request, const uint8* claim, int lock_timeout_ms) {
    LedgerMessage message;
    StartMessage(&message, LedgerWork::kCharge, request->caller);
    message.lock_timeout_ms = lock_timeout_ms;
    message.next_follows = request->delivery_follows;
    memcpy(message.claim, claim, kClaimSize);
    message.kind = request->kind;
    message.released = request->model;
    message.right = request->right;
    message.noise_multiplier = request->noise_multiplier;
    message.has_privacy_unit = request->privacy_unit != nullptr;
    message.group_count = request->group_count;
    if (request->units != nullptr) {
        message.unit_state_id = request->units->id;
        message.unit_generation = request->units->generation;
        message.unit_epsilon = request->units->epsilon;
        message.unit_delta = request->units->delta;
        message.unit_order = request->units->order;
    }
    const RelationSet* relations = request->relations;
    const Content contents[] = {
        Text(&message.model_name, request->model_name),
        Text(&message.method, request->method),
        Text(&message.task, request->task),
        Text(&message.privacy_unit, request->privacy_unit),
        Text(&message.federation, request->federation),
        {&message.plan, request->plan_bytes, request->plan_size},
        {&message.relations, relations,
         offsetof(RelationSet, items) + relations->count * sizeof(ReadRelation)},
        {&message.units, request->unit_bytes, request->unit_size},
        Texts(&message.groups, request->group_models, request->group_count),
    };
    return LayOut(&message, contents, lengthof(contents), sizeof message + request->settle_size);
}

dsm_segment* LayOutDelivery(const PaidRelease* paid, const ModelDelivery* delivery) {
    LedgerMessage message;
    StartMessage(&message, LedgerWork::kDelivery, paid->caller);
    message.lock_timeout_ms = kDeliveryLockTimeoutMs;
    memcpy(message.claim, paid->claim, kClaimSize);
    message.release_id = paid->release_id;
    message.deploy = delivery->deploy;
    message.has_positive = delivery->positive != nullptr;
    message.kind = paid->kind;
    message.released.model_id = paid->model_id;
    message.unit_state_id = paid->unit_state_id;
    message.unit_generation = paid->unit_generation;
    message.group_count = paid->group_count;
    LedgerGroupModel groups[kMaxGroups];  // filled in where pieces get their places
    Content contents[kDeliveryPieces + 2 * kMaxGroups] = {
        Text(&message.options, delivery->options),
        Text(&message.features, delivery->features),
        Text(&message.target, delivery->target),
        Text(&message.positive, delivery->positive),
        {&message.model, delivery->model_bytes, delivery->model_size},
        Text(&message.evaluation, delivery->evaluation),
        {&message.units, delivery->unit_bytes, delivery->unit_size},
        {&message.groups, groups, paid->group_count * sizeof(LedgerGroupModel)},
    };
    int count = kDeliveryPieces;
    for (int i = 0; i < paid->group_count; ++i) {
        contents[count++] = Text(&groups[i].features, delivery[i].features);
        contents[count++] = {&groups[i].model, delivery[i].model_bytes, delivery[i].model_size};
    }
    return LayOut(&message, contents, count);
}

dsm_segment* LayOutImport(const ModelImport* import, int lock_timeout_ms) {
    LedgerMessage message;
    StartMessage(&message, LedgerWork::kImport, import->caller);
    message.lock_timeout_ms = lock_timeout_ms;
    message.claimed_epsilon = import->epsilon;
    message.claimed_delta = import->delta;
    const Content contents[] = {
        Text(&message.model_name, import->model_name),
        Text(&message.method, import->method),
        Text(&message.task, import->task),
        Text(&message.options, import->content.options),
        Text(&message.features, import->content.features),
        Text(&message.target, nullptr),
        Text(&message.positive, nullptr),
        {&message.model, import->content.model_bytes, import->content.model_size},
        Text(&message.evaluation, nullptr),
        {&message.units, nullptr, 0},
        {&message.groups, nullptr, 0},
    };
    return LayOut(&message, contents, lengthof(contents));
}

dsm_segment* LayOutStandBy(Oid caller, bool stays) {
    LedgerMessage message;
    StartMessage(&message, LedgerWork::kStandBy, caller);
    message.stays = stays;
    message.next_follows = true;
    return LayOut(&message, nullptr, 0);
}

}  // namespace dpboost
