// Finds what a training reads by following the schema: rules of views, and inheritance upwards and downwards.
// A relation that is read only in part (a partition's parent) is listed as well: its budget pays too. The
// caller's backend sees its own uncommitted changes, the ledger worker the committed schema; it takes both.
#include "postgres/catalog/relations.h"

namespace dpboost {
namespace {

// Grows while relations are found; items are worked off in order.
struct Collection {
    RelationSet* set;
    int capacity;
    bool changed;
    bool takes_locks;
    int given;  // so many came from the caller and stay as they are
};

RelationSet* Allocate(int capacity) {
    return static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + capacity * sizeof(ReadRelation)));
}

void Start(Collection* collection) {
    collection->capacity = 8;
    collection->set = Allocate(collection->capacity);
    collection->takes_locks = true;
    collection->given = 0;
}

void Reserve(Collection* collection) {
    if (collection->set->count < collection->capacity)
        return;
    RelationSet* larger = Allocate(collection->capacity * 2);
    memcpy(larger, collection->set,
           offsetof(RelationSet, items) + collection->set->count * sizeof(ReadRelation));
    collection->set = larger;
    collection->capacity *= 2;
}

// What was found a second time, by another way, means to a release what both say.
bool Agree(const ReadRelation* known, const ReadRelation* relative) {
    return relative != nullptr && relative->row_by_row && relative->vouched_by == known->vouched_by &&
           strcmp(known->unit, relative->unit) == 0;
}

// Adds a relation once, in the strongest of the ways in which it is read; `relative` is its parent or child.
void Add(Collection* collection, Oid relid, ReadAs read_as, const ReadRelation* relative) {
    for (int i = 0; i < collection->set->count; ++i) {
        ReadRelation* known = &collection->set->items[i];
        if (known->relid != relid)
            continue;
        if (i >= collection->given && known->row_by_row && !Agree(known, relative)) {
            known->row_by_row = false;
            collection->changed = true;
        }
        if (read_as < known->read_as) {
            known->read_as = read_as;
            collection->changed = true;
        }
        return;
    }
    const char* name = get_rel_name(relid);
    const Oid schema = get_rel_namespace(relid);
    const char* schema_name = get_namespace_name(schema);
    if (name == nullptr || schema_name == nullptr)
        return;  // dropped by someone else while we looked
    ReadRelation added = {};
    if (relative != nullptr)
        added = *relative;
    added.relid = relid;
    added.owner = RelationOwner(relid);
    added.read_as = read_as;
    added.temporary = isTempOrTempToastNamespace(schema);
    strlcpy(added.schema_name, schema_name, NAMEDATALEN);
    strlcpy(added.relation_name, name, NAMEDATALEN);
    Reserve(collection);
    collection->set->items[collection->set->count++] = added;
    collection->changed = true;
}

// Every relation in a query, however deep: subqueries, CTEs, sublinks.
bool CollectFromQuery(Node* node, void* context) {
    if (node == nullptr)
        return false;
    if (IsA(node, RangeTblEntry)) {
        auto* entry = reinterpret_cast<RangeTblEntry*>(node);
        if (OidIsValid(entry->relid) && (entry->rtekind == RTE_RELATION || entry->rtekind == RTE_SUBQUERY))
            Add(static_cast<Collection*>(context), entry->relid, ReadAs::kDirect, nullptr);
        return false;
    }
    if (IsA(node, Query))
        return WalkQuery(reinterpret_cast<Query*>(node), CollectFromQuery, context);
    return WalkExpression(node, CollectFromQuery, context);
}

// What a view reads, and what a materialized view was filled from. Its definition stays until the transaction
// ends.
void AddBehindView(Collection* collection, Oid relid) {
    if (collection->takes_locks)
        LockRelationOid(relid, AccessShareLock);
    Query* query = ViewQuery(relid);
    if (query != nullptr)
        CollectFromQuery(reinterpret_cast<Node*>(query), collection);
}

// Its parents, or its children. Those that are being detached concurrently count as well.
void AddRelatives(Collection* collection, const ReadRelation& item, ReadAs read_as) {
    const bool upwards = read_as == ReadAs::kParent;
    Relation catalog = table_open(InheritsRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, upwards ? Anum_pg_inherits_inhrelid : Anum_pg_inherits_inhparent, BTEqualStrategyNumber,
                F_OIDEQ, ObjectIdGetDatum(item.relid));
    SysScanDesc scan = systable_beginscan(
        catalog, upwards ? InheritsRelidSeqnoIndexId : InheritsParentIndexId, true, nullptr, 1, &key);
    while (HeapTuple tuple = systable_getnext(scan)) {
        const auto* link = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple));
        Add(collection, upwards ? link->inhparent : link->inhrelid, read_as, &item);
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
}

void FollowOne(Collection* collection, const ReadRelation& item) {
    const char kind = get_rel_relkind(item.relid);
    if (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW) {
        if (item.read_as == ReadAs::kDirect)
            AddBehindView(collection, item.relid);
        return;
    }
    AddRelatives(collection, item, ReadAs::kParent);
    if (item.read_as != ReadAs::kParent)
        AddRelatives(collection, item, ReadAs::kChild);
}

// Children lead to their other parents, whose rows theirs are too; parents to their parents, but not to their
// other children. Goes over the list until it stays the same,
// because a relation may turn out to be read in a stronger way than it was first found.
void Follow(Collection* collection) {
    do {
        collection->changed = false;
        for (int i = 0; i < collection->set->count; ++i) {
            const ReadRelation item = collection->set->items[i];
            FollowOne(collection, item);
        }
    } while (collection->changed);
}

bool HasRows(char kind) {
    return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_VIEW ||
           kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE;
}

}  // namespace

RelationSet* RelationsBehind(Oid relid) {
    const char kind = get_rel_relkind(relid);
    if (kind == '\0')
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
    if (!HasRows(kind))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("\"%s\" is not a table or view", get_rel_name(relid))));
    Collection collection;
    Start(&collection);
    Add(&collection, relid, ReadAs::kDirect, nullptr);
    Follow(&collection);
    return collection.set;
}

RelationSet* FamilyOf(Oid relid) {
    Collection collection;
    Start(&collection);
    Add(&collection, relid, ReadAs::kDirect, nullptr);
    if (get_rel_relkind(relid) != RELKIND_VIEW && get_rel_relkind(relid) != RELKIND_MATVIEW)
        Follow(&collection);
    return collection.set;
}

RelationSet* RelationsOfRangeTable(List* range_table) {
    Collection collection;
    ListCell* cell;
    Start(&collection);
    foreach (cell, range_table)
        CollectFromQuery(static_cast<Node*>(lfirst(cell)), &collection);
    Follow(&collection);
    return collection.set;
}

RelationSet* WithCommittedSchema(const RelationSet* relations) {
    Collection collection;
    Start(&collection);
    collection.takes_locks = false;
    for (int i = 0; i < relations->count; ++i) {
        Reserve(&collection);
        collection.set->items[collection.set->count++] = relations->items[i];
    }
    collection.given = relations->count;
    Follow(&collection);
    return collection.set;
}

Query* ViewQuery(Oid relid) {
    HeapTuple tuple =
        SearchSysCache2(RULERELNAME, ObjectIdGetDatum(relid), CStringGetDatum(ViewSelectRuleName));
    if (!HeapTupleIsValid(tuple))
        return nullptr;
    bool is_null;
    const Datum action = SysCacheGetAttr(RULERELNAME, tuple, Anum_pg_rewrite_ev_action, &is_null);
    char* stored = TextDatumGetCString(action);
    ReleaseSysCache(tuple);
    return static_cast<Query*>(linitial(static_cast<List*>(stringToNode(stored))));
}

// What pg_class says of a relation; false if it was dropped meanwhile, or this process cannot see it.
static bool ReadClass(Oid relid, FormData_pg_class* form) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return false;
    memcpy(form, GETSTRUCT(tuple), sizeof *form);
    ReleaseSysCache(tuple);
    return true;
}

Oid RelationOwner(Oid relid) {
    FormData_pg_class form;
    return ReadClass(relid, &form) ? form.relowner : InvalidOid;
}

void CheckOwnsRelation(Oid relid, Oid caller) {
    const char kind = get_rel_relkind(relid);
    if (kind == '\0')
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
    if (!OwnsRelation(relid, caller))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(kind), get_rel_name(relid));
}

const char* RelationKindName(Oid relid) {
    switch (get_rel_relkind(relid)) {
        case RELKIND_VIEW:
            return "view";
        case RELKIND_MATVIEW:
            return "materialized view";
        case RELKIND_FOREIGN_TABLE:
            return "foreign table";
        default:
            return "table";
    }
}

char* DescribeRelation(Oid relid) {
    const char* name = get_rel_name(relid);
    if (name == nullptr)
        return psprintf("relation with OID %u", relid);
    return psprintf("%s \"%s\"", RelationKindName(relid), name);
}

// False only if it has none: PostgreSQL marks a relation before its first child is there. One that this process cannot
// see may have some.
static bool MayHaveChildren(Oid relid) {
    FormData_pg_class form;
    return !ReadClass(relid, &form) || form.relhassubclass;
}

// All that can be reached from it by one kind of step, without itself.
static RelationSet* RelativesOf(Oid relid, ReadAs read_as) {
    Collection collection;
    Start(&collection);
    if (!OidIsValid(relid) || (read_as == ReadAs::kChild && !MayHaveChildren(relid)))
        return collection.set;
    ReadRelation start = {};
    start.relid = relid;
    AddRelatives(&collection, start, read_as);
    for (int i = 0; i < collection.set->count; ++i) {
        const ReadRelation item = collection.set->items[i];
        AddRelatives(&collection, item, read_as);
    }
    return collection.set;
}

RelationSet* AncestorsOf(Oid relid) {
    return RelativesOf(relid, ReadAs::kParent);
}

RelationSet* DescendantsOf(Oid relid) {
    return RelativesOf(relid, ReadAs::kChild);
}

Datum OidsOf(const RelationSet* relations, Oid ReadRelation::*member) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    for (int i = 0; i < relations->count; ++i)
        values[i] = ObjectIdGetDatum(relations->items[i].*member);
    return PointerGetDatum(
        construct_array(values, relations->count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

}  // namespace dpboost
