// dpboost_predict_interval: where the target of a row lies with a given probability.
#include "postgres/boundary/printed.h"
#include "postgres/predict/binding.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_predict_interval);
}

using namespace dpboost;

// {lower, upper}.
Datum dpboost_predict_interval(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
        PG_RETURN_NULL();
    const double level = PG_GETARG_FLOAT8(1);
    if (!(level > 0 && level < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("level must be between 0 and 1"),
                        errdetail("It is %s.", PrintedNumber(level))));
    Binding* binding = BindCall(fcinfo, 2);
    if (!binding->model->model.evidence().residuals.has_value())
        ereport(ERROR,
                (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("model \"%s\" has no intervals", binding->name),
                 errhint("Train it with {\"intervals\": true}, for a numeric target.")));
    EncodeFeatures(fcinfo, binding);
    Intervals::Ends ends = {0, 0};
    CallCore([&] {
        ends = binding->model->intervals().Around(binding->model->predictor.Score(binding->codes), level);
    });
    Datum values[2] = {Float8GetDatum(ends.lower), Float8GetDatum(ends.upper)};
    PG_RETURN_ARRAYTYPE_P(
        construct_array(values, 2, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
