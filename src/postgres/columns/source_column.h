// A column of a training or a prediction as the schema or the call shows it: its name, its type, and where it
// comes from, which leads to what is public about it. Plain data, made before any row is read.
#pragma once

#include "training/columns.h"

#include "postgres/columns/domain.h"
#include "postgres/columns/row_reader.h"

namespace dpboost {

struct SourceColumn {
    const char* name;
    Oid type;
    ValueKind kind;
    Oid relid;          // of the table or view it is a column of; InvalidOid for a computed value
    AttrNumber attnum;  // in that relation
};

// The column as the core knows it. Core side: may throw.
PublicColumn ToPublic(const SourceColumn& column, const ColumnDomain& domain);

// What the catalog or the type says about a column.
void LoadDomain(const SourceColumn& column, ColumnDomain* domain);

// How a call passes its features.
enum class FeatureShape : uint8_t { kColumns, kArray, kRow };

// Raises 42804, naming the column, unless values of its type can be used; else fills in the kind. `role` is
// "feature" or "target".
void CheckColumnType(SourceColumn* column, const char* role);

// A column by its name. Raises 42703, with the nearest name there is.
SourceColumn FindColumn(Oid relid, const char* name, const char* detail = nullptr);

// schema.name of a relation, in quotes where they are needed. Palloc'ed.
char* SqlNameOf(Oid relid);

// The columns of a row type, without dropped ones. fields[i] is the position (from 0) of columns[i] in the
// row. Types are not checked yet.
struct SourceColumns {
    int count;
    SourceColumn* columns;
    int* fields;
};
SourceColumns ColumnsOfRowType(TupleDesc descriptor, Oid relid);

// `count` columns f1, f2, ... of one type.
SourceColumns NumberedColumns(int count, Oid type);

// CheckColumnType for all features of a call, naming all that cannot be used.
void CheckFeatureTypes(const SourceColumns& features);

}  // namespace dpboost
