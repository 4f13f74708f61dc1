#include "postgres/catalog/known_names.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"

namespace dpboost {
namespace {

KnownName* CopyRow(HeapTuple tuple, Relation table) {
    auto* row = static_cast<KnownName*>(palloc(sizeof(KnownName)));
    const Datum owner = ColumnOf(tuple, table, "owner");
    row->relation_id = DatumGetInt64(ColumnOf(tuple, table, "relation_id"));
    row->relid = RememberedOid(ColumnOf(tuple, table, "relation"));
    row->owner = RememberedOid(owner);
    namestrcpy(&row->owner_name, RememberedRoleName(owner));
    return row;
}

List* Find(const RowTable& rows, ScanKeyData* keys, int count) {
    List* names = NIL;
    SysScanDesc scan = FindRows(rows, keys, count);
    while (HeapTuple tuple = systable_getnext_ordered(scan, ForwardScanDirection))
        names = lappend(names, CopyRow(tuple, rows.table));
    systable_endscan_ordered(scan);
    CloseRows(rows);
    return names;
}

}  // namespace

List* NamesOfRelation(Oid relid) {
    const RowTable rows = OpenRows("relation_name", "relation_name_oid");
    ScanKeyData key = RowKey(rows, nullptr, F_OIDEQ, ObjectIdGetDatum(relid));
    return Find(rows, &key, 1);
}

List* NamesLike(const char* schema_name, const char* relation_name) {
    NameData names[2];
    namestrcpy(&names[0], schema_name);
    namestrcpy(&names[1], relation_name);
    const RowTable rows = OpenRows("relation_name", "relation_name_name");
    ScanKeyData keys[2] = {RowKey(rows, "schema_name", F_NAMEEQ, NameGetDatum(&names[0])),
                           RowKey(rows, "relation_name", F_NAMEEQ, NameGetDatum(&names[1]))};
    return Find(rows, keys, 2);
}

List* NamesOfIdentity(int64 relation_id) {
    const RowTable rows = OpenRows("relation_name", "relation_name_relation");
    ScanKeyData key = RowKey(rows, "relation_id", F_INT8EQ, Int64GetDatum(relation_id));
    return Find(rows, &key, 1);
}

}  // namespace dpboost
