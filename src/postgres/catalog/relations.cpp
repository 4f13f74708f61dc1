// Finds what a training reads by following the schema: rules of views, and inheritance upwards and downwards.
// A relation that is read only in part (a partition's parent) is listed as well: its budget pays too.
#include "postgres/catalog/relations.h"

namespace dpboost {
namespace {

// Grows while relations are found; items are worked off in order.
struct Collection {
    RelationSet* set;
    int capacity;
    bool changed;
};

RelationSet* Allocate(int capacity) {
    return static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + capacity * sizeof(ReadRelation)));
}

void Start(Collection* collection) {
    collection->capacity = 8;
    collection->set = Allocate(collection->capacity);
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

// Adds a relation once, in the strongest of the ways in which it is read.
void Add(Collection* collection, Oid relid, ReadAs read_as) {
    for (int i = 0; i < collection->set->count; ++i) {
        ReadRelation* known = &collection->set->items[i];
        if (known->relid != relid)
            continue;
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
    Reserve(collection);
    ReadRelation* item = &collection->set->items[collection->set->count++];
    collection->changed = true;
    item->relid = relid;
    item->owner = RelationOwner(relid);
    item->read_as = read_as;
    item->temporary = isTempOrTempToastNamespace(schema);
    strlcpy(item->schema_name, schema_name, NAMEDATALEN);
    strlcpy(item->relation_name, name, NAMEDATALEN);
}

// Every relation in a query, however deep: subqueries, CTEs, sublinks.
bool CollectFromQuery(Node* node, void* context) {
    if (node == nullptr)
        return false;
    if (IsA(node, RangeTblEntry)) {
        auto* entry = reinterpret_cast<RangeTblEntry*>(node);
        if (OidIsValid(entry->relid) && (entry->rtekind == RTE_RELATION || entry->rtekind == RTE_SUBQUERY))
            Add(static_cast<Collection*>(context), entry->relid, ReadAs::kDirect);
        return false;
    }
    if (IsA(node, Query))
        return WalkQuery(reinterpret_cast<Query*>(node), CollectFromQuery, context);
    return WalkExpression(node, CollectFromQuery, context);
}

// What a view reads, and what a materialized view was filled from.
void AddBehindView(Collection* collection, Oid relid) {
    Relation relation = try_relation_open(relid, AccessShareLock);
    if (relation == nullptr)
        return;
    for (int i = 0; relation->rd_rules != nullptr && i < relation->rd_rules->numLocks; ++i) {
        RewriteRule* rule = relation->rd_rules->rules[i];
        if (rule->event == CMD_SELECT)
            CollectFromQuery(reinterpret_cast<Node*>(linitial(rule->actions)), collection);
    }
    relation_close(relation, NoLock);
}

void AddParents(Collection* collection, Oid relid) {
    Relation catalog = table_open(InheritsRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
    SysScanDesc scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, nullptr, 1, &key);
    while (HeapTuple tuple = systable_getnext(scan))
        Add(collection, reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple))->inhparent, ReadAs::kParent);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
}

void AddChildren(Collection* collection, Oid relid) {
    ListCell* cell;
    if (!has_subclass(relid))
        return;
    foreach (cell, find_all_inheritors(relid, NoLock, nullptr))
        Add(collection, lfirst_oid(cell), ReadAs::kChild);
}

void FollowOne(Collection* collection, const ReadRelation& item) {
    const char kind = get_rel_relkind(item.relid);
    if (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW) {
        if (item.read_as == ReadAs::kDirect)
            AddBehindView(collection, item.relid);
        return;
    }
    if (item.read_as != ReadAs::kChild)
        AddParents(collection, item.relid);
    if (item.read_as == ReadAs::kDirect)
        AddChildren(collection, item.relid);
}

// Parents lead to their parents, but not to their other children. Goes over the list until it stays the same,
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
    Add(&collection, relid, ReadAs::kDirect);
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

Oid RelationOwner(Oid relid) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
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

RelationSet* AncestorsOf(Oid relid) {
    Collection collection;
    Start(&collection);
    AddParents(&collection, relid);
    Follow(&collection);
    return collection.set;
}

}  // namespace dpboost
