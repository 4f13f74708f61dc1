// The softmax loss of K classes: -log p of the row's class y, p_k = exp(score_k) / sum exp. Gradient of score k:
// [k = y] - p_k; its vector has the squared length (1 - p_y)^2 + sum of the other p_k^2 <= 2 (1 - p_y)^2 <= 2. One
// Hessian for all classes, max_k p_k (1 - p_k) <= 1/4.
//
// The vector is clipped as a whole: its direction stays, and a clip of c sqrt(2) is what a clip of c is to two classes,
// whatever K is.
//
// Neighbours: add or remove one unit. A row adds integers q_k with sum q_k^2 <= kClipSteps^2, exactly, whatever its label
// and its scores are: q is first an integer vector, each |q_k| <= 2^21 by a clamp behind all floating point, so its squared
// length is an exact integer below 2^48; a longer one than kClipSteps is multiplied by a factor that is rounded down
// (clip_norm.h), and each entry is rounded towards zero, which makes it no longer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

// Exponentials are summed as integers, so that the sum does not depend on the order: K of them stay below 2^31.
constexpr float kExpUnit = 1 << 24;
constexpr uint32_t kFarBelow = static_cast<uint32_t>(kMaxExponent) << kFixedBits;  // of the largest score
constexpr float kLongest = 1 << 21;                // lattice steps of an entry before the vector is clipped
constexpr int64_t kFactorUnit = int64_t{1} << 30;  // 30: see Times
constexpr double kClipSquared = static_cast<double>(kClipSteps) * kClipSteps;

static_assert(kMaxClasses <= 64, "sums of exponentials and of squares stay within their types");

class SoftmaxLoss final : public Objective {
  public:
    SoftmaxLoss(size_t classes, double gradient_clip, double hessian_clip)
        : Objective(gradient_clip, hessian_clip), classes_(classes) {}

    size_t outputs() const override { return classes_; }
    Link link() const override { return Link::kSoftmax; }
    // The largest eigenvalue of diag(p) - p p' is 1/2 at the most: that of two classes of a half each.
    double curvature() const override { return 0.5; }
    double spread() const override { return std::sqrt(2.0); }
    double reach() const override { return std::sqrt(2.0); }

    // Means of classes are counts of each: there is no one number.
    void Centre(const float*, size_t, float*) const override { RefuseOneNumber(); }
    double StartScore(const MeanLabel&) const override { RefuseOneNumber(); }
    double Correction(const MeanLabel&, double) const override { RefuseOneNumber(); }

  private:
    [[noreturn]] static void RefuseOneNumber() {
        throw Error(ErrorCode::kInternal, "classes have no mean label");
    }

    void EvaluatePortable(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++)
            rows.hessians[i] = EvaluateRow(rows.scores + i * classes_, static_cast<size_t>(rows.labels[i]),
                                           rows.gradients + i * classes_);
    }

    // Returns the Hessian.
    int32_t EvaluateRow(const int32_t* scores, size_t label, int32_t* gradients) const {
        const auto top = static_cast<uint32_t>(*std::max_element(scores, scores + classes_));
        int32_t exps[kMaxClasses];
        int32_t sum = 0;
        for (size_t k = 0; k < classes_; k++) {
            // The difference of two numbers of 32 bits, as one without a sign.
            const uint32_t below = std::min(top - static_cast<uint32_t>(scores[k]), kFarBelow);
            exps[k] = static_cast<int32_t>(
                NegativeExp(static_cast<float>(static_cast<int32_t>(below)) * kScoreStep) * kExpUnit);
            sum += exps[k];
        }
        const float scale = 1.0F / static_cast<float>(sum);
        float hessian = 0.0F;
        int64_t norm = 0;
        for (size_t k = 0; k < classes_; k++) {
            const float p = static_cast<float>(exps[k]) * scale;
            const float h = p * (1.0F - p);
            hessian = hessian > h ? hessian : h;
            float g = ((k == label ? 1.0F : 0.0F) - p) * gradient_scale_;
            g = g < kLongest ? g : kLongest;
            g = g > -kLongest ? g : -kLongest;
            gradients[k] = static_cast<int32_t>(g + kRound - kRound);
            norm += static_cast<int64_t>(gradients[k]) * gradients[k];
        }
        const int64_t factor = ScaleDown(static_cast<double>(norm), kClipSquared, kFactorUnit);
        for (size_t k = 0; factor < kFactorUnit && k < classes_; k++)
            gradients[k] = static_cast<int32_t>(gradients[k] * factor / kFactorUnit);  // towards zero
        return ClipToLattice(hessian * hessian_scale_, 0.0F);
    }

#if defined(__x86_64__)
    // Eight classes at a time. Lanes behind the last class hold the lowest score, no exponential and no gradient.
    DPBOOST_AVX2 size_t EvaluateAvx2(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++)
            rows.hessians[i] = EvaluateRow8(rows.scores + i * classes_, static_cast<int32_t>(rows.labels[i]),
                                            rows.gradients + i * classes_);
        return rows.n;
    }

    DPBOOST_AVX2 __m256i Lanes(size_t first) const {
        const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(classes_ - first)), number);
    }

    DPBOOST_AVX2 int32_t EvaluateRow8(const int32_t* scores, int32_t label, int32_t* gradients) const {
        const size_t vectors = (classes_ + 7) / 8;
        __m256i values[kMaxClasses / 8];
        __m256i top = _mm256_set1_epi32(std::numeric_limits<int32_t>::min());
        const __m256i lowest = top;
        for (size_t v = 0; v < vectors; v++) {
            const __m256i lanes = Lanes(8 * v);
            values[v] = _mm256_blendv_epi8(lowest, _mm256_maskload_epi32(scores + 8 * v, lanes), lanes);
            top = _mm256_max_epi32(top, values[v]);
        }
        top = _mm256_max_epi32(top, _mm256_permute2x128_si256(top, top, 1));
        top = _mm256_max_epi32(top, _mm256_shuffle_epi32(top, 0x4E));
        top = _mm256_max_epi32(top, _mm256_shuffle_epi32(top, 0xB1));
        __m256i sum = _mm256_setzero_si256();
        for (size_t v = 0; v < vectors; v++) {
            const __m256i below =
                _mm256_min_epu32(_mm256_sub_epi32(top, values[v]), _mm256_set1_epi32(kFarBelow));
            const __m256 e =
                NegativeExp8(_mm256_mul_ps(_mm256_cvtepi32_ps(below), _mm256_set1_ps(kScoreStep)));
            values[v] = _mm256_and_si256(_mm256_cvttps_epi32(_mm256_mul_ps(e, _mm256_set1_ps(kExpUnit))),
                                         Lanes(8 * v));
            sum = _mm256_add_epi32(sum, values[v]);
        }
        sum = _mm256_add_epi32(sum, _mm256_permute2x128_si256(sum, sum, 1));
        sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, 0x4E));
        sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, 0xB1));
        const __m256 scale = _mm256_div_ps(_mm256_set1_ps(1.0F), _mm256_cvtepi32_ps(sum));
        __m256 hessian = _mm256_setzero_ps();
        __m256i norm = _mm256_setzero_si256();
        for (size_t v = 0; v < vectors; v++) {
            const __m256 one = _mm256_set1_ps(1.0F);
            const __m256 p = _mm256_mul_ps(_mm256_cvtepi32_ps(values[v]), scale);
            const __m256 h = _mm256_mul_ps(p, _mm256_sub_ps(one, p));
            hessian = _mm256_max_ps(hessian, h);
            const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            const __m256i own =
                _mm256_cmpeq_epi32(number, _mm256_set1_epi32(label - static_cast<int32_t>(8 * v)));
            const __m256 truth = _mm256_and_ps(_mm256_castsi256_ps(own), one);
            __m256 g = _mm256_mul_ps(_mm256_sub_ps(truth, p), _mm256_set1_ps(gradient_scale_));
            g = _mm256_max_ps(_mm256_min_ps(g, _mm256_set1_ps(kLongest)), _mm256_set1_ps(-kLongest));
            g = _mm256_sub_ps(_mm256_add_ps(g, _mm256_set1_ps(kRound)), _mm256_set1_ps(kRound));
            values[v] = _mm256_and_si256(_mm256_cvttps_epi32(g), Lanes(8 * v));
            const __m256i odd = _mm256_srli_epi64(values[v], 32);
            norm = _mm256_add_epi64(
                norm, _mm256_add_epi64(_mm256_mul_epi32(values[v], values[v]), _mm256_mul_epi32(odd, odd)));
        }
        alignas(32) int64_t norms[4];
        _mm256_store_si256(reinterpret_cast<__m256i*>(norms), norm);
        const int64_t factor = ScaleDown(static_cast<double>(norms[0] + norms[1] + norms[2] + norms[3]),
                                         kClipSquared, kFactorUnit);
        for (size_t v = 0; v < vectors; v++) {
            const __m256i clipped = factor < kFactorUnit ? Times(values[v], factor) : values[v];
            _mm256_maskstore_epi32(gradients + 8 * v, Lanes(8 * v), clipped);
        }
        return ClipToLattice(Largest(hessian) * hessian_scale_, 0.0F);
    }

    // values * factor / kFactorUnit, towards zero.
    DPBOOST_AVX2 static __m256i Times(__m256i values, int64_t factor) {
        const __m256i times = _mm256_set1_epi64x(factor), sizes = _mm256_abs_epi32(values);
        const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(sizes, times), 30);
        const __m256i odd = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(sizes, 32), times), 30);
        return _mm256_sign_epi32(_mm256_or_si256(even, _mm256_slli_epi64(odd, 32)), values);
    }

    DPBOOST_AVX2 static float Largest(__m256 x) {
        alignas(32) float entries[8];
        _mm256_store_ps(entries, x);
        return *std::max_element(entries, entries + 8);
    }
#endif

    const size_t classes_;
};

}  // namespace

std::unique_ptr<const Objective> MakeSoftmax(size_t classes, double gradient_clip, double hessian_clip) {
    CheckInternal(classes >= 2 && classes <= kMaxClasses, "softmax is for 2 to 64 classes");
    return std::make_unique<SoftmaxLoss>(classes, gradient_clip, hessian_clip);
}

}  // namespace dpboost
