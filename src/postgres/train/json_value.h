// A JSON value as plain data, between PostgreSQL's jsonb and the C++ code that reads options from it: the
// tree is palloc'ed by the PostgreSQL side (json_reader) and only read by the core side, so that neither has
// to hold the other's types.
#pragma once

#include <algorithm>
#include <string_view>

namespace dpboost {

struct JsonValue {
    enum Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };

    Kind kind;
    bool boolean;
    double number;     // of a number; beyond double's range: infinite
    const char* text;  // a string's bytes, or a number as it was written; zero-terminated
    int text_length;
    int count;                // items of an array or object
    JsonValue* items;         // the values, in jsonb's order
    const char* const* keys;  // an object's keys, zero-terminated; null for an array

    std::string_view view() const { return {text, static_cast<size_t>(text_length)}; }

    // The value of an object's key, or null. jsonb orders keys by length, then by bytes.
    const JsonValue* Find(std::string_view key) const {
        if (kind != kObject)
            return nullptr;
        const char* const* found =
            std::lower_bound(keys, keys + count, key, [](std::string_view a, std::string_view b) {
                return a.size() != b.size() ? a.size() < b.size() : a < b;
            });
        return found != keys + count && key == *found ? &items[found - keys] : nullptr;
    }
};

}  // namespace dpboost
