#include "postgres/predict/model_claim.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

constexpr int kMaxModelName = 200;

}  // namespace

void CheckModelName(const char* name) {
    if (name[0] == '\0' || strlen(name) > kMaxModelName)
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
                        errmsg("a model's name must have between 1 and %d bytes", kMaxModelName)));
    if (strchr(name, '@') != nullptr)
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("invalid name \"%s\" for a model", name),
                        errdetail("A name followed by @ and a version refers to a model that exists.")));
}

void CheckModelOwner(Oid caller, const char* model_name, Oid* owner) {
    const Oid types[] = {TEXTOID};
    const Datum values[] = {CStringGetTextDatum(model_name)};
    *owner = InvalidOid;
    if (CatalogRead("SELECT owner::oid FROM dpboost.model WHERE name = $1 ORDER BY version DESC LIMIT 1", 1,
                    types, values, nullptr, 1) == 0)
        return;
    bool is_null;
    *owner = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
    const bool exists = OidIsValid(*owner) && RoleName(*owner) != nullptr;
    if (exists ? !has_privs_of_role(caller, *owner) : !superuser_arg(caller))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("model \"%s\" belongs to another role", model_name),
                        errhint("Choose another name.")));
}

int32 NextVersion(const char* model_name) {
    const Oid types[] = {TEXTOID};
    const Datum values[] = {CStringGetTextDatum(model_name)};
    CatalogRead("SELECT coalesce(max(version), 0) + 1 FROM dpboost.ledger WHERE model = $1", 1, types, values,
                nullptr, 1);
    bool is_null;
    return DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
}

void ForgetGrants(const char* model_name) {
    const Oid types[] = {TEXTOID};
    const Datum values[] = {CStringGetTextDatum(model_name)};
    CatalogWrite("DELETE FROM dpboost.model_grant WHERE model = $1", 1, types, values, nullptr);
}

}  // namespace dpboost
