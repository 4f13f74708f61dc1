// Adding noise to a sum without overflow.
#pragma once

#include <cstdint>

namespace dpboost {

// a + b, or the end of the range that it would pass. Clamping the exact sum is post-processing, while an
// error would depend on rows.
inline int64_t SaturatingAdd(int64_t a, int64_t b) noexcept {
    int64_t sum;
    if (__builtin_expect(__builtin_add_overflow(a, b, &sum), 0))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

}  // namespace dpboost
