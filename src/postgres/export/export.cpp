// dpboost_to_sql, dpboost_to_xgboost, dpboost_encode and dpboost_export: a model for use elsewhere. All of it follows from
// the model's bytes, which were released when it was trained; who may predict may also take it along.
#include "model/export/export_sql.h"
#include "model/export/export_xgboost.h"
#include "model/export/exported_model.h"

#include "postgres/boundary/arguments.h"
#include "postgres/explain/explained_model.h"
#include "postgres/predict/binding.h"
#include "postgres/predict/lineage.h"
#include "postgres/predict/model_lookup.h"
#include "postgres/predict/time_columns.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_to_sql);
PG_FUNCTION_INFO_V1(dpboost_to_xgboost);
PG_FUNCTION_INFO_V1(dpboost_encode);
PG_FUNCTION_INFO_V1(dpboost_export);
}

namespace dpboost {
namespace {

std::string_view ViewOf(const struct varlena* value) {
    return {VARDATA_ANY(value), static_cast<size_t>(VARSIZE_ANY_EXHDR(value))};
}

// Texts of the core live in an object that the call's memory context frees, should anything raise before it is copied.
using CoreText = CoreState<std::string>;

Datum VarlenaOf(const CoreText* text) {
    const std::string& bytes = **text;
    if (bytes.size() > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the exported model is too large")));
    return PointerGetDatum(cstring_to_text_with_len(bytes.data(), static_cast<int>(bytes.size())));
}

// The epsilon of a model is that of all releases that it came from.
CachedModel* FindWithLineage(FunctionCallInfo fcinfo, ModelFacts* facts) {
    CachedModel* model = ModelArgument(fcinfo, facts);
    if (!facts->imported)
        facts->epsilon = LineageEpsilon(LineageOf(facts->release_id), facts->epsilon);
    return model;
}

float EncodedOf(const CachedModel& model, int feature, const ColumnReader& reader, Datum value) {
    const FeatureSpec& spec = model.model.features()[static_cast<size_t>(feature)];
    if (reader.as_number)
        return EncodedNumber(spec, *reader.encoder, ReadNumber(reader.kind, value));
    return EncodedCode(spec, ReadCode(reader, value));
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_to_sql(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "dialect"});
    ModelFacts facts;
    const CachedModel* model = ModelArgument(fcinfo, &facts);
    const std::string_view dialect = ViewOf(PG_GETARG_TEXT_PP(1));
    const JsonValue* features = ReadJson(facts.features);
    CoreText* result = CoreText::Make(CurrentMemoryContext);
    CallCore([&] {
        PgInterrupt interrupt;
        **result = ToSql(model->model, ParseSqlDialect(dialect), interrupt, TimesOf(*features));
    });
    PG_RETURN_DATUM(VarlenaOf(result));
}

Datum dpboost_to_xgboost(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model"});
    ModelFacts facts;
    const CachedModel* model = FindWithLineage(fcinfo, &facts);
    CoreText* result = CoreText::Make(CurrentMemoryContext);
    CallCore([&] {
        PgInterrupt interrupt;
        **result = ToXgboost(model->model,
                             {{"dpboost_method", facts.method},
                              {"dpboost_epsilon", JsonNumber(facts.epsilon)},
                              {"dpboost_delta", JsonNumber(facts.delta)}},
                             interrupt);
    });
    PG_RETURN_DATUM(VarlenaOf(result));
}

Datum dpboost_encode(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    Binding* binding = BindCall(fcinfo, 1);
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * binding->features));
    VisitFeatures(fcinfo, binding, [binding, values](int i, bool is_null, Datum value) {
        values[i] = Float4GetDatum(is_null ? std::numeric_limits<float>::quiet_NaN()
                                           : EncodedOf(*binding->model, i, binding->readers[i], value));
    });
    PG_RETURN_ARRAYTYPE_P(
        construct_array(values, binding->features, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

Datum dpboost_export(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model"});
    ModelFacts facts;
    const CachedModel* model = FindWithLineage(fcinfo, &facts);
    const char* encoding = GetDatabaseEncodingName();
    CoreText* bytes = CoreText::Make(CurrentMemoryContext);
    CallCore([&] {
        **bytes = Pack({encoding, facts.method, facts.epsilon, facts.delta, model->model.Serialize()});
    });
    PG_RETURN_DATUM(VarlenaOf(bytes));
}
