#include "learner/objective/objective.h"

#include <cmath>
#include <cstring>

#include "dataset/target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {
namespace {

// exp(-a) for 0 <= a <= kMaxExponent: Cody-Waite reduction and the minimax polynomial of Cephes expf. Only
// single IEEE operations (no fused multiply-add: the core is compiled with -ffp-contract=off), hence the same
// bits in scalar and vector form.
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
// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even, for |x| < 2^22.
constexpr float kRound = 12582912.0F;
constexpr float kScoreUnit = 1.0F / static_cast<float>(kFixedScale);
constexpr float kClip = static_cast<float>(kClipSteps);

static_assert(kClipSteps < (1 << 22), "the rounding constant covers the lattice");

// The bits of the integer nearest to x, given |x| < 2^22.
inline int32_t RoundToInt(float x) {
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

inline float Clamp(float x, float low, float high) {
    // Written as the vector minimum and maximum behave, NaN included (scores and labels are never NaN).
    x = x < high ? x : high;
    return x > low ? x : low;
}

void LogisticPortable(const int32_t* scores, const float* labels, size_t n, float gradient_scale,
                      float hessian_scale, int32_t* gradients, int32_t* hessians) {
    for (size_t i = 0; i < n; i++) {
        const float x = static_cast<float>(scores[i]) * kScoreUnit;
        const float magnitude = std::fabs(x);
        const float e = NegativeExp(magnitude < kMaxExponent ? magnitude : kMaxExponent);
        const float q = 1.0F / (1.0F + e);
        const float eq = e * q;
        const float p = x < 0.0F ? eq : q;
        gradients[i] = RoundToInt(Clamp((labels[i] - p) * gradient_scale, -kClip, kClip));
        hessians[i] = RoundToInt(Clamp((eq * q) * hessian_scale, 0.0F, kClip));
    }
}

void SquaredPortable(const int32_t* scores, const float* labels, size_t n, float gradient_scale,
                     int32_t* gradients, int32_t* hessians) {
    for (size_t i = 0; i < n; i++) {
        const float x = static_cast<float>(scores[i]) * kScoreUnit;
        gradients[i] = RoundToInt(Clamp((labels[i] - x) * gradient_scale, -kClip, kClip));
        hessians[i] = kClipSteps;
    }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) inline __m256 NegativeExp8(__m256 a) {
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

__attribute__((target("avx2"))) inline __m256i RoundToInt8(__m256 x) {
    const __m256 round = _mm256_set1_ps(kRound);
    return _mm256_cvttps_epi32(_mm256_sub_ps(_mm256_add_ps(x, round), round));
}

__attribute__((target("avx2"))) inline __m256i ClipToLattice(__m256 x, float low) {
    return RoundToInt8(_mm256_max_ps(_mm256_min_ps(x, _mm256_set1_ps(kClip)), _mm256_set1_ps(low)));
}

// Returns how many rows were done (a multiple of 8); the portable form does the rest.
__attribute__((target("avx2"))) size_t LogisticAvx2(const int32_t* scores, const float* labels, size_t n,
                                                    float gradient_scale, float hessian_scale,
                                                    int32_t* gradients, int32_t* hessians) {
    const __m256 one = _mm256_set1_ps(1.0F);
    const __m256 sign = _mm256_set1_ps(-0.0F);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i score = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scores + i));
        const __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(score), _mm256_set1_ps(kScoreUnit));
        const __m256 magnitude = _mm256_min_ps(_mm256_andnot_ps(sign, x), _mm256_set1_ps(kMaxExponent));
        const __m256 e = NegativeExp8(magnitude);
        const __m256 q = _mm256_div_ps(one, _mm256_add_ps(one, e));
        const __m256 eq = _mm256_mul_ps(e, q);
        const __m256 p = _mm256_blendv_ps(q, eq, x);  // by the sign bit; x is never -0
        const __m256 g =
            _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(labels + i), p), _mm256_set1_ps(gradient_scale));
        const __m256 h = _mm256_mul_ps(_mm256_mul_ps(eq, q), _mm256_set1_ps(hessian_scale));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(gradients + i), ClipToLattice(g, -kClip));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(hessians + i), ClipToLattice(h, 0.0F));
    }
    return i;
}

__attribute__((target("avx2"))) size_t SquaredAvx2(const int32_t* scores, const float* labels, size_t n,
                                                   float gradient_scale, int32_t* gradients,
                                                   int32_t* hessians) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i score = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scores + i));
        const __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(score), _mm256_set1_ps(kScoreUnit));
        const __m256 g =
            _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(labels + i), x), _mm256_set1_ps(gradient_scale));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(gradients + i), ClipToLattice(g, -kClip));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(hessians + i), _mm256_set1_epi32(kClipSteps));
    }
    return i;
}

#endif

}  // namespace

Objective::Objective(Loss loss, double gradient_clip, double hessian_clip)
    : loss_(loss),
      gradient_scale_(static_cast<float>(kClipSteps / gradient_clip)),
      hessian_scale_(static_cast<float>(kClipSteps / hessian_clip)) {}

void Objective::Evaluate(Simd simd, const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                         int32_t* hessians) const {
    size_t done = 0;
#if defined(__x86_64__)
    if (simd != Simd::kPortable)
        done = loss_ == Loss::kLogistic
                   ? LogisticAvx2(scores, labels, n, gradient_scale_, hessian_scale_, gradients, hessians)
                   : SquaredAvx2(scores, labels, n, gradient_scale_, gradients, hessians);
#else
    (void)simd;
#endif
    if (loss_ == Loss::kLogistic)
        LogisticPortable(scores + done, labels + done, n - done, gradient_scale_, hessian_scale_,
                         gradients + done, hessians + done);
    else
        SquaredPortable(scores + done, labels + done, n - done, gradient_scale_, gradients + done,
                        hessians + done);
}

}  // namespace dpboost
