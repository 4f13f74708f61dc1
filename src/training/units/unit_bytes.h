// Numbers and keys of accounts as they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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
inline uint64_t BigEndian(uint64_t word) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(word) : word;
}

inline void WriteKey(const UnitKey& key, char* to) {
    const uint64_t words[] = {BigEndian(key.high), BigEndian(key.low)};
    memcpy(to, words, sizeof words);
}

inline UnitKey ReadKey(const char* from) {
    uint64_t words[2];
    memcpy(words, from, sizeof words);
    return {BigEndian(words[1]), BigEndian(words[0])};
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

inline uint64_t ReadU64(const char* from) {
    return ReadU32(from) | uint64_t{ReadU32(from + 4)} << 32;
}

inline void WriteU64(uint64_t value, char* to) {
    WriteU32(static_cast<uint32_t>(value), to);
    WriteU32(static_cast<uint32_t>(value >> 32), to + 4);
}

namespace unit_bytes {

// Keys of a bucket as they are stored: all but the first byte of each, then how these ascend, in bits, the lowest of a byte
// first: for each key as many zeros as its first byte is above the one before (at first 0), and a one. Keys that fill up the
// bucket are bytes 0xff.
constexpr std::size_t kRestSize = 15;
constexpr std::size_t kRestsSize = kBucketUnits * kRestSize;
constexpr std::size_t kStepBits = kBucketUnits + 256;

// `keys`: 16 bytes each, ascending.
inline void PackKeys(const char* keys, std::size_t count, char* out) {
    memset(out, 0xff, kRestsSize);
    memset(out + kRestsSize, 0, kStepBits / 8);
    std::size_t bit = 0;
    unsigned before = 0;
    for (std::size_t i = 0; i < kBucketUnits; i++) {
        const unsigned first = i < count ? static_cast<unsigned char>(keys[16 * i]) : 0xff;
        bit += first - before;
        before = first;
        out[kRestsSize + bit / 8] = static_cast<char>(out[kRestsSize + bit / 8] | 1 << (bit % 8));
        bit++;
        if (i < count)
            memcpy(out + kRestSize * i, keys + 16 * i + 1, kRestSize);
    }
}

// False for bytes that are not so.
inline bool UnpackKeys(const char* from, char* keys) {
    const char* const steps = from + kRestsSize;
    std::size_t bit = 0;
    for (std::size_t i = 0; i < kBucketUnits; i++, bit++) {
        while (bit < kStepBits && (steps[bit / 8] >> (bit % 8) & 1) == 0)
            bit++;
        if (bit - i > 0xff)
            return false;
        keys[16 * i] = static_cast<char>(bit - i);
        memcpy(keys + 16 * i + 1, from + kRestSize * i, kRestSize);
    }
    return true;
}

}  // namespace unit_bytes
}  // namespace dpboost
