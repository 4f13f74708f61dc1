// dpboost_evaluate_across: how good a model is on the rows of several servers.
#include "postgres/boundary/arguments.h"
#include "postgres/federation/across.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_evaluate_across);
}

using namespace dpboost;

// Arguments: model, federation, target, epsilon, delta, options.
Datum dpboost_evaluate_across(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    RequireArgument(fcinfo, 2, "target");
    CheckCanCharge();
    AcrossCall* call = NewAcrossCall(fcinfo, 1, 3, 5);
    call->kind = FederatedKind::kEvaluation;
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    auto* model = static_cast<CatalogModel*>(palloc0(sizeof(CatalogModel)));
    FindCatalogModel(call->caller, call->model, model);
    call->shared = model;
    call->ledger_name = model->name;
    call->target = NameStr(*PG_GETARG_NAME(2));
    call->features = FeaturesOfModel(model);
    PlanAcross(call);
    PaidRelease paid;
    RunAcross(call, "evaluate", &paid);
    EvaluationCore& core = (*call->core)->evaluation();
    DeliverEvaluation(&paid, core.stored_json().c_str());
    const TrainingResult result = {
        model->name, model->owner == nullptr ? "" : model->owner, paid.version, paid.release_id, nullptr, 0};
    const char* described = nullptr;
    CallCore([&] { described = core.Describe(result).c_str(); });
    const Datum json = WithKey(JsonTextToDatum(described), "parties", PartyNames(call));
    call->core->Release();
    PG_RETURN_DATUM(json);
}
