// dpboost_metrics: exact figures of predictions against the truth, for those who may read the rows. Nothing is private.
#include "learner/evaluation/exact_metrics.h"
#include "training/evaluation/evaluation_json.h"

#include "postgres/boundary/boundary.h"
#include "postgres/columns/source_column.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_metrics_step);
PG_FUNCTION_INFO_V1(dpboost_metrics_final);
}

namespace dpboost {
namespace {

struct Metrics {
    ExactClassMetrics classes;
    ExactValueMetrics values;
    std::string json;
};

// The state of an aggregate. Plain data in its memory context.
struct MetricsState {
    ValueKind kind;
    CoreState<Metrics>* core;
};

MetricsState* NewState(FunctionCallInfo fcinfo, MemoryContext context) {
    auto* state = static_cast<MetricsState*>(MemoryContextAllocZero(context, sizeof(MetricsState)));
    SourceColumn target;
    memset(static_cast<void*>(&target), 0, sizeof target);
    target.name = "target";
    target.type = get_fn_expr_argtype(fcinfo->flinfo, 1);
    CheckColumnType(&target, "argument");
    if (!IsNumber(target.kind) && target.kind != ValueKind::kBoolean)
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("the target has type %s, which has no figures", format_type_be(target.type)),
                 errhint("Compare it with the positive class, as in dpboost_metrics(target = 'yes', ...).")));
    state->kind = target.kind;
    state->core = CoreState<Metrics>::Make(context);
    return state;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// Rows without a target or a prediction are left out.
Datum dpboost_metrics_step(PG_FUNCTION_ARGS) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "called outside an aggregate");
    auto* state =
        PG_ARGISNULL(0) ? NewState(fcinfo, context) : reinterpret_cast<MetricsState*>(PG_GETARG_POINTER(0));
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
        PG_RETURN_POINTER(state);
    const double target = ReadNumber(state->kind, PG_GETARG_DATUM(1));
    const double prediction = PG_GETARG_FLOAT8(2);
    if (state->kind == ValueKind::kBoolean && (prediction < 0 || prediction > 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a prediction is no probability"),
                        errdetail("Of a boolean target, predictions lie between 0 and 1.")));
    if (std::isfinite(target) && std::isfinite(prediction))
        CallCore([&] {
            if (state->kind == ValueKind::kBoolean)
                (*state->core)->classes.Add(prediction, target > 0.5);
            else
                (*state->core)->values.Add(prediction, target);
        });
    PG_RETURN_POINTER(state);
}

Datum dpboost_metrics_final(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    auto* state = reinterpret_cast<MetricsState*>(PG_GETARG_POINTER(0));
    CallCore([&] {
        PgInterrupt interrupt;
        Metrics& metrics = **state->core;
        JsonList list;
        AddFigures(state->kind == ValueKind::kBoolean ? metrics.classes.Figures(interrupt)
                                                      : metrics.values.Figures(),
                   &list);
        metrics.json = list.Object();
    });
    PG_RETURN_DATUM(JsonTextToDatum((*state->core)->json.c_str()));
}
