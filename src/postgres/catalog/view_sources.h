// What the rows of a view are made of: follows its stored query through subqueries, common table expressions
// and further views down to tables. Looks at the schema only, never at rows.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/row_sources.h"

namespace dpboost {

struct QueryLevel;

// A relation with what its rows are made of.
struct RelationShape {
    RowSources sources;
    RelationUse* use;         // of the relation itself, the first of sources.uses
    const QueryLevel* level;  // of a view's query, nullptr for a table
};

// The locks that it takes stay until the transaction ends.
RelationShape* ShapeOfRelation(Oid relid);

// Adds a materialized view, whose rows were made by its query at some time: a source of its own, and the
// relations in its query. Returns its query for TraceLevel.
const QueryLevel* AddMaterializedView(RowSources* all, Oid relid, RelationUse* within, int* source);

// The column of `use` whose value the relation shows unchanged in its column; 0 if it is none.
AttrNumber TraceColumn(const RelationShape* shape, AttrNumber column, const RelationUse* use);

// The same for the query of a materialized view.
AttrNumber TraceLevel(const QueryLevel* level, AttrNumber column, const RelationUse* use);

}  // namespace dpboost
