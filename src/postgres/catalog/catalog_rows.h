// dpboost's own tables, read row by row without a statement, where planning one would cost more than all the rest.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// A table or an index of the schema dpboost.
inline Oid CatalogRelation(const char* name) {
    const Oid relation = get_relname_relid(name, get_namespace_oid("dpboost", false));
    if (!OidIsValid(relation))
        elog(ERROR, "catalog relation dpboost.%s is missing", name);
    return relation;
}

// A column that is never null.
inline Datum ColumnOf(HeapTuple tuple, Relation table, int column) {
    bool is_null;
    const Datum value = heap_getattr(tuple, column, RelationGetDescr(table), &is_null);
    if (is_null)
        elog(ERROR, "column %d of %s is null", column, RelationGetRelationName(table));
    return value;
}

}  // namespace dpboost
