// dpboost_import: a model that was trained elsewhere. Its bytes are a stranger's: the core checks all that it will rely
// on, here its texts are checked, and what it claims about privacy is stored as a claim, without a release.
#include "model/export/exported_model.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/writable.h"
#include "postgres/ledger/ledger.h"
#include "postgres/predict/model_cache.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_import);
}

namespace dpboost {
namespace {

// Core side: all that is stored of an import.
struct Import {
    std::string encoding;
    std::string texts;
    std::string method;
    std::string task;
    std::string features;
    std::string model;
    double epsilon;
    double delta;
};

void ReadImport(std::string_view bytes, Import* import) {
    PgInterrupt interrupt;
    ImportedModel imported = Unpack(bytes, &interrupt);
    import->encoding = imported.claims.encoding;
    import->texts = TextsOf(imported);
    import->method = imported.claims.method;
    import->task = imported.model.target().task() == Task::kRegression ? "regression" : "classification";
    import->features = DescribeFeatures(imported.model.features());
    import->model = std::move(imported.claims.model);
    import->epsilon = imported.claims.epsilon;
    import->delta = imported.claims.delta;
}

void CheckTexts(const Import& import) {
    if (import.encoding != GetDatabaseEncodingName())
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the model comes from a database of another encoding"),
                        errdetail("This one has encoding %s.", GetDatabaseEncodingName())));
    pg_verifymbstr(import.texts.data(), static_cast<int>(import.texts.size()), false);
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_import(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model", "content"});
    PreventCommandIfParallelMode("dpboost_import()");
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const struct varlena* content = PG_GETARG_BYTEA_PP(1);
    const std::string_view bytes(VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
    char* unversioned = pstrdup(name);
    TakeVersion(unversioned);
    NewModelName checked;
    ReadNewModelName(GetUserId(), unversioned, &checked);
    auto* import = CoreState<Import>::Make(CurrentMemoryContext);
    CallCore([&] { ReadImport(bytes, import->get()); });
    CheckTexts(**import);
    ModelImport request;
    request.caller = GetUserId();
    request.model_name = name;
    request.method = (*import)->method.c_str();
    request.task = (*import)->task.c_str();
    request.epsilon = (*import)->epsilon;
    request.delta = (*import)->delta;
    request.content.options = "{}";
    request.content.features = (*import)->features.c_str();
    request.content.model_bytes = (*import)->model.data();
    request.content.model_size = (*import)->model.size();
    ImportModel(&request);
    ModelsChanged();
    PG_RETURN_VOID();
}
