#include "postgres/predict/new_model.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/predict/model_lookup.h"

namespace dpboost {
namespace {

void CheckMayOwn(Oid caller, const NewModelName* name) {
    if (!OidIsValid(name->owner))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" does not exist", name->owner_name),
                 errdetail("The part of a model's name before a dot is its owner."),
                 errhint("Leave the owner out for a model of your own. A name cannot hold a dot.")));
    if (!has_privs_of_role(caller, name->owner))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("permission denied to train a model of role \"%s\"", name->owner_name),
                        errhint("Leave the owner out: a name of your own does not get in anyone's way.")));
}

// The largest version of the name that a table knows; 0: none.
int32 LastVersion(const char* table, const char* index, int64 name_id) {
    const RowTable rows = OpenRows(table, index);
    ScanKeyData key = RowKey(rows, "name_id", F_INT8EQ, Int64GetDatum(name_id));
    HeapTuple last = LastRow(rows, &key);
    const int32 version = last == nullptr ? 0 : DatumGetInt32(ColumnOf(last, rows.table, "version"));
    CloseRows(rows);
    return version;
}

int32 LastVersionOf(HeapTuple row, Relation table) {
    const int64 name_id = DatumGetInt64(ColumnOf(row, table, "name_id"));
    return std::max({LastVersion("ledger", "ledger_model", name_id),
                     LastVersion("group_model", "group_model_model", name_id),
                     DatumGetInt32(ColumnOf(row, table, "last_import")),
                     DatumGetInt32(ColumnOf(row, table, "versions_before"))});
}

// The name as the catalog knows it. Versions of a dropped role of the owner's name count too: a full name with a version means
// one model for ever.
struct UsedName {
    int64 name_id;  // 0: it is new
    int32 version;  // the last that was used
};

UsedName FindUsed(const NewModelName* name) {
    UsedName used = {0, 0};
    const RowTable rows = OpenRows("model_name", "model_name_name");
    ScanKeyData key = RowKey(rows, "name", F_TEXTEQ, CStringGetTextDatum(name->name));
    SysScanDesc scan = FindRows(rows, &key, 1);
    while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection)) {
        const Datum owner = ColumnOf(row, rows.table, "owner");
        const bool is_its = RememberedOid(owner) == name->owner;
        const bool is_gone = !OidIsValid(RememberedOid(owner)) || RoleName(RememberedOid(owner)) == nullptr;
        if (is_its)
            used.name_id = DatumGetInt64(ColumnOf(row, rows.table, "name_id"));
        if (is_its || (is_gone && strcmp(RememberedRoleName(owner), name->owner_name) == 0))
            used.version = std::max(used.version, LastVersionOf(row, rows.table));
    }
    systable_endscan_ordered(scan);
    CloseRows(rows);
    return used;
}

// Only the ledger worker writes names, one at a time.
int64 AddName(const NewModelName* name) {
    CatalogWrite("INSERT INTO dpboost.model_name (name, owner) VALUES ($1, $2) RETURNING name_id",
                 {TextOf(name->name), {RoleRefType(), RoleRef(name->owner, name->owner_name)}});
    return DatumGetInt64(CatalogValue(0, 1));
}

bool HasOtherModel(int64 name_id, int64 model_id) {
    const RowTable rows = OpenRows("model", "model_name_id_version_key");
    ScanKeyData key = RowKey(rows, "name_id", F_INT8EQ, Int64GetDatum(name_id));
    SysScanDesc scan = FindRows(rows, &key, 1);
    bool found = false;
    while (HeapTuple row = found ? nullptr : systable_getnext_ordered(scan, ForwardScanDirection))
        found = DatumGetInt64(ColumnOf(row, rows.table, "model_id")) != model_id;
    systable_endscan_ordered(scan);
    CloseRows(rows);
    return found;
}

}  // namespace

void ReadNewModelName(Oid caller, const char* text, NewModelName* name) {
    ModelText read;
    ReadModelText(text, strlen(text), NameUse::kTrain, &read);
    const bool own = read.owner == nullptr;
    name->name = read.name;
    name->owner = own ? caller : FindRole(read.owner);
    strlcpy(name->owner_name, own ? GetUserNameFromId(caller, false) : read.owner, NAMEDATALEN);
    if (!own)
        CheckMayOwn(caller, name);
}

int32 TakeVersion(char* text) {
    ModelText read;
    ReadModelText(text, strlen(text), NameUse::kRead, &read);
    if (read.version != 0)
        *strrchr(text, '@') = '\0';
    return read.version;
}

void NameNextModel(Oid caller, const char* text, NamedModel* model) {
    NewModelName name;
    ReadNewModelName(caller, text, &name);
    const UsedName used = FindUsed(&name);
    if (used.version == PG_INT32_MAX)  // somebody has imported it
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("model \"%s\" has no version left", name.name),
                        errdetail("Version %d has been used, and there is none after it.", used.version),
                        errhint("Use another name.")));
    model->name_id = used.name_id != 0 ? used.name_id : AddName(&name);
    model->name = name.name;
    model->version = used.version + 1;
}

void ForgetOldGrants(int64 name_id, int64 model_id) {
    if (HasOtherModel(name_id, model_id))
        return;
    CatalogWrite(
        "DELETE FROM dpboost.model_grant WHERE name_id = $1 AND NOT EXISTS"
        " (SELECT FROM dpboost.model WHERE name_id = $1 AND model_id <> $2)",
        {Int8(name_id), Int8(model_id)});
}

}  // namespace dpboost
