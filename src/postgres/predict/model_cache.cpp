// Reads dpboost.model and dpboost.model_grant by index scans of its own, because SPI with another role's
// rights cannot be used in a parallel worker. A catalog scan takes a fresh snapshot, so a model that the
// ledger worker has just committed is found in any isolation level.
#include "postgres/predict/model_cache.h"

#include "postgres/boundary/boundary.h"

namespace dpboost {

namespace {

// Columns of dpboost.model and dpboost.model_grant, in the order of 10_catalog.sql.
enum ModelColumn { kModelId = 1, kModelName, kModelVersion, kModelOwner, kModelContent = 12 };
enum GrantColumn { kGrantModel = 1, kGrantGrantee };

constexpr size_t kMaxCachedModels = 64;
constexpr size_t kMaxCachedBytes = size_t{256} << 20;

uint64 model_generation = 0;

// Most recently used last. Never destroyed: it lives as long as the backend.
std::vector<std::shared_ptr<CachedModel>>* cached_models = nullptr;

Oid CatalogRelation(const char* name) {
    const Oid relation = get_relname_relid(name, get_namespace_oid("dpboost", false));
    if (!OidIsValid(relation))
        elog(ERROR, "catalog relation dpboost.%s is missing", name);
    return relation;
}

void TextKey(ScanKey key, AttrNumber column, const char* text) {
    ScanKeyEntryInitialize(key, 0, column, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                           CStringGetTextDatum(text));
}

// The oid that a role_ref begins with.
Oid RoleOf(Datum role_ref) {
    Oid role;
    memcpy(&role, DatumGetPointer(role_ref), sizeof role);
    return role;
}

Datum ColumnOf(HeapTuple tuple, Relation table, int column) {
    bool is_null;
    const Datum value = heap_getattr(tuple, column, RelationGetDescr(table), &is_null);
    if (is_null)
        elog(ERROR, "column %d of %s is null", column, RelationGetRelationName(table));
    return value;
}

// Core side: a model of the cache, or null.
std::shared_ptr<CachedModel> FindCached(int64 model_id) {
    if (cached_models == nullptr)
        cached_models = new std::vector<std::shared_ptr<CachedModel>>();
    auto& models = *cached_models;
    for (size_t i = models.size(); i-- > 0;)
        if (models[i]->model_id == model_id) {
            std::rotate(models.begin() + i, models.begin() + i + 1, models.end());
            return models.back();
        }
    return nullptr;
}

// Core side: keeps a model, and forgets those that were not used for longest.
void Remember(const std::shared_ptr<CachedModel>& model) {
    cached_models->push_back(model);
    size_t bytes = 0;
    for (size_t i = cached_models->size(); i-- > 0;) {
        bytes += (*cached_models)[i]->memory;
        if (i + 1 < cached_models->size() &&
            (bytes > kMaxCachedBytes || cached_models->size() - i > kMaxCachedModels)) {
            cached_models->erase(cached_models->begin(), cached_models->begin() + i + 1);
            return;
        }
    }
}

}  // namespace

CachedModel::CachedModel(int64 id, std::string_view bytes)
    : model_id(id), model(Model::Parse(bytes)), predictor(model) {
    encoders.reserve(model.features().size());
    for (const FeatureSpec& feature : model.features())
        encoders.emplace_back(feature);
    memory = 2 * bytes.size() + predictor.memory_used() + 1024 * encoders.size();
}

char* SplitModelName(const char* text, size_t size, int32* version) {
    char* name = pnstrdup(text, size);
    char* at = strchr(name, '@');
    *version = 0;
    if (at != nullptr) {
        char* end;
        errno = 0;
        const long number = strtol(at + 1, &end, 10);
        if (at[1] < '0' || at[1] > '9' || *end != '\0' || errno != 0 || number < 1 || number > PG_INT32_MAX)
            ereport(ERROR,
                    (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid model name \"%s\"", name),
                     errdetail("A model is named by its name, or by name@version.")));
        *version = static_cast<int32>(number);
        *at = '\0';
    }
    if (name[0] == '\0')
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("model name is empty")));
    return name;
}

void FindModel(const char* name, int32 version, ModelEntry* entry) {
    ScanKeyData keys[2];
    TextKey(&keys[0], kModelName, name);
    ScanKeyInit(&keys[1], kModelVersion, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(version));
    entry->table = table_open(CatalogRelation("model"), AccessShareLock);
    entry->index = index_open(CatalogRelation("model_name_version_key"), AccessShareLock);
    entry->scan = systable_beginscan_ordered(entry->table, entry->index, nullptr, version > 0 ? 2 : 1, keys);
    HeapTuple tuple = systable_getnext_ordered(entry->scan, BackwardScanDirection);
    if (!HeapTupleIsValid(tuple)) {
        if (version > 0)
            ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                            errmsg("model \"%s\" has no version %d", name, version)));
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist", name)));
    }
    entry->name = name;
    entry->model_id = DatumGetInt64(ColumnOf(tuple, entry->table, kModelId));
    entry->version = DatumGetInt32(ColumnOf(tuple, entry->table, kModelVersion));
    entry->owner = RoleOf(ColumnOf(tuple, entry->table, kModelOwner));
    entry->content = ColumnOf(tuple, entry->table, kModelContent);
}

void ReleaseModelEntry(ModelEntry* entry) {
    systable_endscan_ordered(entry->scan);
    index_close(entry->index, AccessShareLock);
    table_close(entry->table, AccessShareLock);
}

bool MayUseModel(Oid role, const ModelEntry& entry) {
    if (superuser_arg(role) || (OidIsValid(entry.owner) && has_privs_of_role(role, entry.owner)))
        return true;
    Relation table = table_open(CatalogRelation("model_grant"), AccessShareLock);
    ScanKeyData key;
    TextKey(&key, kGrantModel, entry.name);
    SysScanDesc scan = systable_beginscan(table, CatalogRelation("model_grant_key"), true, nullptr, 1, &key);
    bool granted = false;
    HeapTuple tuple;
    while (!granted && HeapTupleIsValid(tuple = systable_getnext(scan))) {
        const Oid grantee = RoleOf(ColumnOf(tuple, table, kGrantGrantee));
        granted = OidIsValid(grantee) && has_privs_of_role(role, grantee);
    }
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return granted;
}

void LoadModel(const char* text, size_t size, std::shared_ptr<CachedModel>* model) {
    int32 version;
    const char* name = SplitModelName(text, size, &version);
    ModelEntry entry;
    FindModel(name, version, &entry);
    if (!MayUseModel(GetUserId(), entry))
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for model \"%s\"", name),
                 errhint("Ask its owner to share it with dpboost_share.")));
    CallCore([&] { *model = FindCached(entry.model_id); });
    if (*model == nullptr) {
        struct varlena* content = PG_DETOAST_DATUM_PACKED(entry.content);
        const std::string_view bytes(VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
        CallCore([&] {
            *model = std::make_shared<CachedModel>(entry.model_id, bytes);
            Remember(*model);
        });
    }
    ReleaseModelEntry(&entry);
}

uint64 ModelGeneration() {
    return model_generation;
}

void ModelsChanged() {
    ++model_generation;
}

}  // namespace dpboost
