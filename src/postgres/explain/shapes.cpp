// dpboost_importance, dpboost_shape, dpboost_interaction: what a model says as a whole.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/row_values.h"
#include "postgres/explain/explained_model.h"
#include "postgres/predict/time_columns.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_importance);
PG_FUNCTION_INFO_V1(dpboost_shape);
PG_FUNCTION_INFO_V1(dpboost_interaction);
}

namespace dpboost {

namespace {

const std::string* FeatureName(const Model& model, size_t feature) {
    return &model.features()[feature].name();
}

// The result of a core function, kept until the current memory context is reset.
template <class T>
using Kept = CoreState<std::vector<T>>;

// What a number of the feature was when the model was trained. Labels say it as a date or a time.
TimeColumn TimeOf(const std::vector<TimeColumn>& times, size_t feature) {
    return feature < times.size() ? times[feature] : TimeColumn::kNone;
}

void PutShape(Explainer* explainer, size_t feature, size_t output, TimeColumn time, RowWriter* out) {
    const Model& model = explainer->model();
    auto* cells = Kept<ShapeCell>::Make(CurrentMemoryContext);
    CallCore([&] {
        **cells = explainer->Shape(feature, output);
        for (ShapeCell& cell : **cells)
            if (time != TimeColumn::kNone)
                cell.label = WithTimes(cell.label, time);
    });
    for (const ShapeCell& cell : **cells) {
        const bool missing = cell.code == model.features()[feature].missing();
        out->Text(FeatureName(model, feature));
        out->Whole(static_cast<int32>(cell.code), missing);
        out->Text(&cell.label);
        out->Number(cell.lower);
        out->Number(cell.upper);
        out->Band(cell.contribution, cell.sd);
        out->Number(cell.rows);
        out->Boolean(cell.enough_rows, !explainer->masses().released());
        out->Text(ClassOf(model, output));
        out->Finish();
        CHECK_FOR_INTERRUPTS();
    }
    cells->Release();
}

// Rows in the order of the parts: those of the last feature run fastest.
void PutInteraction(const Explainer& explainer, const Interaction& interaction, size_t output,
                    RowWriter* out) {
    const Model& model = explainer.model();
    const size_t width = interaction.features.size();
    auto* at = static_cast<size_t*>(palloc0(sizeof(size_t) * width));
    for (size_t cell = 0; cell < interaction.contributions.size(); ++cell) {
        out->Texts(width, [&](size_t i) { return FeatureName(model, interaction.features[i]); });
        out->Texts(width, [&](size_t i) { return &interaction.parts[i][at[i]]; });
        out->Number(interaction.contributions[cell]);
        out->Number(interaction.rows.empty() ? kNotKnown : interaction.rows[cell]);
        out->Text(ClassOf(model, output));
        out->Finish();
        CHECK_FOR_INTERRUPTS();
        for (size_t i = width; i-- > 0 && ++at[i] == interaction.parts[i].size();)
            at[i] = 0;
    }
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_importance(PG_FUNCTION_ARGS) {
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    RowWriter out(store, descriptor);
    Explainer* explainer = ExplainerOf(ModelArgument(fcinfo));
    const Model& model = explainer->model();
    for (size_t output = 0; output < model.outputs(); ++output) {
        auto* importances = Kept<Importance>::Make(CurrentMemoryContext);
        CallCore([&] { **importances = explainer->Importances(output); });
        for (const Importance& importance : **importances) {
            out.Texts(importance.features.size(),
                      [&](size_t i) { return FeatureName(model, importance.features[i]); });
            out.Figure(importance.importance);
            out.Figure(importance.share);
            out.Figure(importance.noise);
            out.CString(explainer->reference_name());
            out.Text(ClassOf(model, output));
            out.Finish();
        }
        importances->Release();
    }
    return Datum(0);
}

Datum dpboost_shape(PG_FUNCTION_ARGS) {
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    RowWriter out(store, descriptor);
    ModelFacts facts;
    CachedModel* cached = ModelArgument(fcinfo, &facts);
    auto* times = Kept<TimeColumn>::Make(CurrentMemoryContext);
    const JsonValue* described = ReadJson(facts.features);
    CallCore([&] { **times = TimesOf(*described); });
    const size_t features = cached->model.features().size();
    size_t first = 0, end = features;
    if (!PG_ARGISNULL(1)) {
        first = FeatureArgument(fcinfo, 1, *cached, text_to_cstring(PG_GETARG_TEXT_PP(0)));
        end = first + 1;
    }
    Explainer* explainer = ExplainerOf(cached);
    for (size_t feature = first; feature < end; ++feature)
        for (size_t output = 0; output < cached->model.outputs(); ++output)
            PutShape(explainer, feature, output, TimeOf(**times, feature), &out);
    return Datum(0);
}

Datum dpboost_interaction(PG_FUNCTION_ARGS) {
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    RowWriter out(store, descriptor);
    ModelFacts facts;
    Explainer* explainer = ExplainerOf(ModelArgument(fcinfo, &facts));
    const JsonValue* described = ReadJson(facts.features);
    for (size_t output = 0; output < explainer->model().outputs(); ++output) {
        auto* interactions = Kept<Interaction>::Make(CurrentMemoryContext);
        CallCore([&] {
            **interactions = explainer->Interactions(output);
            const std::vector<TimeColumn> times = TimesOf(*described);
            for (Interaction& interaction : **interactions)
                for (size_t i = 0; i < interaction.features.size(); ++i) {
                    const TimeColumn time = TimeOf(times, interaction.features[i]);
                    for (std::string& label : interaction.parts[i])
                        label = time == TimeColumn::kNone ? label : WithTimes(label, time);
                }
        });
        for (const Interaction& interaction : **interactions)
            PutInteraction(*explainer, interaction, output, &out);
        interactions->Release();
    }
    return Datum(0);
}
