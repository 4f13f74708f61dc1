#include "learner/rows/additive/byte_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <iterator>

// GCC 12 takes what its own header leaves undefined on purpose for a mistake (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define DPBOOST_TARGET "avx512f,avx512bw,avx512vbmi,avx512vnni"
#define DPBOOST_KERNEL __attribute__((target(DPBOOST_TARGET)))
#define DPBOOST_INLINE __attribute__((target(DPBOOST_TARGET), always_inline)) inline

namespace dpboost {
namespace {

template <bool kSmall>
struct Plane {
    __m512i quarters[kSmall ? 1 : 4];
};

template <bool kSmall>
DPBOOST_INLINE Plane<kSmall> LoadPlane(const ByteTable& table, size_t plane) {
    Plane<kSmall> loaded;
    for (size_t k = 0; k < std::size(loaded.quarters); k++)
        loaded.quarters[k] = _mm512_load_si512(table.planes[plane] + 64 * k);
    return loaded;
}

template <bool kSmall>
DPBOOST_INLINE __m512i LookUp(const Plane<kSmall>& plane, __m512i codes) {
    if constexpr (kSmall) {
        return _mm512_permutexvar_epi8(codes, plane.quarters[0]);
    } else {
        const __m512i low = _mm512_permutex2var_epi8(plane.quarters[0], codes, plane.quarters[1]);
        const __m512i high = _mm512_permutex2var_epi8(plane.quarters[2], codes, plane.quarters[3]);
        return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
    }
}

#include "learner/rows/additive/byte_kernels.inc"

}  // namespace

const ByteKernels& VbmiKernels() {
    return kKernels;
}

}  // namespace dpboost

#endif
