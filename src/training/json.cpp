#include "training/json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dpboost {

JsonValue* JsonValue::Find(std::string_view key) const {
    int low = 0, high = kind == kObject ? count : 0;
    while (low < high) {
        const int middle = (low + high) / 2;
        const std::string_view at = keys[middle];
        const int order = at.size() != key.size() ? (at.size() < key.size() ? -1 : 1)
                                                  : std::memcmp(at.data(), key.data(), key.size());
        if (order == 0)
            return &items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return nullptr;
}

std::string JsonString(std::string_view text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            json += escaped;
        } else {
            json += c;
        }
    }
    return json + "\"";
}

std::string JsonNumber(double value) {
    if (!std::isfinite(value))
        return "null";
    char text[40];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, nullptr) == value)
            break;
    }
    return text;
}

std::string JsonText(const JsonValue& value) {
    switch (value.kind) {
        case JsonValue::kNull:
            return "null";
        case JsonValue::kBoolean:
            return value.boolean ? "true" : "false";
        case JsonValue::kNumber:
            return std::string(value.view());
        case JsonValue::kString:
        case JsonValue::kTime:
            return JsonString(value.view());
        case JsonValue::kArray:
        case JsonValue::kObject:
            break;
    }
    JsonList list;
    for (int i = 0; i < value.count; ++i)
        if (value.kind == JsonValue::kObject)
            list.Add(value.keys[i], JsonText(value.items[i]));
        else
            list.Append(JsonText(value.items[i]));
    return value.kind == JsonValue::kObject ? list.Object() : list.Array();
}

}  // namespace dpboost
