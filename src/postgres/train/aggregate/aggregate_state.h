// One group of the aggregate, from its first row to its result: how the call passes features, and the training that takes
// them. Shared by the functions that take rows (train_aggregate) and those that carry rows of one process to another
// (partial_state).
#pragma once

#include "postgres/boundary/row_values.h"
#include "postgres/train/aggregate/call_expressions.h"
#include "postgres/train/training.h"

namespace dpboost {

// In a memory context of its own below the aggregate's.
struct AggregateState {
    MemoryContext context;
    AggState* node;  // that has the call's arguments, see call_site.h
    const Aggref* aggref;
    AggState* last;  // that finishes; null: this state takes rows for another process and never trains
    int gather_param;
    CallExpressions call;
    bool call_arrives;      // with every row: it must be that of the first one
    text* first_model;      // then, of the first row
    Jsonb* first_options;   // likewise
    NullableDatum model;    // of the present row
    NullableDatum options;  // likewise
    Training* training;     // null until the features are known
    SourceColumns shown;    // the features of the call with the privacy unit among them, likewise
    Jsonb* result;          // null until it was trained

    // kRow
    TupleDesc descriptor;   // null until the type is known
    RowTypeStamp row_type;  // for which it holds
    int unit_field;         // -1: rows are units
    Datum* values;
    bool* nulls;

    // Targets of rows that came before the features were known: their arrays or records were NULL.
    NullableDatum* waiting;
    int waiting_count;
    int waiting_room;
};

// A new group of the node that calls.
AggregateState* NewAggregateState(FunctionCallInfo fcinfo);

// Begins if the call says enough by itself, with state->model and state->options.
void BeginByCall(AggregateState* state);

// Begins with state->call.features, and takes the rows that waited for them. In the state's memory context.
void BeginWithFeatures(AggregateState* state);

// Raises 22023 unless state->model and state->options are those of the rows before; if the call does not say so itself.
void CheckSameCall(AggregateState* state);

// A row whose features are all NULL.
void AppendMissing(AggregateState* state, NullableDatum target);

}  // namespace dpboost
