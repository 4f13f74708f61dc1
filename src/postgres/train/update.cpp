// dpboost_update and dpboost_estimate_update: the next version of a model goes on from one that is there, with the rows of
// today. Rights, budgets, charge and order of things are those of dpboost_train_on; target, columns and encodings are the
// model's.
#include "postgres/boundary/arguments.h"
#include "postgres/predict/model_lookup.h"
#include "postgres/train/named_call.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_update);
PG_FUNCTION_INFO_V1(dpboost_estimate_update);
}

namespace dpboost {

const CatalogModel* FindContinued(Oid caller, const char* text) {
    auto* model = static_cast<CatalogModel*>(palloc0(sizeof(CatalogModel)));
    FindCatalogModel(caller, text, model);
    if (!model->owned || model->owner == nullptr)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of model \"%s\" to update it", text)));
    if (model->target[0] == '\0')
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("model \"%s\" does not say which column it predicts", text),
                        errdetail("It was imported, or trained on an expression without a name."),
                        errhint("Train the next version from the start, with dpboost_train_on.")));
    return model;
}

void ContinueFrom(const CatalogModel* model, TrainingCall* training) {
    training->continued = model;
    training->continued_model =
        CoreState<Model>::Make(CurrentMemoryContext, ModelBytes{model->content, model->content_size})->get();
}

namespace {

// Arguments: model, relation, epsilon, delta, options.
NamedCall* ReadUpdate(FunctionCallInfo fcinfo) {
    RequireArguments(fcinfo, {"model", "relation", "epsilon"});
    RequireArgument(fcinfo, 4, "options");
    auto* call = static_cast<NamedCall*>(palloc0(sizeof(NamedCall)));
    TrainingCall* training = &call->training;
    training->caller = GetUserId();
    training->privacy.given = true;
    training->privacy.epsilon = PG_GETARG_FLOAT8(2);
    if (!PG_ARGISNULL(3))
        training->privacy.delta = PG_GETARG_FLOAT8(3);
    training->options = PG_GETARG_JSONB_P(4);
    call->relid = PG_GETARG_OID(1);
    const CatalogModel* model = FindContinued(training->caller, text_to_cstring(PG_GETARG_TEXT_PP(0)));
    ContinueFrom(model, training);
    call->target = model->target;
    return call;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// Trains the next version of a model, from a version that is there, and returns what it cost.
Datum dpboost_update(PG_FUNCTION_ARGS) {
    NamedCall* call = ReadUpdate(fcinfo);
    const CatalogModel* model = call->training.continued;
    call->model = FullName(false, model->owner, model->name);
    PrepareCall(call);
    Training* training = BeginTraining(call->training);
    ReadRows(training, call->reading);
    PG_RETURN_DATUM(FinishTraining(training));
}

// What dpboost_update with the same arguments would cost.
Datum dpboost_estimate_update(PG_FUNCTION_ARGS) {
    PG_RETURN_DATUM(EstimateCall(ReadUpdate(fcinfo)));
}
