// Looks identities up and records new oids and names. Nothing is ever removed, and a relation that matches
// several identities has them all: counting too much is safe, forgetting is not.
#include "postgres/catalog/identity.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/catalog/known_names.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_remember_dropped);
}

namespace dpboost {
namespace {

// Whether living relations bear an identity, and one that is not `owner`'s.
struct Bearers {
    int64 relation_id;
    bool live;
    bool live_elsewhere;
};

Bearers BearersOf(int64 relation_id, Oid owner) {
    Bearers bearers = {relation_id, false, false};
    ListCell* cell;
    foreach (cell, NamesOfIdentity(relation_id)) {
        const Oid relid = static_cast<const KnownName*>(lfirst(cell))->relid;
        const Oid bearer = OidIsValid(relid) ? RelationOwner(relid) : InvalidOid;
        bearers.live |= OidIsValid(bearer);
        bearers.live_elsewhere |= OidIsValid(bearer) && bearer != owner;
    }
    return bearers;
}

// Who owns the relation that is resolved.
struct Claimant {
    Oid owner;
    const char* owner_name;  // null: the role is gone
    bool is_admin;           // a superuser, or who has the privileges of the database's owner
};

Claimant ClaimantOf(Oid owner) {
    HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "could not find database %u", MyDatabaseId);
    const Oid database_owner = reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datdba;
    ReleaseSysCache(tuple);
    return {owner, RoleName(owner), superuser_arg(owner) || has_privs_of_role(owner, database_owner)};
}

// The identities of one relation while they are gathered, each as often as something leads to it.
struct Gathered {
    ArrayBuildState* own;
    ArrayBuildState* counted;
};

void Gather(Gathered* gathered, int64 relation_id, bool own) {
    const Datum id = Int64GetDatum(relation_id);
    gathered->counted = accumArrayResult(gathered->counted, id, false, INT8OID, CurrentMemoryContext);
    if (own)
        gathered->own = accumArrayResult(gathered->own, id, false, INT8OID, CurrentMemoryContext);
}

// Which identities a name leads to, besides those that an oid does. An identity is `own` by name if
// - it was seen under an owner whose privileges the relation's owner has, and all relations that still bear
//   it are that owner's: one that lives on elsewhere was renamed or given away and is not this one; or
// - that owner is gone, no relation bears it any more, and a superuser or the database's owner creates it.
// Without being own it still counts for its former owner, and for a role of the same name as one that is gone.
void GatherByName(Gathered* gathered, const KnownName& known, const Claimant& claimant,
                  const Bearers& bearers) {
    if (OidIsValid(known.owner) && SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(known.owner))) {
        if (has_privs_of_role(claimant.owner, known.owner))
            Gather(gathered, known.relation_id, !bearers.live_elsewhere);
        return;
    }
    const bool same_name =
        claimant.owner_name != nullptr && strcmp(claimant.owner_name, NameStr(known.owner_name)) == 0;
    if (!bearers.live && (claimant.is_admin || same_name))
        Gather(gathered, known.relation_id, claimant.is_admin);
}

void GatherAll(Gathered* gathered, const ReadRelation& relation) {
    ListCell* cell;
    foreach (cell, NamesOfRelation(relation.relid))
        Gather(gathered, static_cast<const KnownName*>(lfirst(cell))->relation_id, true);
    const List* named = NamesLike(relation.schema_name, relation.relation_name);
    if (named == NIL)
        return;
    const Claimant claimant = ClaimantOf(relation.owner);
    List* looked_at = NIL;  // of Bearers: an identity may have had the name often
    foreach (cell, named) {
        const auto* known = static_cast<const KnownName*>(lfirst(cell));
        const Bearers* bearers = nullptr;
        ListCell* earlier;
        foreach (earlier, looked_at)
            if (static_cast<const Bearers*>(lfirst(earlier))->relation_id == known->relation_id)
                bearers = static_cast<const Bearers*>(lfirst(earlier));
        if (bearers == nullptr) {
            auto* found = static_cast<Bearers*>(palloc(sizeof(Bearers)));
            *found = BearersOf(known->relation_id, relation.owner);
            looked_at = lcons(found, looked_at);
            bearers = found;
        }
        GatherByName(gathered, *known, claimant, *bearers);
    }
}

// In order, each once; null if there are none.
ArrayType* DistinctIds(const ArrayBuildState* gathered, MemoryContext context) {
    if (gathered == nullptr)
        return nullptr;
    Datum* ids = gathered->dvalues;
    std::sort(ids, ids + gathered->nelems,
              [](Datum a, Datum b) { return DatumGetInt64(a) < DatumGetInt64(b); });
    const auto count = static_cast<int>(std::unique(ids, ids + gathered->nelems) - ids);
    MemoryContext old_context = MemoryContextSwitchTo(context);
    ArrayType* array = construct_array(ids, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    MemoryContextSwitchTo(old_context);
    return array;
}

// Whether it was seen as what it is now under each of the identities.
bool IsRemembered(const ReadRelation* relation, const ArrayType* ids) {
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    const int count = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));
    const List* names = NamesLike(relation->schema_name, relation->relation_name);
    for (int i = 0; i < count; ++i) {
        bool found = false;
        ListCell* cell;
        foreach (cell, names) {
            const auto* known = static_cast<const KnownName*>(lfirst(cell));
            found |= known->relation_id == values[i] && known->relid == relation->relid &&
                     known->owner == relation->owner;
        }
        if (!found)
            return false;
    }
    return true;
}

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
    for (int i = 0; i < relations->count; ++i) {
        Gathered gathered = {nullptr, nullptr};
        GatherAll(&gathered, relations->items[i]);
        result->of[i] = {DistinctIds(gathered.own, context), DistinctIds(gathered.counted, context), nullptr};
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

ArrayType* DistinctIdentities(const Identities* identities) {
    ArrayBuildState* result = initArrayResult(INT8OID, CurrentMemoryContext, false);
    for (int i = 0; i < identities->count; ++i)
        AccumulateIdentities(result, identities->of[i].own);
    return DistinctIds(result, CurrentMemoryContext);
}

CountedIdentities IdentitiesThatCount(Oid relid, const ArrayType* counted) {
    return {AllIdentities(ResolveIdentities(DescendantsOf(relid), CurrentMemoryContext), counted),
            AllIdentities(ResolveIdentities(AncestorsOf(relid), CurrentMemoryContext))};
}

ArrayType* RememberRelation(const ReadRelation* relation, ArrayType* ids) {
    if (ids == nullptr) {
        Datum id = Int64GetDatum(NextNumber("relation_id_seq"));
        ids = construct_array(&id, 1, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    }
    if (IsRemembered(relation, ids))
        return ids;
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
