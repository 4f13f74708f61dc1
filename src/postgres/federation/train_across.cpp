// dpboost_train_across, dpboost_update_across and dpboost_estimate_across: a model from the rows of several servers.
#include "postgres/boundary/arguments.h"
#include "postgres/federation/across.h"
#include "postgres/predict/model_cache.h"
#include "postgres/predict/model_lookup.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/named_call.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_across);
PG_FUNCTION_INFO_V1(dpboost_update_across);
PG_FUNCTION_INFO_V1(dpboost_estimate_across);
}

namespace dpboost {

namespace {

// Arguments from `first` on: federation, target, epsilon, delta, features, options.
AcrossCall* ReadTraining(FunctionCallInfo fcinfo, int first) {
    RequireArgument(fcinfo, first + 1, "target");
    AcrossCall* call = NewAcrossCall(fcinfo, first, first + 2, first + 5);
    call->target = NameStr(*PG_GETARG_NAME(first + 1));
    call->features = PG_ARGISNULL(first + 4) ? nullptr : PG_GETARG_ARRAYTYPE_P(first + 4);
    return call;
}

void Deliver(const AcrossCall* call, PaidRelease* paid) {
    const TrainingCore& training = (*call->core)->training();
    ModelDelivery delivery;
    memset(static_cast<void*>(&delivery), 0, sizeof delivery);
    delivery.options = training.options().text.c_str();
    delivery.features = training.features_json().c_str();
    delivery.target = call->target;
    const bool one_class = !training.target().by_number && !training.target().classes;
    delivery.positive = one_class ? training.target().positive.c_str() : nullptr;
    delivery.deploy = training.options().deploy;
    delivery.model_bytes = training.model_bytes().data();
    delivery.model_size = training.model_bytes().size();
    delivery.evaluation = "";
    DeliverModel(paid, &delivery);
    ModelsChanged();
}

Datum DescribeAcross(const AcrossCall* call, const PaidRelease* paid) {
    TrainingResult result;
    memset(static_cast<void*>(&result), 0, sizeof result);
    if (paid != nullptr)
        result = {call->name.name, call->name.owner_name, paid->version, paid->release_id, nullptr, 0};
    const char* text = nullptr;
    CallCore([&] { text = (*call->core)->training().Describe(result).c_str(); });
    return JsonTextToDatum(text);
}

Datum TrainAcross(AcrossCall* call) {
    CheckCanRelease(call->caller, call->model, &call->name);
    call->ledger_name = call->name.name;
    PlanAcross(call);
    PaidRelease paid;
    RunAcross(call, (*call->core)->training().options().method->name, &paid);
    Deliver(call, &paid);
    const Datum result = WithKey(DescribeAcross(call, &paid), "parties", PartyNames(call));
    call->core->Release();
    return result;
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Trains a model on the tables of all parties and returns what it cost.
Datum dpboost_train_across(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    AcrossCall* call = ReadTraining(fcinfo, 1);
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    PG_RETURN_DATUM(TrainAcross(call));
}

// Trains the next version of a model, from a version that is there. Arguments: model, federation, epsilon, delta, options.
Datum dpboost_update_across(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    AcrossCall* call = NewAcrossCall(fcinfo, 1, 2, 4);
    call->kind = FederatedKind::kUpdate;
    call->shared = FindContinued(call->caller, text_to_cstring(PG_GETARG_TEXT_PP(0)));
    call->model = FullName(false, call->shared->owner, call->shared->name);
    call->target = call->shared->target;
    call->features = FeaturesOfModel(call->shared);
    PG_RETURN_DATUM(TrainAcross(call));
}

// What dpboost_train_across with the same arguments would cost, and what it would leave at each party.
Datum dpboost_estimate_across(PG_FUNCTION_ARGS) {
    AcrossCall* call = ReadTraining(fcinfo, 0);
    PlanAcross(call);
    Coordinator& core = **call->core;
    const LinkValue values[] = {TextValue(call->federation->name), BytesValue(core.call_bytes()),
                                BytesValue(core.plan_bytes())};
    CallParties(call, "estimate($1::pg_catalog.name, $2, $3)::text", values, 3);
    StringInfoData parties;
    initStringInfo(&parties);
    for (int i = 0; i < call->federation->count; ++i) {
        CheckAnswer(call->links, i);
        const std::string_view estimate = AnswerOf(call->links, i);
        appendStringInfoString(&parties, i == 0 ? "{" : ", ");
        escape_json(&parties, call->federation->parties[i].name);
        appendStringInfoString(&parties, ": ");
        appendBinaryStringInfo(&parties, estimate.data(), static_cast<int>(estimate.size()));
    }
    appendStringInfoChar(&parties, '}');
    KeepLinks(call->links);
    PG_RETURN_DATUM(WithKey(DescribeAcross(call, nullptr), "parties", parties.data));
}
