#include "learner/rows/additive/byte_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <iterator>

// GCC 12 takes what its own header leaves undefined on purpose for a mistake (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define DPBOOST_TARGET "avx512f,avx512bw,avx512vnni"
#define DPBOOST_KERNEL __attribute__((target(DPBOOST_TARGET)))
#define DPBOOST_INLINE __attribute__((target(DPBOOST_TARGET), always_inline)) inline

namespace dpboost {
namespace {

template <bool kSmall>
struct Plane {
    __m512i quarters[kSmall ? 1 : 4];  // of the words
};

template <bool kSmall>
DPBOOST_INLINE Plane<kSmall> LoadPlane(const ByteTable& table, size_t plane) {
    Plane<kSmall> loaded;
    const uint16_t* const words = kSmall ? table.small_words[plane] : table.words[plane];
    for (size_t k = 0; k < std::size(loaded.quarters); k++)
        loaded.quarters[k] = _mm512_load_si512(words + 32 * k);
    return loaded;
}

// The words of 32 codes, which are the lower bytes of `codes`; `upper` says which of them belong to the upper two quarters.
template <bool kSmall>
DPBOOST_INLINE __m512i Words(const Plane<kSmall>& plane, __m512i codes, __mmask32 upper) {
    if constexpr (kSmall) {
        return _mm512_permutexvar_epi16(codes, plane.quarters[0]);
    } else {
        const __m512i low = _mm512_permutex2var_epi16(plane.quarters[0], codes, plane.quarters[1]);
        const __m512i high = _mm512_permutex2var_epi16(plane.quarters[2], codes, plane.quarters[3]);
        return _mm512_mask_blend_epi16(upper, low, high);
    }
}

// A word holds a cell and the one half a table above it. Codes at even places find theirs, then those at odd ones; of the two
// cells in a word the highest bit of a code chooses.
template <bool kSmall>
DPBOOST_INLINE __m512i LookUp(const Plane<kSmall>& plane, __m512i codes) {
    constexpr __mmask64 kOdd = 0xaaaaaaaaaaaaaaaa;
    const __m512i even = Words(plane, codes, _mm512_test_epi16_mask(codes, _mm512_set1_epi16(0x40)));
    const __m512i odd =
        Words(plane, _mm512_srli_epi16(codes, 8), _mm512_test_epi16_mask(codes, _mm512_set1_epi16(0x4000)));
    const __m512i lower = _mm512_mask_blend_epi8(kOdd, even, _mm512_slli_epi16(odd, 8));
    const __m512i upper = _mm512_mask_blend_epi8(kOdd, _mm512_srli_epi16(even, 8), odd);
    const __mmask64 chosen =
        kSmall ? _mm512_test_epi8_mask(codes, _mm512_set1_epi8(0x20)) : _mm512_movepi8_mask(codes);
    return _mm512_mask_blend_epi8(chosen, lower, upper);
}

#include "learner/rows/additive/byte_kernels.inc"

}  // namespace

const ByteKernels& WordKernels() {
    return kKernels;
}

}  // namespace dpboost

#endif
