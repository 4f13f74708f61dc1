// A state of the aggregate on its way from the process that has read its share of the rows to the one that trains. Bytes
// from outside are believed nothing: every length is checked before it is used, and what is read is compared with the
// call of the process that trains.
#pragma once

#include "postgres/train/aggregate/aggregate_state.h"

namespace dpboost {

constexpr int kFingerprintBytes = 16;

// What the bytes say, pointing into them. Plain data.
struct PartialState {
    text* model;
    Jsonb* options;
    bool begun;              // else there is nothing behind `waiting`
    SourceColumns features;  // AggregateState::shown
    int unit_field;
    NullableDatum* waiting;  // texts of targets
    int waiting_count;
    const char* fingerprint;  // of kFingerprintBytes: what the rows are encoded by
    const char* rows;
    size_t rows_size;
};

// Writes a state, whose rows are freed; nothing more can be appended to it.
bytea* WritePartialState(AggregateState* state);

// Raises XX001 for bytes that WritePartialState cannot have written.
PartialState* ReadPartialState(const char* bytes, size_t size);

// Takes the rows of a partial state into a state of the same call.
void AppendPartialState(AggregateState* state, const PartialState* partial);

}  // namespace dpboost
