// How a training pays and how its model leaves it. Nothing is drawn before it is paid: CommitCharge has a
// background worker check every budget and commit the charge, in a transaction that no ROLLBACK of the caller
// can undo, and only what it gives back can train. DeliverModel has the model committed the same way. What
// goes wrong in between leaves a charge without a model, and the ledger says so; never a model without its
// charge.
#pragma once

#include "training/paid_charge.h"

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"
#include "postgres/limits/budget.h"
#include "postgres/predict/new_model.h"
#include "postgres/units/unit_state.h"

namespace dpboost {

// What a release gives. Of all but a training the model is there already.
enum class ReleaseKind : int32 {
    kTraining = 1,
    kEvaluation = 2,
    kChoice = 3,  // of one of several models
};

// A model that a release is about, as the catalog numbers it.
struct ReleasedModel {
    int64 name_id;
    int64 model_id;
    int32 version;
};

// A worker that waits a moment to be handed a request. Plain data; the segment goes with the transaction.
struct WaitingWorker {
    dsm_segment* segment;  // null: there is none
    BackgroundWorkerHandle* handle;
    bool kept;  // by the session: not the transaction's to give up
};

// What is to be paid for. All pointers stay the caller's and are only read.
struct ChargeRequest {
    Oid caller;        // GetUserId() when the SQL function was entered
    TrainRight right;  // as CheckMayTrain answered; kSelect for the aggregate
    ReleaseKind kind;
    ReleasedModel model;     // unless it is a training
    const char* model_name;  // of a training: as the call gave it
    const char* method;      // "sbdt", ...
    const char* task;        // "regression" or "classification"
    const char* plan_bytes;  // Plan::Serialize: events, curve, epsilon, delta
    size_t plan_size;
    double noise_multiplier;  // of the main mechanism, for people
    const RelationSet* relations;
    const char* privacy_unit;  // the column by which the training sampled and clipped; nullptr: rows
    const char* federation;    // {"federation", "roster", "session"} of one with other servers; nullptr: none
    const UnitState* units;    // whose accounts are charged; nullptr or id 0: nobody's
    const char* unit_bytes;    // UnitAccount::Reserve
    size_t unit_size;
    size_t settle_size;  // of what will be settled: there must be room for it before anything is charged
    // One model for each of several groups, of which nobody is in two (disjoint_groups.h). The plan is that of each of them;
    // model_name is what their names begin with. 0: one model.
    const char* const* group_models;
    int group_count;
    bool delivery_follows;   // in this call of an SQL function: the worker may wait for it
    WaitingWorker* waiting;  // for this charge, from StartEarly, which CommitCharge uses up; nullptr: none
};

constexpr int kMaxGroups = 64;

constexpr int kClaimSize = 16;

// A committed charge: the right to draw what was planned, once, and to store one model; of groups once for each. Its name,
// version, method, epsilon and delta are those of the charge.
struct PaidRelease {
    Oid caller;
    ReleaseKind kind;
    int64 model_id;  // of all but a training
    int64 release_id;
    int32 version;            // never used again, also if no model comes of it
    uint8 claim[kClaimSize];  // the secret by which the ledger knows the training again
    BudgetList* budgets;      // after the charge; in the current memory context
    const char* plan_bytes;   // what was charged, likewise; null once there is a receipt
    size_t plan_size;
    int64 unit_state_id;    // of the accounts that were charged; 0: none
    int64 unit_generation;  // since that
    int32 group_count;      // as in the request
    int32 receipts;         // that were given
    int32 group_versions[kMaxGroups];
    WaitingWorker waiting;    // that of the charge may still wait for the delivery
    WaitingWorker* stood_by;  // until the charge is there: as in the request
    TimestampTz deadline;     // of the wait for the charge
    bool delivery_follows;    // as in the request
};

// Core side: gives the receipt by which a training draws, once for each charge. Throws kInternal without one.
//
// Of a charge for k disjoint groups it gives k. Neighbours: add or remove one unit, all of whose rows are in the same group.
// Theorem (parallel composition): each group's model is made by the plan's mechanism from that group's rows and random numbers
// of its own, so the joint distribution is a product, in which one factor alone differs between neighbours. Every divergence
// of the product is then that factor's, which the plan bounds, whichever group it is: at each Renyi order, as a privacy loss
// distribution and as a trade-off curve. That there are k models, and for which groups, is public.
class Cashier {
  public:
    static PaidCharge Receipt(PaidRelease* paid);
};

// The model of a paid release. All pointers stay the caller's and are only read.
struct ModelDelivery {
    const char* options;      // text of a json object
    const char* features;     // text of a json array
    const char* target;       // name of what it predicts
    const char* positive;     // the positive class, or null
    bool deploy;              // it goes live
    const char* model_bytes;  // Model::Serialize
    size_t model_size;
    const char* evaluation;  // text of a json object; empty: the training had no hold-out
    const char* unit_bytes;  // UnitAccount::Settle: what is given back
    size_t unit_size;        // 0: nothing
};

// Raises early, before rows are read, what would make CommitCharge fail for certain: hot standby, read-only
// transaction, parallel worker, a model name that is none or whose owner the caller may not act for. Else the
// name says whose model it will be.
void CheckCanRelease(Oid caller, const char* model_name, NewModelName* name);
// The same where there is no new model.
void CheckCanCharge();

// Starts the worker of a charge that is about to come, so that it starts while rows are read. It waits half a second at the
// most, holds nothing meanwhile, and leaves when slots are scarce or the transaction ends; without it, or without a free
// slot now, CommitCharge starts one. Charges nothing.
void StartEarly(Oid caller, WaitingWorker* waiting);
// The same of a worker that the session keeps: the one that has served it a moment ago or is about to start, or a new one. It waits half a second
// for the next charge after each that it has done, but not when slots are scarce, nor longer than ten seconds in all, nor when
// the session has ended.
void StartOrKeep(Oid caller, WaitingWorker* waiting);
// Where a training goes on in steps: the worker that the session keeps, and the one that waits for this release's delivery,
// wait half a second from now on, within these limits.
void StayOn(const PaidRelease* paid);

// Charges. Raises 53400 when a budget does not allow it, 42501 without the right, 55P03 when the ledger is
// locked for too long (also by the caller's own transaction), 53000 without a worker slot, 55000 when what
// was planned for has changed meanwhile, 40001 when the same persons were charged meanwhile: then nothing is charged. Raises 08007 when it is not known whether
// the worker has committed. Interruptible; interrupted before the worker's commit, nothing is charged. After
// any error nothing may be drawn.
void CommitCharge(const ChargeRequest* request, PaidRelease* paid);

// The same in two halves: BeginCharge has the worker begin, AwaitCharge waits for its answer. What the caller does in between
// draws nothing, and whatever ends it early, ends as an interrupted CommitCharge does. ChargedSoFar is the release, if it is
// known to be committed, or 0.
void BeginCharge(const ChargeRequest* request, PaidRelease* paid);
void AwaitCharge(PaidRelease* paid);
int64 ChargedSoFar(const PaidRelease* paid);

// Stores the model of a paid release. Waits for a worker slot and for locks as long as the caller does; a
// cancel ends it. Raises 40P01 if what it waits for waits for the caller's transaction. After an error there
// is no model, unless it was a cancel that came too late.
void DeliverModel(PaidRelease* paid, const ModelDelivery* delivery);
// The same of a release of groups, in one commit: a model for each. Options, target and the like are those of the first.
void DeliverGroups(PaidRelease* paid, const ModelDelivery* deliveries);

// A model that was trained elsewhere. All pointers stay the caller's and are only read.
struct ModelImport {
    Oid caller;
    const char* model_name;  // as the call gave it
    const char* method;      // this and what follows as its file claims
    const char* task;
    double epsilon;
    double delta;
    ModelDelivery content;
};

// Stores an imported model under the caller's name, in a commit of its own; charges nothing. Raises what CommitCharge
// raises, but for budgets and rights to train.
void ImportModel(const ModelImport* import);

// The same of an evaluation's or a choice's result, the text of a json object.
inline void DeliverEvaluation(PaidRelease* paid, const char* result) {
    ModelDelivery delivery;
    memset(static_cast<void*>(&delivery), 0, sizeof delivery);
    delivery.model_bytes = "";
    delivery.evaluation = result;
    DeliverModel(paid, &delivery);
}

// Defines the setting dpboost.ledger_timeout; called by _PG_init.
void DefineLedgerSettings();

}  // namespace dpboost
