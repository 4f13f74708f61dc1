#include "postgres/predict/catalog_model.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/relations.h"
#include "postgres/predict/model_lookup.h"
#include "postgres/train/json_reader.h"

namespace dpboost {
namespace {

char* TextOrNull(int column) {
    bool is_null;
    const Datum value = CatalogValue(0, column, &is_null);
    return is_null ? nullptr : TextDatumGetCString(value);
}

void ReadModelRow(CatalogModel* model) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 rows =
        CatalogRead("SELECT options, name, method, target, positive FROM dpboost.model WHERE model_id = $1",
                    {Int8(model->released.model_id)}, 1);
    Jsonb* options = nullptr;
    if (rows > 0) {
        MemoryContext inner = MemoryContextSwitchTo(outer);
        options = DatumGetJsonbPCopy(CatalogValue(0, 1));
        model->name = TextDatumGetCString(CatalogValue(0, 2));
        model->method = TextDatumGetCString(CatalogValue(0, 3));
        model->target = TextDatumGetCString(CatalogValue(0, 4));
        model->positive = TextOrNull(5);
        MemoryContextSwitchTo(inner);
    }
    CatalogEnd(&scope);
    if (options == nullptr)  // dropped since it was found
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist", model->text)));
    model->options = ReadJson(options);
}

}  // namespace

void FindCatalogModel(Oid role, const char* text, CatalogModel* model) {
    ModelText read;
    ModelEntry entry;
    ReadModelText(text, strlen(text), NameUse::kRead, &read);
    FindModel(role, read, &entry);
    model->text = text;
    model->released = {entry.name_id, entry.model_id, entry.version};
    const struct varlena* content = PG_DETOAST_DATUM_COPY(entry.content);
    model->content = VARDATA_ANY(content);
    model->content_size = VARSIZE_ANY_EXHDR(content);
    const Oid owner = entry.owner;
    CloseModelEntry(&entry);
    model->owned = OwnsModel(role, entry);
    model->owner = RoleName(owner);
    ReadModelRow(model);
}

SourceColumn FindFeatureColumn(Oid relid, const FeatureSpec& feature) {
    SourceColumn column = FindColumn(relid, feature.name().c_str(), "It is a feature of the model.");
    CheckColumnType(&column, "feature");
    if (!Fits(column.kind, feature))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of %s is of type %s, which the model cannot read", column.name,
                               DescribeRelation(relid), format_type_be(column.type)),
                        errdetail(feature.kind() == FeatureKind::kNumeric
                                      ? "The model was trained on numbers."
                                      : "The model was trained on text, an enum or a boolean.")));
    return column;
}

}  // namespace dpboost
