#include "dataset/units.h"

#include <sodium.h>
#include <cstring>

namespace dpboost {
namespace {

// The top byte of a key tells how it was made: the number of bytes kept, or one of these.
constexpr uint64_t kHashedTag = 0xff;

UnitKey WithTag(UnitKey key, uint64_t tag) noexcept {
    key.high = (key.high & 0x00ffffffffffffffu) | (tag << 56);
    return key;
}

}  // namespace

UnitKey UnitKeyOf(const void* bytes, size_t size) noexcept {
    unsigned char buffer[16] = {};
    static_assert(sizeof buffer == sizeof(UnitKey), "a key is 16 bytes");
    uint64_t tag = size;
    if (size <= 15) {
        if (size > 0)
            std::memcpy(buffer, bytes, size);
    } else {
        crypto_generichash(buffer, sizeof buffer, static_cast<const unsigned char*>(bytes), size, nullptr, 0);
        tag = kHashedTag;
    }
    // Little-endian by hand: byte 15 is the top byte of `high` on every machine.
    UnitKey key;
    for (int i = 0; i < 8; i++) {
        key.low |= static_cast<uint64_t>(buffer[i]) << (8 * i);
        key.high |= static_cast<uint64_t>(buffer[8 + i]) << (8 * i);
    }
    return WithTag(key, tag);
}

UnitKey UnitKeyOf(int64_t value) noexcept {
    UnitKey key;
    key.low = static_cast<uint64_t>(value);
    return WithTag(key, sizeof value);
}

}  // namespace dpboost
