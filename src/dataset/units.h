// Privacy units: which rows belong to one person. Rows carry a 128-bit key of their unit's value while they
// stream in; at the end equal keys become one dense unit index. Rows of nobody (a NULL unit) have no key:
// they must be left out, because people who share a unit are replaced in it, not added or removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpboost {

// Equal keys are one unit. Two people under one key would break the sensitivity bound, so keys must not
// collide: short values are their own key, longer ones a collision-resistant hash.
struct UnitKey {
    uint64_t low = 0;
    uint64_t high = 0;

    bool operator==(const UnitKey& other) const noexcept { return low == other.low && high == other.high; }
};

// Key of a unit's value, given in bytes that are equal exactly when the values are: up to 15 bytes are kept
// as they are, more are hashed by BLAKE2b to 128 bits with the top byte marked (120 bits remain).
UnitKey UnitKeyOf(const void* bytes, size_t size) noexcept;
UnitKey UnitKeyOf(int64_t value) noexcept;

}  // namespace dpboost
