// dpboost_share, dpboost_deploy, dpboost_set_owner and the like: what the owner of a model may do with it. Training a
// model is charged for ever; dropping it refunds nothing.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/export/publish.h"
#include "postgres/predict/model_cache.h"
#include "postgres/predict/model_lookup.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_share);
PG_FUNCTION_INFO_V1(dpboost_unshare);
PG_FUNCTION_INFO_V1(dpboost_drop_model);
PG_FUNCTION_INFO_V1(dpboost_deploy);
PG_FUNCTION_INFO_V1(dpboost_set_owner);
PG_FUNCTION_INFO_V1(dpboost_describe);
}

namespace dpboost {

namespace {

// A model that the caller owns.
struct OwnedModel {
    int64 name_id;
    Oid owner;         // 0: gone
    const char* name;  // as it was written
    const char* bare;  // without the owner
    int32 version;     // 0: all
};

void FindOwnedModel(const text* argument, OwnedModel* model) {
    ModelText read;
    ModelEntry entry;
    ReadModelText(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), NameUse::kRead, &read);
    FindAnyVersion(GetUserId(), read, &entry);
    CloseModelEntry(&entry);
    if (!OwnsModel(GetUserId(), entry))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of model \"%s\"", entry.name)));
    model->name_id = entry.name_id;
    model->owner = entry.owner;
    model->name = entry.name;
    model->bare = pstrdup(read.name);
    model->version = read.version;
}

// `refusal` says why no version may be written.
void FindWholeModel(const text* argument, const char* refusal, OwnedModel* model) {
    FindOwnedModel(argument, model);
    if (model->version != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", refusal),
                        errhint("Leave out the version: \"%s\".", model->name)));
}

// Raises 42704 for a number that is no role.
char* ExistingRole(Oid role) {
    char* name = RoleName(role);
    if (name == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", role)));
    return name;
}

int32 NewestVersion(const Parameter& name_id) {
    CatalogRead("SELECT max(version) FROM dpboost.model WHERE name_id = $1", {name_id});
    return DatumGetInt32(CatalogValue(0, 1));
}

void CheckFound(uint64 rows, const OwnedModel& model) {
    if (rows == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("model \"%s\" does not exist any more", model.name)));
}

// Keeps the model from being dropped until this transaction has ended. Without this, a grant that is
// committed late would be one on the next model of that name, with which its owner may have other plans, and
// one that is taken back but not committed would hold up the ledger worker, which clears the grants of a free
// name.
void LockModel(const OwnedModel& model) {
    CheckFound(
        CatalogWrite("SELECT FROM dpboost.model WHERE name_id = $1 FOR KEY SHARE", {Int8(model.name_id)}),
        model);
}

void Unshare(const OwnedModel& model, Oid role) {
    CatalogWrite("DELETE FROM dpboost.model_grant WHERE name_id = $1 AND grantee::pg_catalog.oid = $2",
                 {Int8(model.name_id), OidOf(role)});
}

// Who gives a model to a role could have trained it as that role.
void CheckMayGive(Oid role, const char* role_name) {
    if (!has_privs_of_role(GetUserId(), role))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("permission denied to give a model to role \"%s\"", role_name),
                        errhint("Have one who has that role's privileges do it, or use dpboost_share.")));
}

// A full name with a version means one model for ever: what the old owner has under the name from now on goes on
// counting, and the new owner must not have used it. A row that only keeps count is taken away.
void GiveName(const OwnedModel& model, Oid role, const char* role_name) {
    const Parameter name = Int8(model.name_id), owner = {RoleRefType(), RoleRef(role, role_name)};
    if (CatalogRead(
            "SELECT FROM dpboost.model_name AS n JOIN dpboost.model_name AS m ON m.name = n.name"
            " WHERE n.name_id = $1 AND m.name_id <> $1 AND m.owner::oid = ($2)::oid"
            " AND (m.last_import > 0 OR EXISTS (SELECT FROM dpboost.used_version AS l WHERE l.name_id = "
            "m.name_id))",
            {name, owner}, 1) > 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("role \"%s\" has, or had, a model of that name", role_name),
                        errdetail("Its versions would get mixed up.")));
    CatalogWrite(
        "WITH given AS (SELECT n.name_id, n.name, n.owner, greatest(n.versions_before, n.last_import, "
        "(SELECT max(version)"
        "   FROM dpboost.used_version AS l WHERE l.name_id = n.name_id)) AS versions"
        "  FROM dpboost.model_name AS n WHERE n.name_id = $1 AND n.owner::oid <> ($2)::oid),"
        " counted AS (DELETE FROM dpboost.model_name AS m USING given AS g WHERE m.name = g.name"
        "  AND m.owner::oid = ($2)::oid RETURNING m.versions_before),"
        " kept AS (INSERT INTO dpboost.model_name (name, owner, versions_before)"
        "  SELECT name, owner, versions FROM given)"
        " UPDATE dpboost.model_name AS n SET owner = $2, versions_before ="
        "  greatest(n.versions_before, (SELECT max(versions_before) FROM counted)) FROM given AS g"
        " WHERE n.name_id = g.name_id",
        {name, owner});
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Lets a role (and its members) predict with a model of the caller.
Datum dpboost_share(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model", "grantee"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), "a model is shared with all its versions", &model);
    const Oid role = PG_GETARG_OID(1);
    const char* role_name = ExistingRole(role);
    const Oid caller = GetUserId();
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    Unshare(model, role);
    CatalogWrite("INSERT INTO dpboost.model_grant (name_id, grantee, granted_by) VALUES ($1, $2, $3)",
                 {Int8(model.name_id),
                  {RoleRefType(), RoleRef(role, role_name)},
                  {RoleRefType(), RoleRef(caller, ExistingRole(caller))}});
    CatalogEnd(&scope);
    ModelsChanged();
    CallElsewhere("dpboost_share", model.owner, model.bare, 0, role_name);
    PG_RETURN_VOID();
}

// Takes it back.
Datum dpboost_unshare(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model", "grantee"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), "a model is shared with all its versions", &model);
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    Unshare(model, PG_GETARG_OID(1));
    CatalogEnd(&scope);
    ModelsChanged();
    if (const char* role_name = RoleName(PG_GETARG_OID(1)))
        CallElsewhere("dpboost_unshare", model.owner, model.bare, 0, role_name);
    PG_RETURN_VOID();
}

// Drops a model with all its versions, or one version of it.
Datum dpboost_drop_model(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model"});
    OwnedModel model;
    FindOwnedModel(PG_GETARG_TEXT_PP(0), &model);
    CatalogScope scope;
    CatalogBegin(&scope);
    CheckFound(CatalogWrite("DELETE FROM dpboost.model WHERE name_id = $1 AND $2 IN (0, version)",
                            {Int8(model.name_id), Int4(model.version)}),
               model);
    CatalogWrite(
        "DELETE FROM dpboost.model_grant AS g WHERE g.name_id = $1 AND NOT EXISTS "
        "(SELECT FROM dpboost.model AS m WHERE m.name_id = $1)",
        {Int8(model.name_id)});
    CatalogEnd(&scope);
    ModelsChanged();
    CallElsewhere("dpboost_drop_model", model.owner, model.bare, model.version, nullptr);
    PG_RETURN_VOID();
}

// Makes a version the one that the name means, from the caller's commit on.
Datum dpboost_deploy(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model", "version"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), "the version to deploy is an argument of its own", &model);
    const Oid caller = GetUserId();
    const Parameter name = Int8(model.name_id), version = Int4(PG_GETARG_INT32(1));
    const Parameter deployer = {RoleRefType(), RoleRef(caller, ExistingRole(caller))};
    CatalogScope scope;
    CatalogBegin(&scope);
    if (CatalogWrite("SELECT FROM dpboost.model WHERE name_id = $1 AND version = $2 FOR KEY SHARE",
                     {name, version}) == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("model \"%s\" has no version %d", model.name, PG_GETARG_INT32(1)),
                        errhint("Its newest version is %d.", NewestVersion(name))));
    CatalogWrite("INSERT INTO dpboost.deployment (name_id, version, deployed_by) VALUES ($1, $2, $3)",
                 {name, version, deployer});
    CatalogEnd(&scope);
    ModelsChanged();
    DeployElsewhere(model.owner, model.bare, PG_GETARG_INT32(1));
    PG_RETURN_VOID();
}

Datum dpboost_set_owner(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model", "new_owner"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), "a model is given away with all its versions", &model);
    const Oid role = PG_GETARG_OID(1);
    const char* role_name = ExistingRole(role);
    CheckMayGive(role, role_name);
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    GiveName(model, role, role_name);
    CatalogEnd(&scope);
    ModelsChanged();
    CallElsewhere("dpboost_set_owner", model.owner, model.bare, 0, role_name);
    PG_RETURN_VOID();
}

Datum dpboost_describe(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"model"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), "a description is for all versions of a model", &model);
    CatalogScope scope;
    CatalogBegin(&scope);
    CatalogWrite("UPDATE dpboost.model_name SET description = $2 WHERE name_id = $1",
                 {Int8(model.name_id), {TEXTOID, PG_GETARG_DATUM(1), PG_ARGISNULL(1)}});
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}
