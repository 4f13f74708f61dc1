// The common path of dpboost_train, dpboost_train_on and dpboost_estimate: from a call and the schema to a
// training that rows can be appended to, and from there to its charge, its draws, its model and the result.
// PostgreSQL's half; training/training.h is the core's.
#pragma once

#include "training/federation/columns_of_parties.h"
#include "training/training.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/relations.h"
#include "postgres/columns/source_column.h"
#include "postgres/ledger/ledger.h"
#include "postgres/limits/budget.h"
#include "postgres/predict/catalog_model.h"
#include "postgres/predict/new_model.h"
#include "postgres/reading/row_sink.h"
#include "postgres/units/unit_state.h"

namespace dpboost {

// What a party of a federation is told by others, in the core's terms: columns as all parties have them, who shares the
// noise, and the plan with it. Lives as long as the training.
struct FederatedTerms {
    const PartyColumns* columns;
    NoiseParties parties;
    const char* plan_bytes;
    size_t plan_size;
};

// A call, before its columns' domains and budgets are looked up. Plain data.
struct TrainingCall {
    Oid caller;
    TrainRight right;
    bool partial;  // takes rows for another process, which trains: checks what it can, and never draws
    bool
        rows_only;  // partial, for a training that begins elsewhere or later: no right and no budget is looked at
    const char* model;  // null for an estimate
    Jsonb* options;
    PrivacyArguments privacy;
    SourceColumn target;     // types checked
    SourceColumns features;  // types checked
    const RelationSet* relations;
    const CatalogModel* continued;  // the model that an update goes on from, or null
    const Model* continued_model;   // and its content
    const char* unit;               // name of the privacy unit's column, or null
    Oid unit_type;
    Oid progress_relation;            // shown in dpboost_progress; may be InvalidOid
    const FederatedTerms* federated;  // null: this server trains alone
};

// A training under way. Plain data in the memory context in which it began; the core's half goes with it.
struct Training : RowSink {
    TrainingCall call;
    NewModelName model;  // unless it is an estimate
    const BudgetList* budgets;
    UnitState units;  // the accounts of persons; id 0: they have none
    CoreState<TrainingCore>* core;
    WaitingWorker worker;  // for the charge of a party; none elsewhere
};

// Looks up budgets and domains, checks the options, and fixes the noise. Raises what would make the training
// fail later, before any row is read. The call must live as long as the training.
Training* BeginTraining(const TrainingCall& call);

// How labels and units of a relation are read; for an evaluation too.
void MakeTargetReader(const TargetRule& rule, const SourceColumn& column, TargetReader* reader);
void MakeUnitReader(const char* unit, Oid unit_type, RowSink* sink);

// The first two steps of FinishTraining, for a party of a federation: makes the dataset, and has the charge committed.
// `federation` is for the ledger, see ChargeRequest.
void FinishRows(Training* training);
void PayTraining(Training* training, const char* federation, PaidRelease* paid);
// And its last, where persons have accounts: gives back what the training has not cost them. There is no model to store. A
// session that ends before leaves what was reserved, which is never too little.
void SettleParty(const Training* training, PaidRelease* paid);

// The further steps of FinishTraining, for trainings that are charged together: plans again if the budgets have changed; what is
// to be charged, to be filled up by the caller; draws and trains; what is to be stored; and an error context, of a
// PaidRelease, that says with every error after the charge that there is one.
void CalibrateAgain(Training* training, const BudgetList* budgets);
void FillCharge(const Training* training, ChargeRequest* request);
void DrawModel(Training* training, PaidRelease* paid);
void FillDelivery(const Training* training, ModelDelivery* delivery);
void DescribeCharge(void* paid_release);

// Has the charge committed, then draws and trains, then has the model committed, and returns the result as
// jsonb. Interrupted before the charge, nothing was drawn and nothing is charged; after it, the charge stays
// and the ledger says that nothing was delivered. The training is over afterwards.
Datum FinishTraining(Training* training);

// What the training would cost, as jsonb; reads no row.
Datum DescribeEstimate(Training* training);

}  // namespace dpboost
