// dpboost_predict_label and dpboost_predict_proba: what a classifier says, by the names of its classes.
#include "postgres/predict/binding.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_predict_label);
PG_FUNCTION_INFO_V1(dpboost_predict_proba);
}

using namespace dpboost;

namespace {

// The binding of a call on a classifier whose classes have names.
Binding* BindClassifier(FunctionCallInfo fcinfo) {
    Binding* const binding = BindCall(fcinfo, 1);
    const TargetSpec& target = binding->model->model.target();
    if (target.task() == Task::kRegression)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("model \"%s\" predicts a number, not a class", binding->name),
                        errhint("Use dpboost_predict.")));
    if (target.classes().empty())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("model \"%s\" does not know the names of its classes", binding->name),
                        errhint("Use dpboost_predict, which gives the probability of the positive class.")));
    return binding;
}

// The probabilities of the row's classes, in the order of the model's names.
struct ClassProbabilities {
    const std::string* names;
    size_t count;
    double values[kMaxClasses];
};

void PredictClasses(FunctionCallInfo fcinfo, ClassProbabilities* out) {
    Binding* const binding = BindClassifier(fcinfo);
    EncodeFeatures(fcinfo, binding);
    Predictor& predictor = binding->model->predictor;
    out->names = binding->model->model.target().classes().data();
    out->count = binding->model->model.target().classes().size();
    if (predictor.outputs() == 1) {
        const double positive = predictor.Predict(binding->codes);
        out->values[0] = 1 - positive;
        out->values[1] = positive;
        return;
    }
    int64_t scores[kMaxClasses];
    predictor.Scores(binding->codes, scores);
    Softmax(scores, out->count, out->values);
}

}  // namespace

// The most likely class; of several that are equally likely the first, of two the negative one.
Datum dpboost_predict_label(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    ClassProbabilities probabilities;
    PredictClasses(fcinfo, &probabilities);
    size_t best = 0;
    for (size_t k = 1; k < probabilities.count; ++k)
        if (probabilities.values[k] > probabilities.values[best])
            best = k;
    const std::string& label = probabilities.names[best];
    PG_RETURN_TEXT_P(cstring_to_text_with_len(label.data(), static_cast<int>(label.size())));
}

// {"class": probability, ...}
Datum dpboost_predict_proba(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    ClassProbabilities probabilities;
    PredictClasses(fcinfo, &probabilities);
    JsonbPieces object;
    object.Push(WJB_BEGIN_OBJECT);
    for (size_t k = 0; k < probabilities.count; ++k) {
        const std::string& label = probabilities.names[k];
        JsonbValue key;
        key.type = jbvString;
        key.val.string.val = const_cast<char*>(label.data());
        key.val.string.len = static_cast<int>(label.size());
        object.Push(WJB_KEY, &key);
        JsonbValue value;
        value.type = jbvNumeric;
        value.val.numeric =
            DatumGetNumeric(DirectFunctionCall1(float8_numeric, Float8GetDatum(probabilities.values[k])));
        object.Push(WJB_VALUE, &value);
    }
    object.Push(WJB_END_OBJECT);
    PG_RETURN_JSONB_P(object.Whole());
}
