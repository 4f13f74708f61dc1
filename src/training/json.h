// JSON on its way in and out. A call's options are a JsonValue: plain data that PostgreSQL's side fills in
// (json_reader) and the core only reads, so that neither has to hold the other's types. Results and catalog
// columns are written as text.
#pragma once

#include <string>
#include <string_view>

#include "base/json_text.h"

namespace dpboost {

struct JsonValue {
    enum Kind { kNull, kBoolean, kNumber, kString, kTime, kArray, kObject };

    Kind kind;
    bool boolean;
    double number;     // of a number; beyond double's range: infinite; of a time: as the column's values are
    const char* text;  // a string or a time as it was written, or a number's digits; zero-terminated
    int text_length;
    int count;                // items of an array or object
    JsonValue* items;         // in the order of the call; of an object in that of its keys
    const char* const* keys;  // an object's keys, zero-terminated, shorter ones first, then by their bytes

    std::string_view view() const { return {text, static_cast<size_t>(text_length)}; }
    // A string becomes a time where a date's or timestamp's bound stands.
    bool has_number() const { return kind == kNumber || kind == kTime; }
    bool IsText(std::string_view other) const { return kind == kString && view() == other; }

    // The value of an object's key, or null.
    JsonValue* Find(std::string_view key) const;
};

// The value as it was written. Recursive: for values whose depth was checked.
std::string JsonText(const JsonValue& value);

}  // namespace dpboost
