#include "training/json.h"

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
