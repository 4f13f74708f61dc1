// Looks identities up and records new oids and names. Nothing is ever removed, and a relation that matches
// several identities has them all: counting too much is safe, forgetting is not.
#include "postgres/catalog/identity.h"

#include "postgres/catalog/catalog.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_remember_dropped);
}

namespace dpboost {
namespace {

ArrayType* NameArray(const RelationSet* relations, bool schemas) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    for (int i = 0; i < relations->count; ++i) {
        auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
        namestrcpy(name, schemas ? relations->items[i].schema_name : relations->items[i].relation_name);
        values[i] = NameGetDatum(name);
    }
    return construct_array(values, relations->count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

// Which identities a name leads to, besides those that an oid does. $1 to $4: oids, schemas, names and owners
// of relations. An identity is `own` by name if
// - it was seen under an owner whose privileges the relation's owner has, and all relations that still bear
//   it are that owner's: one that lives on elsewhere was renamed or given away and is not this one; or
// - that owner is gone, no relation bears it any more, and a superuser or the database's owner creates it.
// Without being own it still counts for its former owner, and for a role of the same name as one that is gone.
constexpr char kResolve[] =
    "WITH r AS (SELECT r.*, quote_ident(o.rolname) AS owner_name,"
    "   coalesce(o.rolsuper, false) OR pg_has_role(r.owner, d.datdba, 'USAGE') AS owner_is_admin"
    "  FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS r(relid, schema_name, relation_name, owner, i)"
    "  JOIN pg_database AS d ON d.datname = current_database() LEFT JOIN pg_roles AS o ON o.oid = r.owner),"
    " named AS (SELECT r.i, r.owner, r.owner_name, r.owner_is_admin, k.relation_id, k.owner AS known_owner,"
    "   EXISTS (SELECT FROM pg_roles WHERE oid = k.owner::oid) AS owner_exists,"
    "   l.lives, l.lives_elsewhere"
    "  FROM r JOIN dpboost.relation_name AS k USING (schema_name, relation_name),"
    "  LATERAL (SELECT count(*) > 0 AS lives, coalesce(bool_or(c.relowner <> r.owner), false) AS "
    "lives_elsewhere"
    "   FROM dpboost.relation_name AS a JOIN pg_class AS c ON c.oid = a.relation::oid"
    "   WHERE a.relation_id = k.relation_id) AS l),"
    " found AS (SELECT r.i, k.relation_id, true AS own"
    "   FROM r JOIN dpboost.relation_name AS k ON k.relation::oid = r.relid"
    "  UNION ALL SELECT i, relation_id, NOT lives_elsewhere FROM named"
    "   WHERE owner_exists AND pg_has_role(owner, known_owner::oid, 'USAGE')"
    "  UNION ALL SELECT i, relation_id, owner_is_admin FROM named"
    "   WHERE NOT owner_exists AND NOT lives AND (owner_is_admin OR known_owner::text = '!' || owner_name))"
    " SELECT i, array_agg(DISTINCT relation_id) FILTER (WHERE own), array_agg(DISTINCT relation_id)"
    " FROM found GROUP BY i";

ArrayType* CopyIds(uint64 row, int column, MemoryContext context) {
    bool is_null;
    Datum ids = CatalogValue(row, column, &is_null);
    if (is_null)
        return nullptr;
    MemoryContext old_context = MemoryContextSwitchTo(context);
    ArrayType* copy = DatumGetArrayTypePCopy(ids);
    MemoryContextSwitchTo(old_context);
    return copy;
}

}  // namespace

RelationSet* RelationsRead(uint64 rows) {
    auto* set =
        static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + (rows + 1) * sizeof(ReadRelation)));
    for (uint64 row = 0; row < rows; ++row) {
        ReadRelation* relation = &set->items[set->count++];
        relation->relid = DatumGetObjectId(CatalogValue(row, 1));
        relation->owner = DatumGetObjectId(CatalogValue(row, 2));
        strlcpy(relation->schema_name, NameStr(*DatumGetName(CatalogValue(row, 3))), NAMEDATALEN);
        strlcpy(relation->relation_name, NameStr(*DatumGetName(CatalogValue(row, 4))), NAMEDATALEN);
    }
    return set;
}

Identities* ResolveIdentities(const RelationSet* relations, MemoryContext context) {
    auto* result = static_cast<Identities*>(MemoryContextAllocZero(
        context, offsetof(Identities, of) + sizeof(Identity) * (relations->count + 1)));
    result->count = relations->count;
    if (relations->count == 0)
        return result;
    const uint64 rows = CatalogRead(kResolve, {{OIDARRAYOID, OidsOf(relations, &ReadRelation::relid)},
                                               {NAMEARRAYOID, PointerGetDatum(NameArray(relations, true))},
                                               {NAMEARRAYOID, PointerGetDatum(NameArray(relations, false))},
                                               {OIDARRAYOID, OidsOf(relations, &ReadRelation::owner)}});
    for (uint64 row = 0; row < rows; ++row) {
        const int64 i = DatumGetInt64(CatalogValue(row, 1));
        result->of[i - 1] = {CopyIds(row, 2, context), CopyIds(row, 3, context), nullptr};
    }
    return result;
}

ArrayType* GovernedIdentities(const ReadRelation* relation, ArrayType* ids) {
    if (ids == nullptr)
        return nullptr;
    CatalogRead(
        "SELECT array_agg(id) FROM unnest($1) AS id WHERE NOT EXISTS ("
        " SELECT FROM dpboost.relation_name AS a JOIN pg_class AS c ON c.oid = a.relation::oid"
        " WHERE a.relation_id = id AND c.relowner <> $2)",
        {Int8s(ids), OidOf(relation->owner)}, 1);
    return CopyIds(0, 1, CurrentMemoryContext);
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

void AccumulateIdentities(ArrayBuildState* result, const ArrayType* ids) {
    if (ids == nullptr)
        return;
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    const int count = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));
    for (int i = 0; i < count; ++i)
        accumArrayResult(result, Int64GetDatum(values[i]), false, INT8OID, CurrentMemoryContext);
}

Datum AllIdentities(const Identities* identities, const ArrayType* more) {
    ArrayBuildState* result = initArrayResult(INT8OID, CurrentMemoryContext, false);
    AccumulateIdentities(result, more);
    for (int i = 0; i < identities->count; ++i)
        AccumulateIdentities(result, identities->of[i].own);
    return makeArrayResult(result, CurrentMemoryContext);
}

CountedIdentities IdentitiesThatCount(Oid relid, const ArrayType* counted) {
    return {AllIdentities(ResolveIdentities(DescendantsOf(relid), CurrentMemoryContext), counted),
            AllIdentities(ResolveIdentities(AncestorsOf(relid), CurrentMemoryContext))};
}

ArrayType* RememberRelation(const ReadRelation* relation, ArrayType* ids) {
    if (ids == nullptr) {
        CatalogRead("SELECT nextval('dpboost.relation_id_seq')", {}, 1);
        bool is_null;
        Datum id = CatalogValue(0, 1, &is_null);
        ids = construct_array(&id, 1, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    }
    NameData schema_name, relation_name;
    namestrcpy(&schema_name, relation->schema_name);
    namestrcpy(&relation_name, relation->relation_name);
    const char* owner_name = RoleName(relation->owner);
    CatalogWrite(
        "INSERT INTO dpboost.relation_name (relation_id, relation, schema_name, relation_name, owner)"
        " SELECT id, $2, $3, $4, $5 FROM unnest($1) AS id WHERE NOT EXISTS ("
        "  SELECT FROM dpboost.relation_name WHERE relation_id = id AND relation::oid = ($2)::oid"
        "  AND schema_name = $3 AND relation_name = $4 AND owner::oid = ($5)::oid)",
        {Int8s(ids),
         {RelationRefType(), RelationRef(relation->relid, relation->schema_name, relation->relation_name)},
         {NAMEOID, NameGetDatum(&schema_name)},
         {NAMEOID, NameGetDatum(&relation_name)},
         {RoleRefType(), RoleRef(relation->owner, owner_name != nullptr ? owner_name : "")}});
    return ids;
}

}  // namespace dpboost

namespace dpboost {
namespace {

// A relation that the command has dropped.
struct DroppedRelation {
    Oid relid;
    NameData schema_name;
    NameData relation_name;
};

// Those of them that the catalog knows. Most drops do not concern us: they must not be held up by a write,
// which may wait or be refused.
List* KnownDroppedRelations() {
    List* dropped = NIL;
    const uint64 rows = CatalogRead(
        "SELECT objid, schema_name::name, object_name::name FROM pg_event_trigger_dropped_objects() AS d"
        " WHERE classid = 'pg_class'::regclass AND objsubid = 0 AND schema_name IS NOT NULL"
        " AND (EXISTS (SELECT FROM dpboost.relation_name WHERE relation::oid = d.objid)"
        "  OR EXISTS (SELECT FROM dpboost.column_domain WHERE described::oid = d.objid)"
        "  OR EXISTS (SELECT FROM dpboost.allowance WHERE relation::oid = d.objid)"
        "  OR EXISTS (SELECT FROM dpboost.alert WHERE relation::oid = d.objid))");
    for (uint64 row = 0; row < rows; ++row) {
        auto* relation = static_cast<DroppedRelation*>(palloc0(sizeof(DroppedRelation)));
        relation->relid = DatumGetObjectId(CatalogValue(row, 1));
        relation->schema_name = *DatumGetName(CatalogValue(row, 2));
        relation->relation_name = *DatumGetName(CatalogValue(row, 3));
        dropped = lappend(dropped, relation);
    }
    return dropped;
}

// Who owned it when the command began, 0 if that cannot be told.
Oid OwnerBefore(Oid relid, Snapshot before) {
    Oid owner = InvalidOid;
    if (before == nullptr)
        return owner;
    Relation catalog = table_open(RelationRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
    SysScanDesc scan = systable_beginscan(catalog, ClassOidIndexId, true, before, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    if (HeapTupleIsValid(tuple))
        owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return owner;
}

// Keeps the last name for everyone who had it before, and for one more owner.
void RememberLastName(const DroppedRelation* relation, Oid owner) {
    const char* owner_name = OidIsValid(owner) ? RoleName(owner) : nullptr;
    if (owner_name == nullptr)
        return;
    CatalogWrite(
        "INSERT INTO dpboost.relation_name (relation_id, relation, schema_name, relation_name, owner)"
        " SELECT DISTINCT ON (n.relation_id, o.owner::oid) n.relation_id, n.relation, $2, $3, o.owner"
        " FROM dpboost.relation_name AS n, LATERAL (VALUES (n.owner), ($4)) AS o(owner)"
        " WHERE n.relation::oid = $1 AND NOT EXISTS (SELECT FROM dpboost.relation_name AS k"
        "  WHERE k.relation_id = n.relation_id AND k.relation::oid = $1 AND k.schema_name = $2"
        "  AND k.relation_name = $3 AND k.owner::oid = o.owner::oid)",
        {OidOf(relation->relid),
         {NAMEOID, NameGetDatum(&relation->schema_name)},
         {NAMEOID, NameGetDatum(&relation->relation_name)},
         {RoleRefType(), RoleRef(owner, owner_name)}});
}

// An oid may be used again one day: nothing may lead from it to what was dropped, and no right wait for it.
void ForgetOid(const DroppedRelation* relation) {
    const Parameter oid = OidOf(relation->relid), schema = {NAMEOID, NameGetDatum(&relation->schema_name)},
                    name = {NAMEOID, NameGetDatum(&relation->relation_name)};
    CatalogWrite(
        "UPDATE dpboost.relation_name SET relation = format('!%I.%I', $2, $3)::dpboost.relation_ref"
        " WHERE relation::oid = $1",
        {oid, schema, name});
    CatalogWrite(
        "UPDATE dpboost.allowance SET relation = format('!%I.%I', $2, $3)::dpboost.relation_ref,"
        " revoked = true WHERE relation::oid = $1",
        {oid, schema, name});
    CatalogWrite("DELETE FROM dpboost.alert WHERE relation::oid = $1", {oid});
    CatalogWrite("DELETE FROM dpboost.column_domain WHERE described::oid = $1", {oid});
}

}  // namespace
}  // namespace dpboost

// Run by every command that drops something, when only the names are left of it. Whoever drops counts as an
// owner.
Datum dpboost_remember_dropped(PG_FUNCTION_ARGS) {
    using namespace dpboost;
    if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("not called by an event trigger")));
    const Oid dropper = GetUserId();
    if (!OidIsValid(get_extension_oid("dpboost", true)))
        PG_RETURN_NULL();  // it is our own extension that goes
    Snapshot before = ActiveSnapshotSet() ? GetActiveSnapshot() : nullptr;
    CatalogScope scope;
    ListCell* cell;
    CatalogBegin(&scope);
    foreach (cell, KnownDroppedRelations()) {
        const auto* relation = static_cast<const DroppedRelation*>(lfirst(cell));
        RememberLastName(relation, dropper);
        RememberLastName(relation, OwnerBefore(relation->relid, before));
        ForgetOid(relation);
    }
    CatalogEnd(&scope);
    PG_RETURN_NULL();
}
