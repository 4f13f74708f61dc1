// A small generator, the same everywhere, for shapes of models; nothing that it makes is private.
#pragma once

#include <cstdint>

namespace dpboost {

struct Xorshift {
    uint64_t state = 88172645463325252u;
    uint32_t Below(uint32_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>((state >> 32) * n >> 32);
    }
};

}  // namespace dpboost
