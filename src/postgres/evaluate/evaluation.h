// The path of dpboost_evaluate and dpboost_best: from a call and the schema to rows, charge, draw and result. Rights,
// budgets, units, reading and the order of things are those of a training (postgres/train); the core's half is
// training/evaluation_core.h.
#pragma once

#include "training/evaluation/evaluation_core.h"

#include "postgres/boundary/boundary.h"
#include "postgres/ledger/ledger.h"

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
};

// A finished evaluation: paid, drawn, and its result committed.
struct FinishedEvaluation {
    CoreState<EvaluationCore>* core;
    PaidRelease paid;
    const char* model;  // the first one's name and owner
    const char* owner;
};

void RunEvaluation(const EvaluationCall& call, FinishedEvaluation* finished);

}  // namespace dpboost
