// dpboost_predict: one row of columns, an array or a row becomes codes, and codes become a prediction. A row costs its
// encoding and the model's own work.
#include "postgres/predict/binding.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_predict);
}

using namespace dpboost;

// The predicted value, or the probability of the positive class.
Datum dpboost_predict(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    Binding* binding = BindCall(fcinfo, 1);
    if (binding->model->model.outputs() > 1)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("model \"%s\" predicts several classes, not one number", binding->name),
                        errhint("Use dpboost_predict_label for the most likely class, or "
                                "dpboost_predict_proba for the probability of each.")));
    EncodeFeatures(fcinfo, binding);
    PG_RETURN_FLOAT8(binding->model->predictor.Predict(binding->codes));
}
