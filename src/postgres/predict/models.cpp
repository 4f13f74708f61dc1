// dpboost_share, dpboost_unshare and dpboost_drop_model: what the owner of a model may do with it. Training a
// model is charged for ever; dropping it refunds nothing.
#include "postgres/catalog/catalog.h"
#include "postgres/predict/model_cache.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_share);
PG_FUNCTION_INFO_V1(dpboost_unshare);
PG_FUNCTION_INFO_V1(dpboost_drop_model);
}

namespace dpboost {

namespace {

// The name (and version, 0 for all) of a model that the caller owns.
char* OwnedModel(const text* argument, int32* version) {
    char* name = SplitModelName(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), version);
    ModelEntry entry;
    FindModel(name, *version, &entry);
    ReleaseModelEntry(&entry);
    const Oid caller = GetUserId();
    if (!superuser_arg(caller) && !(OidIsValid(entry.owner) && has_privs_of_role(caller, entry.owner)))
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of model \"%s\"", name)));
    return name;
}

char* WholeModel(const text* argument) {
    int32 version;
    char* name = OwnedModel(argument, &version);
    if (version != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a model is shared with all its versions"),
                 errhint("Leave out the version: \"%s\".", name)));
    return name;
}

// Raises 42704 for a number that is no role.
char* ExistingRole(Oid role) {
    char* name = RoleName(role);
    if (name == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", role)));
    return name;
}

void CheckFound(uint64 rows, const char* model) {
    if (rows == 0)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist any more", model)));
}

// Keeps the model from being dropped until this transaction has ended. Without this, a grant that is
// committed late would be one on the next model of that name, which may be another role's, and one that is
// taken back but not committed would hold up the ledger worker, which clears the grants of a free name.
void LockModel(const char* model) {
    const Oid types[] = {TEXTOID};
    const Datum values[] = {CStringGetTextDatum(model)};
    CheckFound(
        CatalogWrite("SELECT FROM dpboost.model WHERE name = $1 FOR KEY SHARE", 1, types, values, nullptr),
        model);
}

void Unshare(const char* model, Oid role) {
    const Oid types[] = {TEXTOID, OIDOID};
    const Datum values[] = {CStringGetTextDatum(model), ObjectIdGetDatum(role)};
    CatalogWrite("DELETE FROM dpboost.model_grant WHERE model = $1 AND grantee::pg_catalog.oid = $2", 2,
                 types, values, nullptr);
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Lets a role (and its members) predict with a model of the caller.
Datum dpboost_share(PG_FUNCTION_ARGS) {
    const char* model = WholeModel(PG_GETARG_TEXT_PP(0));
    const Oid role = PG_GETARG_OID(1);
    const char* role_name = ExistingRole(role);
    const Oid caller = GetUserId();
    CatalogScope scope;
    CatalogBegin(&scope);
    LockModel(model);
    Unshare(model, role);
    const Oid types[] = {TEXTOID, RoleRefType(), RoleRefType()};
    const Datum values[] = {CStringGetTextDatum(model), RoleRef(role, role_name),
                            RoleRef(caller, ExistingRole(caller))};
    CatalogWrite("INSERT INTO dpboost.model_grant (model, grantee, granted_by) VALUES ($1, $2, $3)", 3, types,
                 values, nullptr);
    CatalogEnd(&scope);
    ModelsChanged();
    PG_RETURN_VOID();
}

// Takes it back.
Datum dpboost_unshare(PG_FUNCTION_ARGS) {
    const char* model = WholeModel(PG_GETARG_TEXT_PP(0));
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
    int32 version;
    const char* model = OwnedModel(PG_GETARG_TEXT_PP(0), &version);
    const Oid types[] = {TEXTOID, INT4OID};
    const Datum values[] = {CStringGetTextDatum(model), Int32GetDatum(version)};
    CatalogScope scope;
    CatalogBegin(&scope);
    CheckFound(CatalogWrite("DELETE FROM dpboost.model WHERE name = $1 AND $2 IN (0, version)", 2, types,
                            values, nullptr),
               model);
    CatalogWrite(
        "DELETE FROM dpboost.model_grant AS g WHERE g.model = $1 AND NOT EXISTS "
        "(SELECT FROM dpboost.model AS m WHERE m.name = $1)",
        1, types, values, nullptr);
    CatalogEnd(&scope);
    ModelsChanged();
    PG_RETURN_VOID();
}
