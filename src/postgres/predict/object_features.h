// Features as one JSON object, found by name: for programs, whose drivers may know no type but text, and for rows of
// documents.
#pragma once

#include "postgres/predict/binding.h"

namespace dpboost {

// Whether an only argument is an object: jsonb, json, or a literal without a type that begins like one.
bool IsObject(Oid type, const NullableDatum& argument);

// Readers for what TakeObjectApart gives.
void BindObject(Binding* binding);

// Raises 42703 for a feature that the object does not have (null is a missing value), 22023 for what is no object or has a
// list or an object where a value should be, 22P02 for a text where a number should be.
FeatureValues TakeObjectApart(Binding* binding, Datum argument);

// Names all features that an object or a row does not have, and what of it may have been meant for one of them;
// `given` ends with nullptr.
[[noreturn]] void RaiseMissingFeatures(const Binding& binding, const char* const* given);

}  // namespace dpboost
