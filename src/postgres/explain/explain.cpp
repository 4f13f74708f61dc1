// dpboost_explain and dpboost_what_if: why a row gets its prediction, and what it would get otherwise.
#include "model/labels/cell_label.h"
#include "model/labels/time_label.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/row_values.h"
#include "postgres/explain/explained_model.h"
#include "postgres/predict/binding.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_explain);
PG_FUNCTION_INFO_V1(dpboost_what_if);
}

namespace dpboost {

namespace {

Oid FeatureType(FunctionCallInfo fcinfo, const Binding& binding, int feature) {
    if (binding.shape == FeatureShape::kColumns)
        return get_fn_expr_argtype(fcinfo->flinfo, binding.first_feature + feature);
    if (binding.shape == FeatureShape::kArray)
        return binding.element_type;
    if (OidIsValid(binding.object_type))
        return binding.readers[feature].as_number ? FLOAT8OID : TEXTOID;
    return TupleDescAttr(binding.descriptor, binding.fields[feature])->atttypid;
}

// As its type writes it.
char* WrittenValue(Oid type, Datum value) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type, &output, &is_varlena);
    return OidOutputFunctionCall(output, value);
}

// The codes of the row into binding->codes, and its values as texts, NULL for NULL.
char** ReadFeatures(FunctionCallInfo fcinfo, Binding* binding) {
    auto** texts = static_cast<char**>(palloc(sizeof(char*) * binding->features));
    VisitFeatures(fcinfo, binding, [&](int i, bool is_null, Datum value) {
        binding->codes[i] = is_null ? binding->readers[i].missing : ReadCode(binding->readers[i], value);
        texts[i] = is_null ? nullptr : WrittenValue(FeatureType(fcinfo, *binding, i), value);
    });
    return texts;
}

void PutExplanation(const Explainer& explainer, char** texts, const int64_t* contributions, const double* sds,
                    RowWriter* out) {
    const Model& model = explainer.model();
    const size_t features = model.features().size(), outputs = model.outputs();
    for (size_t output = 0; output < outputs; ++output) {
        out->Text(nullptr);
        out->Text(nullptr);
        out->Band(explainer.offset() + explainer.InUnits(explainer.base_value(output)), kNotKnown);
        out->Text(ClassOf(model, output));
        out->Finish();
        for (size_t feature = 0; feature < features; ++feature) {
            const size_t at = feature * outputs + output;
            out->Text(&model.features()[feature].name());
            out->CString(texts[feature]);
            out->Band(explainer.InUnits(contributions[at]), sds[at]);
            out->Text(ClassOf(model, output));
            out->Finish();
        }
    }
}

// The row as it is in binding->codes.
void PutPredictions(Binding* binding, const std::string& label, double lower, double upper, RowWriter* out) {
    CachedModel* cached = binding->model;
    const size_t outputs = cached->model.outputs();
    double predictions[kMaxClasses];
    if (outputs == 1) {
        predictions[0] = cached->predictor.Predict(binding->codes);
    } else {
        int64_t scores[kMaxClasses];
        cached->predictor.Scores(binding->codes, scores);
        Softmax(scores, outputs, predictions);
    }
    for (size_t output = 0; output < outputs; ++output) {
        out->Text(&label);
        out->Number(lower);
        out->Number(upper);
        out->Number(predictions[output]);
        out->Text(ClassOf(cached->model, output));
        out->Finish();
    }
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_explain(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    RowWriter out(store, descriptor);
    Binding* binding = BindCall(fcinfo, 1);
    char** texts = ReadFeatures(fcinfo, binding);
    Explainer* explainer = ExplainerOf(binding->model);
    const size_t figures = binding->features * binding->model->model.outputs();
    auto* contributions = static_cast<int64_t*>(palloc(sizeof(int64_t) * figures));
    auto* sds = static_cast<double*>(palloc(sizeof(double) * figures));
    CallCore([&] { explainer->Explain(binding->codes, contributions, sds); });
    PutExplanation(*explainer, texts, contributions, sds, &out);
    return Datum(0);
}

Datum dpboost_what_if(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "feature"});
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    RowWriter out(store, descriptor);
    Binding* binding = BindCall(fcinfo, 2);
    EncodeFeatures(fcinfo, binding);
    const size_t feature = FeatureArgument(fcinfo, 1, *binding->model, binding->name);
    const FeatureSpec& spec = binding->model->model.features()[feature];
    const ValueKind kind = binding->readers[feature].kind;
    const TimeColumn time = kind == ValueKind::kDate        ? TimeColumn::kDate
                            : kind == ValueKind::kTimestamp ? TimeColumn::kTimestamp
                                                            : TimeColumn::kNone;
    auto* label = CoreState<std::string>::Make(CurrentMemoryContext);
    for (uint32_t code = 0; code < spec.cells(); ++code) {
        const bool bin = spec.ordered() && code < spec.bins();
        CallCore([&] {
            **label = CellLabel(spec, code);
            if (time != TimeColumn::kNone)
                **label = WithTimes(**label, time);
        });
        binding->codes[feature] = static_cast<uint16_t>(code);
        PutPredictions(binding, **label, bin ? spec.CellLower(code) : kNotKnown,
                       bin ? spec.CellUpper(code) : kNotKnown, &out);
        CHECK_FOR_INTERRUPTS();
    }
    label->Release();
    return Datum(0);
}
