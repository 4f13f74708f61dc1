// The one way by which a model leaves a training. A background worker locks the ledger, checks every budget,
// writes the charge and the model and commits both, in a transaction that no ROLLBACK of the caller can undo;
// only then does the caller get its result. Any other outcome is an error, and nothing was released.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"
#include "postgres/ledger/budget.h"
#include "postgres/predict/new_model.h"

namespace dpboost {

// What is to be released. All pointers stay the caller's and are only read.
struct ReleaseRequest {
    Oid caller;               // GetUserId() when the SQL function was entered
    TrainRight right;         // as CheckMayTrain answered; kSelect for the aggregate
    const char* model_name;   // as the call gave it
    const char* method;       // "sbdt", ...
    const char* task;         // "regression" or "classification"
    const char* options;      // text of a json object
    const char* features;     // text of a json array
    const char* model_bytes;  // Model::Serialize
    size_t model_size;
    const char* plan_bytes;  // Plan::Serialize: events, curve, epsilon, delta
    size_t plan_size;
    const RelationSet* relations;
    const char* privacy_unit;  // the column by which the training sampled and clipped; nullptr: rows
};

struct ReleaseResult {
    int64 release_id;
    int64 model_id;
    int32 version;        // never used again, also after dpboost_drop_model
    BudgetList* budgets;  // after the charge, for RemainingAsJson; in the current memory context
};

// Raises early, before rows are read, what would make CommitRelease fail for certain: hot standby, read-only
// transaction, parallel worker, a model name that is none or whose owner the caller may not act for. Else the
// name says whose model it will be.
void CheckCanRelease(Oid caller, const char* model_name, NewModelName* name);

// Charges and releases. Raises 53400 when a budget does not allow it, 42501 without the right, 55P03 when the
// ledger is locked for too long (also by the caller's own transaction), 53000 without a worker slot, 55000
// when what was planned for has changed meanwhile. Interruptible; interrupted before the worker's commit,
// nothing is released and nothing charged.
void CommitRelease(const ReleaseRequest* request, ReleaseResult* result);

// Defines the setting dpboost.ledger_timeout; called by _PG_init.
void DefineLedgerSettings();

}  // namespace dpboost
