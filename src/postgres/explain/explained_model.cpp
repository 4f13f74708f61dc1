#include "postgres/explain/explained_model.h"

#include <cmath>

#include "base/text.h"
#include "postgres/boundary/arguments.h"

namespace dpboost {

CachedModel* ModelArgument(FunctionCallInfo fcinfo, ModelFacts* facts) {
    RequireArgument(fcinfo, 0, "model");
    const text* name = PG_GETARG_TEXT_PP(0);
    auto* holder = CoreState<std::shared_ptr<CachedModel>>::Make(CurrentMemoryContext);
    ModelText read;
    ModelEntry entry;
    ReadModelText(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), NameUse::kRead, &read);
    FindModel(GetUserId(), read, &entry);
    LoadModelOf(entry, holder->get());
    if (facts != nullptr)
        ReadModelFacts(entry, facts);
    CloseModelEntry(&entry);
    return holder->get()->get();
}

Explainer* ExplainerOf(CachedModel* model) {
    Explainer* explainer = nullptr;
    CallCore([&] { explainer = &model->explainer(); });
    return explainer;
}

size_t FeatureArgument(FunctionCallInfo fcinfo, int argument, const CachedModel& model,
                       const char* model_name) {
    const text* name = PG_GETARG_TEXT_PP(argument);
    const std::string_view wanted(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
    size_t found = 0;
    char hint[CoreFailure::kTextSize] = "";
    CallCore([&] {
        std::vector<std::string> names;
        for (const FeatureSpec& feature : model.model.features())
            names.push_back(feature.name());
        found = std::find(names.begin(), names.end(), wanted) - names.begin();
        if (found < names.size())
            return;
        std::string text = NearestHint(wanted, names);
        if (text.empty())
            text = "dpboost_importance lists the model's features.";
        text.copy(hint, sizeof hint - 1);
    });
    if (found == model.model.features().size())
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("feature \"%s\" is not in model \"%s\"", text_to_cstring(name), model_name),
                        errhint("%s", hint)));
    return found;
}

const std::string* ClassOf(const Model& model, size_t output) {
    return model.outputs() > 1 ? &model.target().classes()[output] : nullptr;
}

void RowWriter::Put(Datum value, bool is_null) {
    values_[count_] = value;
    nulls_[count_++] = is_null;
}

void RowWriter::Number(double number) {
    Put(Float8GetDatum(number), std::isnan(number));
}

void RowWriter::Figure(double number) {
    const double magnitude = std::floor(std::log10(std::fabs(number)));
    if (!(magnitude >= -12 && magnitude <= 12)) {  // also 0 and NaN
        Number(number);
        return;
    }
    // Powers of ten up to 1e22 are exact, so that the quotient is the double that prints with so many digits.
    const double scale = std::pow(10, std::fabs(5 - magnitude));
    Number(magnitude <= 5 ? std::nearbyint(number * scale) / scale : std::nearbyint(number / scale) * scale);
}

void RowWriter::Whole(int32 number, bool is_null) {
    Put(Int32GetDatum(number), is_null);
}

void RowWriter::Boolean(bool value, bool is_null) {
    Put(BoolGetDatum(value), is_null);
}

Datum RowWriter::MakeText(const std::string& text) {
    return PointerGetDatum(cstring_to_text_with_len(text.data(), static_cast<int>(text.size())));
}

void RowWriter::Text(const std::string* text) {
    MemoryContext outer = MemoryContextSwitchTo(row_);
    Put(text != nullptr ? MakeText(*text) : Datum(0), text == nullptr);
    MemoryContextSwitchTo(outer);
}

void RowWriter::CString(const char* text) {
    MemoryContext outer = MemoryContextSwitchTo(row_);
    Put(text != nullptr ? CStringGetTextDatum(text) : Datum(0), text == nullptr);
    MemoryContextSwitchTo(outer);
}

void RowWriter::Band(double middle, double sd) {
    Number(middle);
    Figure(middle - kBandSds * sd);
    Figure(middle + kBandSds * sd);
}

void RowWriter::Finish() {
    tuplestore_putvalues(store_, descriptor_, values_, nulls_);
    MemoryContextReset(row_);
    count_ = 0;
}

}  // namespace dpboost
