// dpboost_evaluate, dpboost_best, and which model a name means.
#include "postgres/boundary/arguments.h"
#include "postgres/evaluate/evaluation.h"
#include "postgres/predict/model_lookup.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_evaluate);
PG_FUNCTION_INFO_V1(dpboost_best);
PG_FUNCTION_INFO_V1(dpboost_model_id);
}

namespace dpboost {
namespace {

// Arguments 1 to 3: relation, target, epsilon.
EvaluationCall* ReadCall(FunctionCallInfo fcinfo, int options) {
    RequireArgument(fcinfo, options, "options");
    auto* call = static_cast<EvaluationCall*>(palloc0(sizeof(EvaluationCall)));
    call->caller = GetUserId();
    call->relid = PG_GETARG_OID(1);
    call->target = pstrdup(NameStr(*PG_GETARG_NAME(2)));
    call->privacy.given = true;
    call->privacy.epsilon = PG_GETARG_FLOAT8(3);
    call->options = PG_GETARG_JSONB_P(options);
    return call;
}

const char** ModelNames(ArrayType* models, int* count) {
    Datum* values;
    bool* nulls;
    deconstruct_array(models, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, count);
    auto** names = static_cast<const char**>(palloc(sizeof(char*) * (*count + 1)));
    for (int i = 0; i < *count; ++i) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a model's name is NULL")));
        names[i] = TextDatumGetCString(values[i]);
    }
    return names;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// Evaluates a model on a relation and returns its figures.
Datum dpboost_evaluate(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "relation", "target", "epsilon"});
    EvaluationCall* call = ReadCall(fcinfo, 5);
    if (!PG_ARGISNULL(4))
        call->privacy.delta = PG_GETARG_FLOAT8(4);
    const char* model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    call->models = &model;
    call->model_count = 1;
    FinishedEvaluation finished;
    RunEvaluation(*call, &finished);
    const BudgetList* budgets = finished.paid.budgets;
    const TrainingResult result = {
        finished.model,           finished.owner == nullptr ? "" : finished.owner, finished.paid.version,
        finished.paid.release_id, RemainingBudgets(budgets, nullptr, 0),           budgets->count};
    const char* described = nullptr;
    CallCore([&] { described = (*finished.core)->Describe(result).c_str(); });
    const Datum json = JsonTextToDatum(described);
    finished.core->Release();
    PG_RETURN_DATUM(json);
}

// Chooses among models and returns the name of one, as the call gave it.
Datum dpboost_best(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"models", "relation", "target", "epsilon"});
    EvaluationCall* call = ReadCall(fcinfo, 4);
    call->choice = true;
    call->models = ModelNames(PG_GETARG_ARRAYTYPE_P(0), &call->model_count);
    FinishedEvaluation finished;
    RunEvaluation(*call, &finished);
    const size_t chosen = (*finished.core)->chosen();
    finished.core->Release();
    PG_RETURN_TEXT_P(cstring_to_text(call->models[chosen]));
}

Datum dpboost_model_id(PG_FUNCTION_ARGS) {
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    ModelText read;
    ModelEntry entry;
    ReadModelText(name, strlen(name), NameUse::kRead, &read);
    FindModel(GetUserId(), read, &entry);
    const int64 model_id = entry.model_id;
    CloseModelEntry(&entry);
    PG_RETURN_INT64(model_id);
}
