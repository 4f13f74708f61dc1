// The common path of dpboost_train, dpboost_train_on and dpboost_estimate: from a call and the schema to a
// training that rows can be appended to, and from there to its charge, its draws, its model and the result.
// PostgreSQL's half; training/training.h is the core's.
#pragma once

#include "training/training.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/relations.h"
#include "postgres/columns/source_column.h"
#include "postgres/limits/budget.h"
#include "postgres/predict/new_model.h"
#include "postgres/reading/row_sink.h"

namespace dpboost {

// A call, before its columns' domains and budgets are looked up. Plain data.
struct TrainingCall {
    Oid caller;
    TrainRight right;
    const char* model;  // null for an estimate
    Jsonb* options;
    PrivacyArguments privacy;
    SourceColumn target;     // types checked
    SourceColumns features;  // types checked
    const RelationSet* relations;
    const char* unit;  // name of the privacy unit's column, or null
    Oid unit_type;
    Oid progress_relation;  // shown in dpboost_progress; may be InvalidOid
};

// A training under way. Plain data in the memory context in which it began; the core's half goes with it.
struct Training : RowSink {
    TrainingCall call;
    NewModelName model;  // unless it is an estimate
    const BudgetList* budgets;
    CoreState<TrainingCore>* core;
};

// Looks up budgets and domains, checks the options, and fixes the noise. Raises what would make the training
// fail later, before any row is read. The call must live as long as the training.
Training* BeginTraining(const TrainingCall& call);

// How labels and units of a relation are read; for an evaluation too.
void MakeTargetReader(const TargetRule& rule, const SourceColumn& column, TargetReader* reader);
void MakeUnitReader(const char* unit, Oid unit_type, RowSink* sink);

// Has the charge committed, then draws and trains, then has the model committed, and returns the result as
// jsonb. Interrupted before the charge, nothing was drawn and nothing is charged; after it, the charge stays
// and the ledger says that nothing was delivered. The training is over afterwards.
Datum FinishTraining(Training* training);

// What the training would cost, as jsonb; reads no row.
Datum DescribeEstimate(Training* training);

}  // namespace dpboost
