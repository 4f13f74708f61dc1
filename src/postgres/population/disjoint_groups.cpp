#include "postgres/population/disjoint_groups.h"

#include "postgres/catalog/relations.h"
#include "postgres/catalog/view_sources.h"

namespace dpboost {
namespace {

// A unique index on this column alone, by the type's own equality: rows that are one unit are equal by it.
bool IsUniqueIndexOn(Oid index_id, AttrNumber column, Oid type) {
    Relation index = index_open(index_id, AccessShareLock);
    const Form_pg_index form = index->rd_index;
    const bool is = form->indisunique && form->indimmediate && form->indisvalid && form->indnkeyatts == 1 &&
                    form->indkey.values[0] == column && index->rd_rel->relam == BTREE_AM_OID &&
                    RelationGetIndexPredicate(index) == NIL &&
                    index->rd_opfamily[0] == lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    index_close(index, NoLock);
    return is;
}

// `with_children`: rows of inheritance children, of which a table's own indexes know nothing, are meant too.
bool IsUnique(Oid relid, AttrNumber column, bool with_children) {
    Relation relation = try_relation_open(relid, AccessShareLock);
    if (relation == nullptr)
        return false;
    const char kind = relation->rd_rel->relkind;
    bool is_unique = false;
    if (kind == RELKIND_PARTITIONED_TABLE ||
        (kind == RELKIND_RELATION && !(with_children && has_subclass(relid)))) {
        const Oid type = getBaseType(get_atttype(relid, column));
        ListCell* cell;
        foreach (cell, RelationGetIndexList(relation))
            is_unique = is_unique || IsUniqueIndexOn(lfirst_oid(cell), column, type);
    }
    relation_close(relation, NoLock);
    return is_unique;
}

// Whether values that are equal are the same group: a collation may call different texts equal, char(n) does.
bool EqualIsSame(Oid relid, AttrNumber column) {
    Oid type, collation;
    int32 modifier;
    get_atttypetypmodcoll(relid, column, &type, &modifier, &collation);
    type = getBaseType(type);
    return type == BOOLOID || type == INT2OID || type == INT4OID || type == INT8OID || type_is_enum(type) ||
           ((type == TEXTOID || type == VARCHAROID) && get_collation_isdeterministic(collation));
}

// Two column numbers of a constraint, or false.
bool ReadPair(HeapTuple tuple, TupleDesc descriptor, int attribute, AttrNumber* pair) {
    bool is_null;
    const Datum value = heap_getattr(tuple, attribute, descriptor, &is_null);
    if (is_null)
        return false;
    const ArrayType* array = DatumGetArrayTypeP(value);
    if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != 2 || ARR_HASNULL(array) ||
        ARR_ELEMTYPE(array) != INT2OID)
        return false;
    memcpy(pair, ARR_DATA_PTR(array), 2 * sizeof(AttrNumber));
    return true;
}

// Whether values that are equal are the same value; else an index of another collation may have several of them.
bool HasExactEquality(Oid relid, AttrNumber column) {
    Oid type, collation;
    int32 modifier;
    get_atttypetypmodcoll(relid, column, &type, &modifier, &collation);
    return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

// Besides a foreign key to a partitioned table there is one for each of its partitions, which rows need not refer to.
bool IsForOnePartition(const FormData_pg_constraint* constraint) {
    Oid parent = constraint->conparentid;
    while (OidIsValid(parent)) {
        HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(parent));
        if (!HeapTupleIsValid(tuple))
            return true;
        const auto* above = reinterpret_cast<const FormData_pg_constraint*>(GETSTRUCT(tuple));
        const bool of_partition = above->confrelid != constraint->confrelid;
        parent = above->conparentid;
        ReleaseSysCache(tuple);
        if (of_partition)
            return true;
    }
    return false;
}

// A foreign key of exactly these two columns; one that need not hold (18 has such) is not valid either. One of more columns would say nothing about rows in which another is NULL.
bool RefersToOneGroup(HeapTuple tuple, TupleDesc descriptor, AttrNumber unit, AttrNumber group) {
    const auto* constraint = reinterpret_cast<const FormData_pg_constraint*>(GETSTRUCT(tuple));
    AttrNumber columns[2], referenced[2];
    if (constraint->contype != CONSTRAINT_FOREIGN || !constraint->convalidated || constraint->condeferrable ||
        !ReadPair(tuple, descriptor, Anum_pg_constraint_conkey, columns) ||
        !ReadPair(tuple, descriptor, Anum_pg_constraint_confkey, referenced))
        return false;
    const int place = columns[0] == unit ? 0 : 1;
    return columns[place] == unit && columns[1 - place] == group && !IsForOnePartition(constraint) &&
           EqualIsSame(constraint->conrelid, group) &&
           EqualIsSame(constraint->confrelid, referenced[1 - place]) &&
           HasExactEquality(constraint->confrelid, referenced[place]) &&
           IsUnique(constraint->confrelid, referenced[place], false);
}

// A foreign key is checked when a statement ends, and a training in the middle of one that changes the table, in a trigger of it
// say, would see rows that it will refuse. Such a statement has the table or a partition of it open; or it changes the table
// through a cascade from another one, in whose triggers the check is still to come.
void CheckNotInUse(Oid relid) {
    ListCell* cell;
    foreach (cell, find_all_inheritors(relid, AccessShareLock, nullptr)) {
        Relation relation = try_relation_open(lfirst_oid(cell), NoLock);
        const bool in_use = relation != nullptr &&
                            (relation->rd_refcnt > 1 || AfterTriggerPendingOnRel(RelationGetRelid(relation)));
        if (relation != nullptr)
            relation_close(relation, NoLock);
        if (in_use)
            ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
                            errmsg("cannot train groups of %s while a statement of this session uses it",
                                   DescribeRelation(relid)),
                            errdetail("The foreign key that keeps groups apart is checked when the statement "
                                      "ends.")));
    }
}

bool HasForeignKeyToGroup(Oid relid, AttrNumber unit, AttrNumber group) {
    const char kind = get_rel_relkind(relid);
    if (kind != RELKIND_PARTITIONED_TABLE && (kind != RELKIND_RELATION || has_subclass(relid)))
        return false;
    Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
    SysScanDesc scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
    bool found = false;
    while (HeapTuple tuple = systable_getnext(scan))
        found = found || RefersToOneGroup(tuple, RelationGetDescr(catalog), unit, group);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    if (found)
        CheckNotInUse(relid);
    return found;
}

bool Depends(Oid relid, AttrNumber unit, AttrNumber group) {
    return unit == group || IsUnique(relid, unit, true) || HasForeignKeyToGroup(relid, unit, group);
}

// Rows of a materialized view may be older than a constraint of the table that they were made from.
bool IsMaterialized(const RelationUse* use) {
    const RelationUse* view = use->within;
    while (view != nullptr && get_rel_relkind(view->relid) != RELKIND_MATVIEW)
        view = view->within;
    return view != nullptr;
}

// At a relation under the view, or the table itself, of whose rows both columns are: what its constraints say of them holds for
// the view, which shows some of these rows.
bool DependsSomewhere(Oid relid, AttrNumber unit, AttrNumber group) {
    const RelationShape* shape = ShapeOfRelation(relid);
    ListCell* cell;
    foreach (cell, shape->sources.uses) {
        const auto* use = static_cast<const RelationUse*>(lfirst(cell));
        const AttrNumber unit_there = TraceColumn(shape, unit, use);
        const AttrNumber group_there = TraceColumn(shape, group, use);
        if (unit_there > 0 && group_there > 0 && !IsMaterialized(use) &&
            Depends(use->relid, unit_there, group_there))
            return true;
    }
    return Depends(relid, unit, group);
}

// So may rows that an old snapshot shows.
void CheckRowsAreNew() {
    if (IsolationUsesXactSnapshot())
        ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
                        errmsg("cannot train groups of persons in this transaction"),
                        errdetail("It may see rows that are older than the constraint that keeps the groups "
                                  "apart."),
                        errhint("Use READ COMMITTED.")));
}

}  // namespace

void CheckDisjointGroups(Oid relid, const char* unit, const char* group) {
    if (unit == nullptr || strcmp(unit, group) == 0)
        return;
    const AttrNumber unit_column = get_attnum(relid, unit), group_column = get_attnum(relid, group);
    if (DependsSomewhere(relid, unit_column, group_column)) {
        CheckRowsAreNew();
        return;
    }
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("the schema does not say that all rows of one \"%s\" have the same \"%s\"", unit, group),
         errdetail("A person with rows in two groups would be in two models, and lose more than one charge."),
         errhint("Let a foreign key (%s, %s) refer to a table in which \"%s\" is unique, or train each "
                 "group by itself, with a charge of its own.",
                 quote_identifier(unit), quote_identifier(group), unit)));
}

}  // namespace dpboost
