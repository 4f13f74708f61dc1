// One query of a view, taken apart: what each entry of its range table stands for, and where its columns lead.
// Internal to view_sources.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/row_sources.h"

namespace dpboost {

struct QueryLevel;

// What an entry of a range table stands for. Neither a source nor a level: a single row of constants.
struct LevelEntry {
    int source;               // -1: none
    const QueryLevel* level;  // its columns are those of this query; also of a materialized view
    RelationUse* use;         // of a relation or view
};

struct QueryLevel {
    RowSources* all;
    const Query* query;
    const QueryLevel* parent;  // the query around it, of which it may read columns
    RelationUse* view;         // in which it stands
    int enclosed;              // the source that its rows are, -1: those of its entries
    LevelEntry* entries;       // by range table index, from 1
};

// Conditions that hold in all rows that come out of the sources from..to, of which equalities are kept.
void AddEqualities(const QueryLevel* level, const Node* condition, int from, int to);

// The column of `use` whose value the query shows unchanged in its column; 0 if it is none.
AttrNumber TraceLevel(const QueryLevel* level, AttrNumber column, const RelationUse* use);

}  // namespace dpboost
