// Looks identities up and records new oids and names. Nothing is ever removed, and a relation that matches
// several identities has them all: counting too much is safe, forgetting is not.
#include "postgres/catalog/identity.h"

#include "postgres/catalog/catalog.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_remember_dropped);
}

namespace dpboost {
namespace {

ArrayType* OidArray(const RelationSet* relations, Oid ReadRelation::*member) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    for (int i = 0; i < relations->count; ++i)
        values[i] = ObjectIdGetDatum(relations->items[i].*member);
    return construct_array(values, relations->count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
}

ArrayType* NameArray(const RelationSet* relations, bool schemas) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    for (int i = 0; i < relations->count; ++i) {
        auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
        namestrcpy(name, schemas ? relations->items[i].schema_name : relations->items[i].relation_name);
        values[i] = NameGetDatum(name);
    }
    return construct_array(values, relations->count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

}  // namespace

Identities* ResolveIdentities(const RelationSet* relations, MemoryContext context) {
    auto* result = static_cast<Identities*>(MemoryContextAllocZero(
        context, offsetof(Identities, of) + sizeof(ArrayType*) * (relations->count + 1)));
    result->count = relations->count;
    if (relations->count == 0)
        return result;
    const Oid types[] = {OIDARRAYOID, NAMEARRAYOID, NAMEARRAYOID, OIDARRAYOID};
    const Datum values[] = {PointerGetDatum(OidArray(relations, &ReadRelation::relid)),
                            PointerGetDatum(NameArray(relations, true)),
                            PointerGetDatum(NameArray(relations, false)),
                            PointerGetDatum(OidArray(relations, &ReadRelation::owner))};
    const uint64 rows = CatalogRead(
        "SELECT r.i, array_agg(DISTINCT n.relation_id)"
        " FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS r(relid, schema_name, relation_name, owner, i),"
        " LATERAL (SELECT relation_id FROM dpboost.relation_name WHERE relation::oid = r.relid"
        "          UNION ALL"
        "          SELECT relation_id FROM dpboost.relation_name AS known"
        "          WHERE known.schema_name = r.schema_name AND known.relation_name = r.relation_name"
        "          AND (known.owner::oid = r.owner OR pg_has_role(r.owner, known.owner::oid, 'USAGE')"
        "               OR NOT EXISTS (SELECT FROM pg_roles WHERE oid = known.owner::oid))) AS n"
        " GROUP BY r.i",
        4, types, values, nullptr, 0);
    for (uint64 row = 0; row < rows; ++row) {
        bool is_null;
        HeapTuple tuple = SPI_tuptable->vals[row];
        const int64 i = DatumGetInt64(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &is_null));
        Datum ids = SPI_getbinval(tuple, SPI_tuptable->tupdesc, 2, &is_null);
        MemoryContext old_context = MemoryContextSwitchTo(context);
        result->of[i - 1] = DatumGetArrayTypePCopy(ids);
        MemoryContextSwitchTo(old_context);
    }
    return result;
}

bool HasIdentity(const ArrayType* ids, int64 relation_id) {
    if (ids == nullptr)
        return false;
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    const int count = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));
    for (int i = 0; i < count; ++i) {
        if (values[i] == relation_id)
            return true;
    }
    return false;
}

ArrayType* RememberRelation(const ReadRelation* relation, ArrayType* ids) {
    if (ids == nullptr) {
        CatalogRead("SELECT nextval('dpboost.relation_id_seq')", 0, nullptr, nullptr, nullptr, 1);
        bool is_null;
        Datum id = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
        ids = construct_array(&id, 1, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    }
    NameData schema_name, relation_name;
    namestrcpy(&schema_name, relation->schema_name);
    namestrcpy(&relation_name, relation->relation_name);
    const char* owner_name = RoleName(relation->owner);
    const Oid types[] = {INT8ARRAYOID, RelationRefType(), NAMEOID, NAMEOID, RoleRefType()};
    const Datum values[] = {PointerGetDatum(ids),
                            RelationRef(relation->relid, relation->schema_name, relation->relation_name),
                            NameGetDatum(&schema_name), NameGetDatum(&relation_name),
                            RoleRef(relation->owner, owner_name != nullptr ? owner_name : "")};
    CatalogWrite(
        "INSERT INTO dpboost.relation_name (relation_id, relation, schema_name, relation_name, owner)"
        " SELECT id, $2, $3, $4, $5 FROM unnest($1) AS id WHERE NOT EXISTS ("
        "  SELECT FROM dpboost.relation_name WHERE relation_id = id AND relation::oid = ($2)::oid"
        "  AND schema_name = $3 AND relation_name = $4 AND owner::oid = ($5)::oid)",
        5, types, values, nullptr);
    return ids;
}

}  // namespace dpboost

// Run by DROP for what it drops, when only the names are left of it. Whoever drops counts as an owner: the
// relation may have changed hands since it was last seen.
Datum dpboost_remember_dropped(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("not called by an event trigger")));
    const Oid dropper = GetUserId();
    dpboost::CatalogScope scope;
    dpboost::CatalogBegin(&scope);
    const Oid types[] = {dpboost::RoleRefType()};
    const Datum values[] = {dpboost::RoleRef(dropper, GetUserNameFromId(dropper, false))};
    dpboost::CatalogWrite(
        "INSERT INTO dpboost.relation_name (relation_id, relation, schema_name, relation_name, owner)"
        " SELECT DISTINCT ON (n.relation_id, d.objid, o.owner::oid)"
        "  n.relation_id, n.relation, d.schema_name, d.object_name, o.owner"
        " FROM pg_event_trigger_dropped_objects() AS d JOIN dpboost.relation_name AS n ON n.relation::oid = "
        "d.objid, LATERAL (VALUES (n.owner), ($1)) AS o(owner)"
        " WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0 AND NOT EXISTS ("
        "  SELECT FROM dpboost.relation_name AS k WHERE k.relation_id = n.relation_id"
        "  AND k.relation::oid = d.objid AND k.schema_name = d.schema_name AND k.relation_name = "
        "d.object_name AND k.owner::oid = o.owner::oid)",
        1, types, values, nullptr);
    // An oid may be used again one day; no right may wait for it.
    dpboost::CatalogWrite(
        "UPDATE dpboost.allowance SET revoked = true WHERE NOT revoked AND relation::oid IN ("
        " SELECT objid FROM pg_event_trigger_dropped_objects()"
        " WHERE classid = 'pg_class'::regclass AND objsubid = 0)",
        0, nullptr, nullptr, nullptr);
    dpboost::CatalogEnd(&scope);
    PG_RETURN_NULL();
}
