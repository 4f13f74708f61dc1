// dpboost_share, dpboost_unshare and dpboost_drop_model: what the owner of a model may do with it. Training a
// model is charged for ever; dropping it refunds nothing.
#include "postgres/boundary/arguments.h"
#include "postgres/catalog/catalog.h"
#include "postgres/predict/model_cache.h"
#include "postgres/predict/model_lookup.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_share);
PG_FUNCTION_INFO_V1(dpboost_unshare);
PG_FUNCTION_INFO_V1(dpboost_drop_model);
}

namespace dpboost {

namespace {

// A model that the caller owns.
struct OwnedModel {
    int64 name_id;
    const char* name;
    int32 version;  // 0: all
};

void FindOwnedModel(const text* argument, OwnedModel* model) {
    ModelText read;
    ModelEntry entry;
    ReadModelText(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), NameUse::kRead, &read);
    FindModel(GetUserId(), read, &entry);
    CloseModelEntry(&entry);
    if (!OwnsModel(GetUserId(), entry))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of model \"%s\"", entry.name)));
    model->name_id = entry.name_id;
    model->name = entry.name;
    model->version = read.version;
}

void FindWholeModel(const text* argument, OwnedModel* model) {
    FindOwnedModel(argument, model);
    if (model->version != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a model is shared with all its versions"),
                 errhint("Leave out the version: \"%s\".", model->name)));
}

// Raises 42704 for a number that is no role.
char* ExistingRole(Oid role) {
    char* name = RoleName(role);
    if (name == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", role)));
    return name;
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
    const Oid types[] = {INT8OID};
    const Datum values[] = {Int64GetDatum(model.name_id)};
    CheckFound(
        CatalogWrite("SELECT FROM dpboost.model WHERE name_id = $1 FOR KEY SHARE", 1, types, values, nullptr),
        model);
}

void Unshare(const OwnedModel& model, Oid role) {
    const Oid types[] = {INT8OID, OIDOID};
    const Datum values[] = {Int64GetDatum(model.name_id), ObjectIdGetDatum(role)};
    CatalogWrite("DELETE FROM dpboost.model_grant WHERE name_id = $1 AND grantee::pg_catalog.oid = $2", 2,
                 types, values, nullptr);
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Lets a role (and its members) predict with a model of the caller.
Datum dpboost_share(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "grantee"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), &model);
    const Oid role = PG_GETARG_OID(1);
    const char* role_name = ExistingRole(role);
    const Oid caller = GetUserId();
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    Unshare(model, role);
    const Oid types[] = {INT8OID, RoleRefType(), RoleRefType()};
    const Datum values[] = {Int64GetDatum(model.name_id), RoleRef(role, role_name),
                            RoleRef(caller, ExistingRole(caller))};
    CatalogWrite("INSERT INTO dpboost.model_grant (name_id, grantee, granted_by) VALUES ($1, $2, $3)", 3,
                 types, values, nullptr);
    CatalogEnd(&scope);
    ModelsChanged();
    PG_RETURN_VOID();
}

// Takes it back.
Datum dpboost_unshare(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "grantee"});
    OwnedModel model;
    FindWholeModel(PG_GETARG_TEXT_PP(0), &model);
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    Unshare(model, PG_GETARG_OID(1));
    CatalogEnd(&scope);
    ModelsChanged();
    PG_RETURN_VOID();
}

// Drops a model with all its versions, or one version of it.
Datum dpboost_drop_model(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model"});
    OwnedModel model;
    FindOwnedModel(PG_GETARG_TEXT_PP(0), &model);
    const Oid types[] = {INT8OID, INT4OID};
    const Datum values[] = {Int64GetDatum(model.name_id), Int32GetDatum(model.version)};
    CatalogScope scope;
    CatalogBegin(&scope);
    CheckFound(CatalogWrite("DELETE FROM dpboost.model WHERE name_id = $1 AND $2 IN (0, version)", 2, types,
                            values, nullptr),
               model);
    CatalogWrite(
        "DELETE FROM dpboost.model_grant AS g WHERE g.name_id = $1 AND NOT EXISTS "
        "(SELECT FROM dpboost.model AS m WHERE m.name_id = $1)",
        1, types, values, nullptr);
    CatalogEnd(&scope);
    ModelsChanged();
    PG_RETURN_VOID();
}
