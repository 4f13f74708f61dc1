// How dpboost_train_on reads a relation: by a query that selects the needed columns and nothing else, straight
// from the executor into codes. Someone who has an allowance and no SELECT reads with the owner's rights on the
// relation, and learns nothing from it but the training's result: reading succeeds or fails by what the schema
// says, and where a row decides (a view's expression that fails), he learns that and no more.
#pragma once

#include "postgres/columns/source_column.h"
#include "postgres/reading/row_sink.h"

namespace dpboost {

// Plain data, made from the call and the schema.
struct Reading {
    Oid relid;
    Oid owner;
    bool as_owner;  // with an allowance; else the caller reads with his own rights
    FeatureShape shape;
    const AttrNumber* columns;  // target, features (or one array), group if there is one, privacy unit
    int column_count;
};

// Raises what reading would raise because of the schema, and reads no row.
void CheckReading(const Reading& reading);

// Reads all rows into the training. As the owner all of them are read: row security that would hide some is an
// error, as pg_dump has it.
void ReadRows(RowSink* sink, const Reading& reading);

}  // namespace dpboost
