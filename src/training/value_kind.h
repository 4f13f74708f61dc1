// What the values of a column are, as far as a training must know; PostgreSQL's types are its side's business.
#pragma once

#include <cstdint>
#include <string>

namespace dpboost {

enum class ValueKind : uint8_t {
    kFloat8,
    kFloat4,
    kInt2,
    kInt4,
    kInt8,
    kNumeric,
    kDate,       // in days since 2000-01-01
    kTimestamp,  // with or without time zone, in seconds since 2000-01-01
    kBoolean,
    kText,
    kBpchar,  // blanks at the end do not count
    kName,
    kEnum,
    kUnknown  // a quoted literal or NULL whose type nobody has decided
};

inline bool IsNumber(ValueKind kind) {
    return kind <= ValueKind::kTimestamp;
}
inline bool IsWhole(ValueKind kind) {
    return kind == ValueKind::kInt2 || kind == ValueKind::kInt4 || kind == ValueKind::kInt8;
}
inline bool IsTime(ValueKind kind) {
    return kind == ValueKind::kDate || kind == ValueKind::kTimestamp;
}

// A number as its column's values are written: a date or a time for those, in UTC.
std::string PrintedValue(ValueKind kind, double number);

}  // namespace dpboost
