// What the kernels of all losses share: rounding to the lattice and the exponential function, each in portable and in
// vector form. Only single IEEE operations (no fused multiply-add: the core is compiled with -ffp-contract=off), hence
// the same bits in both.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dataset/target.h"
#include "learner/objective/objective.h"

#if defined(__x86_64__)
#include <immintrin.h>
// GCC 12 takes what its own header leaves undefined on purpose for a mistake (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace dpboost {
namespace lattice_kernel {

constexpr float kScoreStep = 1.0F / static_cast<float>(kFixedScale);
constexpr float kClip = static_cast<float>(kClipSteps);
// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even, for |x| < 2^22.
constexpr float kRound = 12582912.0F;
static_assert(kClipSteps < (1 << 22), "the rounding constant covers the lattice");

// exp(-a) for 0 <= a <= kMaxExponent: Cody-Waite reduction and the minimax polynomial of Cephes expf.
constexpr float kMaxExponent = 80.0F;
constexpr float kLog2E = 1.44269504088896341F;
constexpr float kLn2High = 0.693359375F;
constexpr float kLn2Low = -2.12194440e-4F;
constexpr float kExp0 = 1.9875691500e-4F;
constexpr float kExp1 = 1.3981999507e-3F;
constexpr float kExp2 = 8.3334519073e-3F;
constexpr float kExp3 = 4.1665795894e-2F;
constexpr float kExp4 = 1.6666665459e-1F;
constexpr float kExp5 = 5.0000001201e-1F;

// The nearest integer within [low, kClipSteps]: a row's part in a sum, bounded whatever x is. Written as the vector
// minimum and maximum behave, NaN included (scores and labels are never NaN).
inline int32_t ClipToLattice(float x, float low) {
    x = x < kClip ? x : kClip;
    x = x > low ? x : low;
    return static_cast<int32_t>(x + kRound - kRound);
}

inline float NegativeExp(float a) {
    const float n = (a * kLog2E + kRound) - kRound;
    const float r = (n * kLn2High - a) + n * kLn2Low;  // exp(-a) = 2^-n exp(r)
    float p = kExp0;
    p = p * r + kExp1;
    p = p * r + kExp2;
    p = p * r + kExp3;
    p = p * r + kExp4;
    p = p * r + kExp5;
    p = p * (r * r) + r + 1.0F;
    const int32_t bits = (127 - static_cast<int32_t>(n)) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof(scale));
    return p * scale;
}

// exp(-min(|x|, most))
inline float NegativeExpOf(float x, float most) {
    const float magnitude = std::fabs(x);
    return NegativeExp(magnitude < most ? magnitude : most);
}

#if defined(__x86_64__)
#define DPBOOST_AVX2 __attribute__((target("avx2")))

DPBOOST_AVX2 inline __m256i ClipToLattice8(__m256 x, float low) {
    const __m256 round = _mm256_set1_ps(kRound);
    x = _mm256_max_ps(_mm256_min_ps(x, _mm256_set1_ps(kClip)), _mm256_set1_ps(low));
    return _mm256_cvttps_epi32(_mm256_sub_ps(_mm256_add_ps(x, round), round));
}

DPBOOST_AVX2 inline __m256 NegativeExp8(__m256 a) {
    const __m256 round = _mm256_set1_ps(kRound);
    const __m256 n = _mm256_sub_ps(_mm256_add_ps(_mm256_mul_ps(a, _mm256_set1_ps(kLog2E)), round), round);
    const __m256 r = _mm256_add_ps(_mm256_sub_ps(_mm256_mul_ps(n, _mm256_set1_ps(kLn2High)), a),
                                   _mm256_mul_ps(n, _mm256_set1_ps(kLn2Low)));
    __m256 p = _mm256_set1_ps(kExp0);
    p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(kExp1));
    p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(kExp2));
    p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(kExp3));
    p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(kExp4));
    p = _mm256_add_ps(_mm256_mul_ps(p, r), _mm256_set1_ps(kExp5));
    p = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(p, _mm256_mul_ps(r, r)), r), _mm256_set1_ps(1.0F));
    const __m256i exponent = _mm256_sub_epi32(_mm256_set1_epi32(127), _mm256_cvttps_epi32(n));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}

DPBOOST_AVX2 inline __m256 NegativeExpOf8(__m256 x, float most) {
    return NegativeExp8(_mm256_min_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0F), x), _mm256_set1_ps(most)));
}

// Eight scores as floats.
DPBOOST_AVX2 inline __m256 LoadScores8(const int32_t* scores) {
    const __m256i score = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scores));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(score), _mm256_set1_ps(kScoreStep));
}

DPBOOST_AVX2 inline void Store8(int32_t* out, __m256i values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), values);
}

// The same for sixteen.
#define DPBOOST_AVX512 __attribute__((target("avx512f")))

DPBOOST_AVX512 inline __m512i ClipToLattice16(__m512 x, float low) {
    const __m512 round = _mm512_set1_ps(kRound);
    x = _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(kClip)), _mm512_set1_ps(low));
    return _mm512_cvttps_epi32(_mm512_sub_ps(_mm512_add_ps(x, round), round));
}

DPBOOST_AVX512 inline __m512 NegativeExp16(__m512 a) {
    const __m512 round = _mm512_set1_ps(kRound);
    const __m512 n = _mm512_sub_ps(_mm512_add_ps(_mm512_mul_ps(a, _mm512_set1_ps(kLog2E)), round), round);
    const __m512 r = _mm512_add_ps(_mm512_sub_ps(_mm512_mul_ps(n, _mm512_set1_ps(kLn2High)), a),
                                   _mm512_mul_ps(n, _mm512_set1_ps(kLn2Low)));
    __m512 p = _mm512_set1_ps(kExp0);
    p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(kExp1));
    p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(kExp2));
    p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(kExp3));
    p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(kExp4));
    p = _mm512_add_ps(_mm512_mul_ps(p, r), _mm512_set1_ps(kExp5));
    p = _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(p, _mm512_mul_ps(r, r)), r), _mm512_set1_ps(1.0F));
    const __m512i exponent = _mm512_sub_epi32(_mm512_set1_epi32(127), _mm512_cvttps_epi32(n));
    return _mm512_mul_ps(p, _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23)));
}

DPBOOST_AVX512 inline __m512 NegativeExpOf16(__m512 x, float most) {
    return NegativeExp16(_mm512_min_ps(_mm512_abs_ps(x), _mm512_set1_ps(most)));
}

DPBOOST_AVX512 inline __m512 LoadScores16(const int32_t* scores) {
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(scores)), _mm512_set1_ps(kScoreStep));
}
#pragma GCC diagnostic pop
#endif

}  // namespace lattice_kernel
}  // namespace dpboost
