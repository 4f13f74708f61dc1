// The coordinator of a training, an update or an evaluation on several servers, PostgreSQL's half. It has no rows and need not
// be trusted by the parties: it carries what they sign and adds up what they mask. Order of things: describe, plan, open;
// join, and meanwhile its own ledger row; then the charge at every party; then one step per event; then the result. A step goes to
// all parties at once.
#pragma once

#include "training/federation/coordinator.h"

#include "postgres/federation/links.h"
#include "postgres/ledger/ledger.h"
#include "postgres/predict/catalog_model.h"

namespace dpboost {

// The arguments of a call, and what follows from them. Plain data.
struct AcrossCall {
    FederatedKind kind;
    Oid caller;
    const char* model;           // null for an estimate
    NewModelName name;           // of a training or an update: what its model will be called
    const char* ledger_name;     // what the ledgers of parties call it
    const CatalogModel* shared;  // of an update and an evaluation: the model
    const Federation* federation;
    const char* target;
    ArrayType* features;  // null: all that can be
    Jsonb* options;
    PrivacyArguments privacy;
    Links* links;
    CoreState<Coordinator>* core;
    WaitingWorker worker;  // for this server's own row of the ledger
};

// From the arguments of an SQL function: epsilon, delta behind it, and options, which is the last.
AcrossCall* NewAcrossCall(FunctionCallInfo fcinfo, int federation, int epsilon, int options);

// The names of a model's features.
ArrayType* FeaturesOfModel(const CatalogModel* model);

// Connects to all parties, and has call and plan. Raises what call, schema and options make impossible.
void PlanAcross(AcrossCall* call);
// Calls one of the party functions at all parties, and waits for their answers.
void CallParties(AcrossCall* call, const char* function, const LinkValue* values, int count);
LinkValue TextValue(const char* text);
LinkValue BytesValue(const std::string& bytes);

// From the plan to the common result: all sign, all read their rows, all are charged, all draw. `method` and `task` are for
// this server's ledger. The connections are kept then.
void RunAcross(AcrossCall* call, const char* method, PaidRelease* paid);

// The names of the parties, as a JSON array.
const char* PartyNames(const AcrossCall* call);
// The result with one more key, whose value is JSON.
Datum WithKey(Datum result, const char* key, const char* value);

}  // namespace dpboost
