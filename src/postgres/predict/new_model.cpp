#include "postgres/predict/new_model.h"

#include "postgres/catalog/catalog.h"
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

int64 FirstColumn() {
    return DatumGetInt64(CatalogValue(0, 1));
}

// Only the ledger worker writes names, one at a time.
int64 NameId(const NewModelName* name) {
    const Parameter written = TextOf(name->name);
    const Parameter owner = {RoleRefType(), RoleRef(name->owner, name->owner_name)};
    if (CatalogRead("SELECT name_id FROM dpboost.model_name WHERE name = $1 AND owner::oid = ($2)::oid",
                    {written, owner}, 1) == 0)
        CatalogWrite("INSERT INTO dpboost.model_name (name, owner) VALUES ($1, $2) RETURNING name_id",
                     {written, owner});
    return FirstColumn();
}

// Versions of a dropped role of the owner's name count too: a full name with a version means one model for ever.
int32 NextVersion(int64 name_id, const NewModelName* name) {
    CatalogRead(
        "SELECT max(greatest((SELECT max(version) FROM dpboost.used_version AS l WHERE l.name_id = "
        "n.name_id),"
        " n.last_import, n.versions_before))::bigint + 1 FROM dpboost.model_name AS n WHERE name = $2 AND "
        "(name_id = "
        "$1 OR owner::text = $3)",
        {Int8(name_id), TextOf(name->name), TextOf(psprintf("!%s", quote_identifier(name->owner_name)))}, 1);
    return static_cast<int32>(FirstColumn());
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
    model->name_id = NameId(&name);
    model->name = name.name;
    model->version = NextVersion(model->name_id, &name);
}

void ForgetOldGrants(int64 name_id, int64 model_id) {
    CatalogWrite(
        "DELETE FROM dpboost.model_grant WHERE name_id = $1 AND NOT EXISTS"
        " (SELECT FROM dpboost.model WHERE name_id = $1 AND model_id <> $2)",
        {Int8(name_id), Int8(model_id)});
}

}  // namespace dpboost
