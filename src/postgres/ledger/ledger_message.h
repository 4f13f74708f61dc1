// What the backend of a training and the ledger worker say to each other, in one segment of dynamic shared
// memory: the request, the answer, and a state that decides a race in favour of exactly one outcome. Plain
// data only.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"
#include "postgres/ledger/ledger.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// The worker commits only if it turns kPending into kCommitting, and the backend gives up only if it turns
// kPending into kAbandoned: one of them wins, and after kAbandoned nothing is ever committed.
enum LedgerState : uint32 {
    kLedgerPending,
    kLedgerCommitting,
    kLedgerDone,
    kLedgerFailed,
    kLedgerAbandoned,
};

// After a charge the worker waits a moment for the delivery of the same release, which saves the start of another one; one
// that is started while rows are read waits so for the charge. It leaves only if it turns kDoorOpen into kDoorClosed, and the
// backend hands the next request over only if it turns it into kDoorHanded: so what was handed over is looked at, unless the
// worker dies. One that a session keeps turns kDoorHanded into kDoorOpen when it has done what it was handed, unless the
// session has closed the door for good.
enum LedgerDoor : uint32 {
    kDoorOpen,
    kDoorHanded,
    kDoorClosed,
};

enum class LedgerWork : int32 {
    kCharge = 1,
    kDelivery = 2,
    kImport = 3,
    kStandBy = 4,  // nothing yet: a charge may be handed over
};

// More budgets than this are all checked, but only these are reported back.
constexpr int kMaxReportedBudgets = 64;
constexpr uint32 kLedgerMagic = 0x64706c7c;  // another one for another layout

// A piece of the segment behind the message.
struct LedgerPiece {
    size_t offset;
    size_t size;
};

// What is a group's own of its model.
struct LedgerGroupModel {
    LedgerPiece features;
    LedgerPiece model;
};

struct LedgerAnswer {
    int64 release_id;
    int32 version;
    int32 group_versions[kMaxGroups];
    int32 budget_count;
    BudgetState budgets[kMaxReportedBudgets];
    int sqlstate;
    char message[1024];
    char detail[1024];
    char hint[1024];
};

struct LedgerMessage {
    uint32 magic;
    pg_atomic_uint32 state;
    size_t segment_size;
    Oid database;
    Latch* backend_latch;
    int lock_timeout_ms;

    LedgerWork work;
    ReleaseKind kind;
    ReleasedModel released;  // unless it is a training
    Oid caller;
    char caller_name[NAMEDATALEN];
    uint8 claim[kClaimSize];

    // of a charge; texts end with a zero byte, which is counted
    TrainRight right;
    bool has_privacy_unit;
    double noise_multiplier;
    LedgerPiece model_name;
    LedgerPiece method;
    LedgerPiece task;
    LedgerPiece privacy_unit;
    LedgerPiece plan;
    LedgerPiece relations;   // a RelationSet
    LedgerPiece federation;  // text of a json object; empty: none
    double unit_epsilon;     // the limit by which the accounts were charged
    double unit_delta;
    uint32 unit_order;

    // of both; of a charge the names of the groups' models, of a delivery a LedgerGroupModel for each
    int32 group_count;  // 0: one model
    LedgerPiece groups;

    // of a charge, too, and of a worker that stands by: where it waits for the next request
    bool next_follows;
    pg_atomic_uint32 door;
    Latch* worker_latch;
    dsm_handle next;             // its segment; once the door says kDoorHanded
    bool stays;                  // of one that stands by: its session keeps it
    pg_atomic_uint64 wanted_at;  // when the session has last said that a request will come, a TimestampTz

    // of both; what is to be written into accounts, if anything
    int64 unit_state_id;  // 0: nobody has one
    int64 unit_generation;
    LedgerPiece units;

    // of an import, beside model_name, method, task and what a delivery brings
    double claimed_epsilon;
    double claimed_delta;

    // of a delivery
    int64 release_id;
    bool deploy;
    bool has_positive;
    LedgerPiece options;
    LedgerPiece features;
    LedgerPiece target;
    LedgerPiece positive;
    LedgerPiece model;
    LedgerPiece evaluation;

    LedgerAnswer answer;
};

inline const char* PieceOf(const LedgerMessage* message, const LedgerPiece& piece) {
    return reinterpret_cast<const char*>(message) + piece.offset;
}

inline const LedgerGroupModel* GroupModelsOf(const LedgerMessage* message) {
    return reinterpret_cast<const LedgerGroupModel*>(PieceOf(message, message->groups));
}

// True if the door was open and is now as asked for.
inline bool TurnDoor(LedgerMessage* message, LedgerDoor door) {
    uint32 expected = kDoorOpen;
    return pg_atomic_compare_exchange_u32(&message->door, &expected, door);
}

// The worker that is to do what the message in the segment asks for.
inline BackgroundWorker LedgerWorker(dsm_segment* segment) {
    BackgroundWorker worker = {};
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment));
    worker.bgw_notify_pid = MyProcPid;
    strlcpy(worker.bgw_name, "dpboost ledger", BGW_MAXLEN);
    strlcpy(worker.bgw_type, "dpboost ledger", BGW_MAXLEN);
    strlcpy(worker.bgw_library_name, "$libdir/dpboost", BGW_MAXLEN);
    strlcpy(worker.bgw_function_name, "dpboost_ledger_worker", BGW_MAXLEN);
    return worker;
}

// The texts that the worker sends back in an error, cut where a character ends.
inline void CopyClipped(char* to, size_t size, const char* from) {
    int length =
        from == nullptr ? 0 : pg_mbcliplen(from, static_cast<int>(strlen(from)), static_cast<int>(size) - 1);
    memcpy(to, from == nullptr ? "" : from, length);
    to[length] = '\0';
}

}  // namespace dpboost
