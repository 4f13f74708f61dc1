#include "postgres/catalog/known_names.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"

namespace dpboost {
namespace {

// Columns of dpboost.relation_name; an index has the number 0 for an expression.
enum Column : AttrNumber { kExpression = 0, kIdentity, kRelation, kSchemaName, kRelationName, kOwner };

KnownName* CopyRow(HeapTuple tuple, Relation table) {
    auto* row = static_cast<KnownName*>(palloc(sizeof(KnownName)));
    const Datum owner = ColumnOf(tuple, table, kOwner);
    row->relation_id = DatumGetInt64(ColumnOf(tuple, table, kIdentity));
    row->relid = RememberedOid(ColumnOf(tuple, table, kRelation));
    row->owner = RememberedOid(owner);
    namestrcpy(&row->owner_name, RememberedRoleName(owner));
    return row;
}

List* Find(const char* index_name, ScanKeyData* keys, int count) {
    List* rows = NIL;
    Relation table = table_open(CatalogRelation("relation_name"), AccessShareLock);
    Relation index = index_open(CatalogRelation(index_name), AccessShareLock);
    SysScanDesc scan = systable_beginscan_ordered(table, index, nullptr, count, keys);
    while (HeapTuple tuple = systable_getnext_ordered(scan, ForwardScanDirection))
        rows = lappend(rows, CopyRow(tuple, table));
    systable_endscan_ordered(scan);
    index_close(index, AccessShareLock);
    table_close(table, AccessShareLock);
    return rows;
}

}  // namespace

List* NamesOfRelation(Oid relid) {
    ScanKeyData key;
    ScanKeyInit(&key, kExpression, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
    return Find("relation_name_oid", &key, 1);
}

List* NamesLike(const char* schema_name, const char* relation_name) {
    NameData names[2];
    namestrcpy(&names[0], schema_name);
    namestrcpy(&names[1], relation_name);
    ScanKeyData keys[2];
    ScanKeyInit(&keys[0], kSchemaName, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&names[0]));
    ScanKeyInit(&keys[1], kRelationName, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&names[1]));
    return Find("relation_name_name", keys, 2);
}

List* NamesOfIdentity(int64 relation_id) {
    ScanKeyData key;
    ScanKeyInit(&key, kIdentity, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(relation_id));
    return Find("relation_name_relation", &key, 1);
}

}  // namespace dpboost
