// The path of dpboost_evaluate and dpboost_best: from a call and the schema to rows, charge, draw and result. Rights,
// budgets, units, reading and the order of things are those of a training (postgres/train); the core's half is
// training/evaluation_core.h. A party of a federation takes the same steps one by one.
#pragma once

#include "training/evaluation/evaluation_core.h"

#include "postgres/boundary/boundary.h"
#include "postgres/ledger/ledger.h"
#include "postgres/predict/catalog_model.h"
#include "postgres/reading/reading.h"
#include "postgres/train/training.h"

namespace dpboost {

// A call. Plain data.
struct EvaluationCall {
    Oid caller;
    bool choice;
    int model_count;
    const char* const* models;  // names as the call gave them
    Oid relid;
    const char* target;
    PrivacyArguments privacy;
    Jsonb* options;
    const FederatedTerms* federated;  // null: this server evaluates alone
    const CatalogModel* given;        // at a party: the model, which is not in the catalog here
};

// An evaluation under way. Plain data in the memory context in which it began; the core's half goes with it.
struct RunningEvaluation : RowSink {
    const EvaluationCall* call;
    const CatalogModel* models;
    const RelationSet* relations;
    const char* unit;
    Oid unit_type;  // if there is one
    TrainRight right;
    SourceColumn target_column;
    SourceColumn* feature_columns;
    const BudgetList* budgets;
    UnitState units;
    CoreState<EvaluationCore>* core;
    Reading reading;
    WaitingWorker worker;  // for the charge
};

// Everything up to the first row. The relation stays locked until the transaction ends.
RunningEvaluation* BeginEvaluation(const EvaluationCall& call);
// After the last row.
void FinishRows(RunningEvaluation* running);
// Charges. `federation` as in ChargeRequest.
void PayEvaluation(RunningEvaluation* running, const char* federation, PaidRelease* paid);

// A finished evaluation: paid, drawn, and its result committed.
struct FinishedEvaluation {
    CoreState<EvaluationCore>* core;
    PaidRelease paid;
    const char* model;  // the first one's name and owner
    const char* owner;
};

void RunEvaluation(const EvaluationCall& call, FinishedEvaluation* finished);

}  // namespace dpboost
