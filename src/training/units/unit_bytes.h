// Numbers and keys of accounts as they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dataset/units.h"
#include "training/units/unit_rooms.h"

namespace dpboost {

// Of what UnitBook::WriteOut gives.
namespace unit_bytes {
constexpr uint32_t kMagic = 0x64707562;
constexpr std::size_t kBucketHeader = 16;
constexpr uint32_t kHasKeys = 1;
constexpr uint32_t kHasSpent = 2;
// A u32, then a bit for each unit that there is room for.
constexpr std::size_t kReservedSize = sizeof(uint32_t) + kBucketUnits / 8;

constexpr std::size_t Padded(std::size_t size) {
    return (size + 7) / 8 * 8;
}
}  // namespace unit_bytes

// Keys as bytes: the high word first, both big-endian, so that memcmp orders them.
inline void WriteKey(const UnitKey& key, char* to) {
    for (int i = 0; i < 8; i++) {
        to[i] = static_cast<char>(key.high >> (56 - 8 * i));
        to[8 + i] = static_cast<char>(key.low >> (56 - 8 * i));
    }
}

inline UnitKey ReadKey(const char* from) {
    UnitKey key;
    for (int i = 0; i < 8; i++) {
        key.high = key.high << 8 | static_cast<unsigned char>(from[i]);
        key.low = key.low << 8 | static_cast<unsigned char>(from[8 + i]);
    }
    return key;
}

inline bool Less(const UnitKey& a, const UnitKey& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

inline uint32_t ReadU32(const char* from) {
    const auto* b = reinterpret_cast<const unsigned char*>(from);
    return uint32_t{b[0]} | uint32_t{b[1]} << 8 | uint32_t{b[2]} << 16 | uint32_t{b[3]} << 24;
}

inline void WriteU32(uint32_t value, char* to) {
    for (int i = 0; i < 4; i++)
        to[i] = static_cast<char>(value >> (8 * i));
}

inline void AppendU32(uint32_t value, std::string* to) {
    char bytes[4];
    WriteU32(value, bytes);
    to->append(bytes, sizeof bytes);
}

}  // namespace dpboost
