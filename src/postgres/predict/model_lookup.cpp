// Reads dpboost.model_name, model and model_grant by index scans of its own, because SPI with another role's
// rights cannot be used in a parallel worker. A catalog scan takes a fresh snapshot, so a model that the
// ledger worker has just committed is found in any isolation level.
#include "postgres/predict/model_lookup.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "model/model_name.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog_rows.h"

namespace dpboost {

namespace {

// Columns, in the order of 10_catalog.sql.
enum NameColumn { kNameId = 1, kNameOwner, kNameName };
enum ModelColumn {
    kModelId = 1,
    kModelNameId,
    kModelVersion = 4,
    kModelRelease,
    kModelMethod,
    kModelTask,
    kModelEpsilon,
    kModelDelta,
    kModelFeatures = 11,
    kModelContent,
    kModelCreated,
    kModelTarget,
    kModelPositive
};
enum GrantColumn { kGrantNameId = 1, kGrantGrantee };
enum DeploymentColumn { kDeploymentNameId = 2, kDeploymentVersion };

constexpr int kMaxListed = 5;        // names in the error of an ambiguous one
constexpr int kMaxCompared = 10000;  // names that are looked at for one that is near

// One owner's name. Palloc'ed.
struct OwnedName {
    int64 name_id;
    Oid owner;
    bool owner_is_gone;
    char owner_name[NAMEDATALEN];
};

// A role_ref begins with an oid, and the name that was remembered follows.
struct RememberedRole {
    Oid role;
    NameData name;
};

const RememberedRole* RoleOf(Datum role_ref) {
    return reinterpret_cast<const RememberedRole*>(DatumGetPointer(role_ref));
}

void Int8Key(ScanKey key, AttrNumber column, int64 value) {
    ScanKeyInit(key, column, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(value));
}

OwnedName* CopyName(HeapTuple tuple, Relation table) {
    auto* name = static_cast<OwnedName*>(palloc0(sizeof(OwnedName)));
    const RememberedRole* remembered = RoleOf(ColumnOf(tuple, table, kNameOwner));
    name->name_id = DatumGetInt64(ColumnOf(tuple, table, kNameId));
    name->owner = remembered->role;
    const char* present = OidIsValid(name->owner) ? GetUserNameFromId(name->owner, true) : nullptr;
    name->owner_is_gone = present == nullptr;
    strlcpy(name->owner_name, present != nullptr ? present : NameStr(remembered->name), NAMEDATALEN);
    return name;
}

// Everybody's names that read so.
List* OwnedNames(const char* text) {
    Relation table = table_open(CatalogRelation("model_name"), AccessShareLock);
    ScanKeyData key;
    ScanKeyEntryInitialize(&key, 0, kNameName, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID,
                           F_TEXTEQ, CStringGetTextDatum(text));
    SysScanDesc scan = systable_beginscan(table, CatalogRelation("model_name_name"), true, nullptr, 1, &key);
    List* names = NIL;
    HeapTuple tuple;
    while (HeapTupleIsValid(tuple = systable_getnext(scan)))
        names = lappend(names, CopyName(tuple, table));
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return names;
}

const OwnedName* NameOf(Oid owner, const List* names) {
    ListCell* cell;
    foreach (cell, names) {
        const auto* name = static_cast<OwnedName*>(lfirst(cell));
        if (name->owner == owner)
            return name;
    }
    return nullptr;
}

// The newest model of the name, or the version if that is not 0. False, and nothing to close, if there is none.
bool OpenModel(int64 name_id, int32 version, ModelEntry* entry) {
    ScanKeyData keys[2];
    Int8Key(&keys[0], kModelNameId, name_id);
    ScanKeyInit(&keys[1], kModelVersion, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(version));
    entry->catalog = CatalogRelation("model");
    entry->table = table_open(entry->catalog, AccessShareLock);
    entry->index = index_open(CatalogRelation("model_name_id_version_key"), AccessShareLock);
    entry->scan = systable_beginscan_ordered(entry->table, entry->index, nullptr, version > 0 ? 2 : 1, keys);
    HeapTuple tuple = systable_getnext_ordered(entry->scan, BackwardScanDirection);
    if (!HeapTupleIsValid(tuple)) {
        CloseModelEntry(entry);
        return false;
    }
    entry->row = tuple;
    entry->model_id = DatumGetInt64(ColumnOf(tuple, entry->table, kModelId));
    entry->version = DatumGetInt32(ColumnOf(tuple, entry->table, kModelVersion));
    entry->written_by = HeapTupleHeaderGetRawXmin(tuple->t_data);
    entry->content = ColumnOf(tuple, entry->table, kModelContent);
    return true;
}

bool HasModels(const OwnedName& name, int32 version) {
    ModelEntry entry;
    if (!OpenModel(name.name_id, version, &entry))
        return false;
    CloseModelEntry(&entry);
    return true;
}

// The version that went live last, as the snapshot has it, and is still there; 0 if there is none.
int32 LastDeployed(int64 name_id, Snapshot snapshot) {
    Relation table = table_open(CatalogRelation("deployment"), AccessShareLock);
    Relation index = index_open(CatalogRelation("deployment_name"), AccessShareLock);
    ScanKeyData key;
    Int8Key(&key, kDeploymentNameId, name_id);
    SysScanDesc scan = systable_beginscan_ordered(table, index, snapshot, 1, &key);
    int32 version = 0;
    HeapTuple tuple;
    while (version == 0 && HeapTupleIsValid(tuple = systable_getnext_ordered(scan, BackwardScanDirection))) {
        version = DatumGetInt32(ColumnOf(tuple, table, kDeploymentVersion));
        ModelEntry entry;
        if (OpenModel(name_id, version, &entry))
            CloseModelEntry(&entry);
        else
            version = 0;
    }
    systable_endscan_ordered(scan);
    index_close(index, AccessShareLock);
    table_close(table, AccessShareLock);
    return version;
}

// What the name means now. The snapshot fixes it for a statement, a cursor or a transaction; a model that had no version
// yet when the snapshot was taken is the newest one.
int32 LiveVersion(int64 name_id) {
    const int32 version = ActiveSnapshotSet() ? LastDeployed(name_id, GetActiveSnapshot()) : 0;
    return version != 0 ? version : LastDeployed(name_id, nullptr);
}

bool IsSharedWith(Oid role, int64 name_id) {
    Relation table = table_open(CatalogRelation("model_grant"), AccessShareLock);
    ScanKeyData key;
    Int8Key(&key, kGrantNameId, name_id);
    SysScanDesc scan = systable_beginscan(table, CatalogRelation("model_grant_key"), true, nullptr, 1, &key);
    bool granted = false;
    HeapTuple tuple;
    while (!granted && HeapTupleIsValid(tuple = systable_getnext(scan))) {
        const Oid grantee = RoleOf(ColumnOf(tuple, table, kGrantGrantee))->role;
        granted = OidIsValid(grantee) && has_privs_of_role(role, grantee);
    }
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return granted;
}

bool Owns(Oid role, Oid owner) {
    const bool is_there = OidIsValid(owner) && GetUserNameFromId(owner, true) != nullptr;
    return superuser_arg(role) || has_privs_of_role(role, is_there ? owner : ROLE_PG_DATABASE_OWNER);
}

bool MayUse(Oid role, const OwnedName& name) {
    return Owns(role, name.owner) || IsSharedWith(role, name.name_id);
}

const char* FullNameOf(const OwnedName& name, const char* text) {
    return FullName(name.owner_is_gone, name.owner_name, text);
}

int ByOwner(const ListCell* a, const ListCell* b) {
    const auto* left = static_cast<OwnedName*>(lfirst(a));
    const auto* right = static_cast<OwnedName*>(lfirst(b));
    const int order = strcmp(left->owner_name, right->owner_name);
    return order != 0 ? order : left->name_id < right->name_id ? -1 : 1;
}

[[noreturn]] void RaiseAmbiguous(const ModelText& text, List* names) {
    StringInfoData list;
    initStringInfo(&list);
    list_sort(names, ByOwner);
    for (int i = 0; i < list_length(names) && i < kMaxListed; ++i)
        appendStringInfo(&list, "%s%s", i > 0 ? ", " : "",
                         FullNameOf(*static_cast<OwnedName*>(list_nth(names, i)), text.name));
    if (list_length(names) > kMaxListed)
        appendStringInfo(&list, " and %d more", list_length(names) - kMaxListed);
    ereport(ERROR, (errcode(ERRCODE_AMBIGUOUS_FUNCTION), errmsg("model name \"%s\" is ambiguous", text.name),
                    errdetail("It can be one of: %s.", list.data),
                    text.owner == nullptr ? errhint("Write the owner too: owner.name.")
                                          : errhint("Write the version too: owner.name@version.")));
    pg_unreachable();
}

// The error says as much as was written.
const char* WrittenName(const ModelText& text) {
    return text.owner == nullptr ? text.name : FullName(text.owner_is_gone, text.owner, text.name);
}

enum class Wanted { kLive, kAny };

// Opens the model. False if there is none under the name at all.
bool OpenMeant(const OwnedName& name, const ModelText& text, Wanted wanted, ModelEntry* entry) {
    entry->name_id = name.name_id;
    entry->owner = name.owner;
    entry->name = WrittenName(text);
    const int32 version = text.version != 0 ? text.version : LiveVersion(name.name_id);
    if ((version != 0 || wanted == Wanted::kAny) && OpenModel(name.name_id, version, entry))
        return true;
    if (!OpenModel(name.name_id, 0, entry))
        return false;
    if (text.version == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("no version of model \"%s\" is live", entry->name),
                        errhint("Write the version, as in \"%s@%d\", or let dpboost_deploy make it live.",
                                entry->name, entry->version)));
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("model \"%s\" has no version %d", entry->name, text.version),
                    errhint("Its newest version is %d.", entry->version)));
}

// Whether the text can mean the name: any owner's, or those of the role that was written; if there is no such
// role (`owner` is 0), what dropped ones of its name have left.
bool CanMean(const ModelText& text, Oid owner, const OwnedName& name) {
    if (text.owner == nullptr)
        return true;
    if (OidIsValid(owner))
        return name.owner == owner;
    return name.owner_is_gone && strcmp(name.owner_name, text.owner) == 0;
}

// What the role may have meant: names of models that it may use, of the owner that was written.
void NearestUsable(Oid role, const ModelText& meant, char* hint, size_t size) {
    const Oid owner = meant.owner == nullptr || meant.owner_is_gone ? InvalidOid : FindRole(meant.owner);
    auto* candidates = CoreState<std::vector<std::string>>::Make(CurrentMemoryContext);
    Relation table = table_open(CatalogRelation("model_name"), AccessShareLock);
    SysScanDesc scan =
        systable_beginscan(table, CatalogRelation("model_name_name"), true, nullptr, 0, nullptr);
    HeapTuple tuple;
    for (int seen = 0; seen < kMaxCompared && HeapTupleIsValid(tuple = systable_getnext(scan)); ++seen) {
        const OwnedName* name = CopyName(tuple, table);
        if (!CanMean(meant, owner, *name) || !MayUse(role, *name) || !HasModels(*name, 0))
            continue;
        const char* candidate = TextDatumGetCString(ColumnOf(tuple, table, kNameName));
        CallCore([&] { (*candidates)->emplace_back(candidate); });
    }
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    CallCore([&] { hint[NearestHint(meant.name, **candidates).copy(hint, size - 1)] = '\0'; });
    candidates->Release();
}

[[noreturn]] void RaiseMissing(Oid role, const ModelText& text) {
    char hint[CoreFailure::kTextSize];
    NearestUsable(role, text, hint, sizeof hint);
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist", WrittenName(text)),
         text.owner == nullptr ? errdetail("You own none of that name, and none was shared with you.") : 0,
         hint[0] != '\0' ? errhint("%s", hint) : 0));
    pg_unreachable();
}

List* UsableNames(Oid role, const ModelText& text, const List* names) {
    const Oid owner = text.owner == nullptr || text.owner_is_gone ? InvalidOid : FindRole(text.owner);
    List* usable = NIL;
    bool denied = false;
    ListCell* cell;
    foreach (cell, names) {
        auto* name = static_cast<OwnedName*>(lfirst(cell));
        if (!CanMean(text, owner, *name))
            continue;
        if (MayUse(role, *name))
            usable = lappend(usable, name);
        else
            denied = denied || (text.owner != nullptr && HasModels(*name, 0));
    }
    if (usable == NIL && denied)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("permission denied for model \"%s\"", WrittenName(text)),
                        errhint("Ask its owner to share it with dpboost_share.")));
    return usable;
}

// A name outlives its models, and of what dropped roles left under one name the version tells.
List* NamesWithModels(const ModelText& text, const List* names) {
    List* result = NIL;
    ListCell* cell;
    foreach (cell, names) {
        auto* name = static_cast<OwnedName*>(lfirst(cell));
        if (HasModels(*name, text.owner == nullptr ? 0 : text.version))
            result = lappend(result, name);
    }
    return result;
}

}  // namespace

void ReadModelText(const char* text, size_t size, NameUse use, ModelText* read) {
    auto* owner = static_cast<char*>(palloc(size + 1));
    read->name = static_cast<char*>(palloc(size + 1));
    CallCore([&] {
        const ModelName name = ParseModelName(std::string_view(text, size));
        if (use == NameUse::kTrain)
            CheckNewModelName(name, std::string_view(text, size));
        memcpy(owner, name.owner.c_str(), name.owner.size() + 1);
        memcpy(read->name, name.name.c_str(), name.name.size() + 1);
        read->owner = name.has_owner ? owner : nullptr;
        read->owner_is_gone = name.owner_is_gone;
        read->version = name.version;
    });
}

char* FullName(bool owner_is_gone, const char* owner_name, const char* name) {
    return psprintf("%s%s.%s", owner_is_gone ? "!" : "", quote_identifier(owner_name), name);
}

Oid FindRole(const char* name) {
    return strlen(name) < NAMEDATALEN ? get_role_oid(name, true) : InvalidOid;
}

static void Find(Oid role, const ModelText& text, Wanted wanted, ModelEntry* entry) {
    List* names = OwnedNames(text.name);
    const OwnedName* own = text.owner == nullptr ? NameOf(role, names) : nullptr;
    if (own != nullptr && OpenMeant(*own, text, wanted, entry))
        return;
    names = UsableNames(role, text, names);
    if (list_length(names) > 1)
        names = NamesWithModels(text, names);
    if (list_length(names) > 1)
        RaiseAmbiguous(text, names);
    if (names == NIL || !OpenMeant(*static_cast<OwnedName*>(linitial(names)), text, wanted, entry))
        RaiseMissing(role, text);
}

void FindModel(Oid role, const ModelText& text, ModelEntry* entry) {
    Find(role, text, Wanted::kLive, entry);
}

void FindAnyVersion(Oid role, const ModelText& text, ModelEntry* entry) {
    Find(role, text, Wanted::kAny, entry);
}

void CloseModelEntry(ModelEntry* entry) {
    systable_endscan_ordered(entry->scan);
    index_close(entry->index, AccessShareLock);
    table_close(entry->table, AccessShareLock);
}

void ReadModelFacts(const ModelEntry& entry, ModelFacts* facts) {
    const auto column = [&entry](int number) { return ColumnOf(entry.row, entry.table, number); };
    facts->imported = heap_attisnull(entry.row, kModelRelease, RelationGetDescr(entry.table));
    facts->release_id = facts->imported ? 0 : DatumGetInt64(column(kModelRelease));
    facts->method = TextDatumGetCString(column(kModelMethod));
    facts->task = TextDatumGetCString(column(kModelTask));
    facts->epsilon = DatumGetFloat8(column(kModelEpsilon));
    facts->delta = DatumGetFloat8(column(kModelDelta));
    facts->created_at = DatumGetTimestampTz(column(kModelCreated));
    facts->target = TextDatumGetCString(column(kModelTarget));
    const bool has_positive = !heap_attisnull(entry.row, kModelPositive, RelationGetDescr(entry.table));
    facts->features = DatumGetJsonbPCopy(column(kModelFeatures));
    facts->positive = has_positive ? TextDatumGetCString(column(kModelPositive)) : nullptr;
}

bool OwnsModel(Oid role, const ModelEntry& entry) {
    return Owns(role, entry.owner);
}

}  // namespace dpboost
