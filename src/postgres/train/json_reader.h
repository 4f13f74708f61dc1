// jsonb in and out: the options of a call become a plain tree that C++ code can walk, and a result that C++
// code wrote as text becomes a jsonb.
#pragma once

#include "training/domain.h"

#include "postgres/boundary/pg.h"

namespace dpboost {

// The tree of a jsonb, palloc'ed in the current memory context.
JsonValue* ReadJson(Jsonb* jsonb);

// How many bounds the options list by position, as in {"bounds": [[0, 1], [0, 9]]}; -1 if they do not. This
// is how a call says how long an array is.
int CountListedBounds(Jsonb* options);

// The jsonb of a JSON text.
Datum JsonTextToDatum(const char* text);

}  // namespace dpboost
