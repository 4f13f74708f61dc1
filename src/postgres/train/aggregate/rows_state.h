// One group of dpboost_train_rows: rows that are collected on whichever server reads them, for the one that trains. Unlike
// dpboost_train's state it has a type that engines may carry between servers (dpboost.train_state): in memory it is an
// expanded object of PostgreSQL, elsewhere the bytes of training/call/partial_call.h.
#pragma once

#include "postgres/train/training.h"

namespace dpboost {

// In a memory context of its own below the aggregate's.
struct RowsState {
    ExpandedObjectHeader header;  // first, for PostgreSQL finds the others by it
    char* model;
    const char* options_text;  // JSON as PostgreSQL writes it
    Jsonb* options;
    bool has_units;
    // The values of the first row that the call passes as constants; null if it came from another server.
    struct varlena* first_model;
    struct varlena* first_options;
    int features;
    Training* training;  // collects only: charges nothing, plans nothing, never draws
    bool gone;           // its rows were handed on
    Jsonb* result;       // null until it was trained
};

// Begins a group of the aggregate that calls. Raises what is wrong with model and options as far as it shows without the
// relation.
RowsState* NewRowsState(FunctionCallInfo fcinfo, const char* model, Jsonb* options, bool has_units);

// The training of a group as far as the call says it, without relations and unit. In the current memory context.
TrainingCall RowsCall(const RowsState* state);

// What the datum is, or nullptr for bytes; raises for an object of another kind.
RowsState* RowsStateOf(Datum value);

// The datum to return.
Datum DatumOf(RowsState* state);

// Makes a group from bytes, or adds them to one; raises XX001 for bytes that no server wrote, and 22023 for those of
// another call.
RowsState* AddStateBytes(FunctionCallInfo fcinfo, RowsState* state, Datum bytes);

}  // namespace dpboost
