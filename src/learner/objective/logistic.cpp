// The logistic loss of a binary target: log(1 + exp(-score)) for label 1, log(1 + exp(score)) for label 0. Gradient
// label - p, Hessian p (1 - p) <= 1/4, with p = 1 / (1 + exp(-score)).
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

double LogOdds(double probability, double edge) {
    const double p = std::clamp(probability, edge, 1 - edge);
    return portable::Log(p / (1 - p));
}

class Logistic final : public Objective {
  public:
    using Objective::Objective;

    Link link() const override { return Link::kLogistic; }
    double curvature() const override { return 0.25; }
    void Centre(const float* labels, size_t n, float* centred) const override {
        std::transform(labels, labels + n, centred, [](float label) { return 2 * label - 1; });
    }
    double StartScore(const MeanLabel& mean) const override {
        return LogOdds((1 + mean.value) / 2, mean.edge);
    }
    double Correction(const MeanLabel& mean, double error) const override {
        const double positive = (1 + mean.value) / 2;
        return std::clamp(LogOdds(positive, mean.edge) - LogOdds(positive - error, mean.edge), -1.0, 1.0);
    }

  private:
    void EvaluatePortable(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++) {
            const float x = static_cast<float>(rows.scores[i]) * kScoreStep;
            const float e = NegativeExpOf(x, kMaxExponent);
            const float q = 1.0F / (1.0F + e);
            const float eq = e * q;
            const float p = x < 0.0F ? eq : q;
            rows.gradients[i] = ClipToLattice((rows.labels[i] - p) * gradient_scale_, -kClip);
            rows.hessians[i] = ClipToLattice((eq * q) * hessian_scale_, 0.0F);
        }
    }

#if defined(__x86_64__)
    DPBOOST_AVX2 size_t EvaluateAvx2(Rows rows) const override {
        const __m256 one = _mm256_set1_ps(1.0F);
        const __m256 gradient_scale = _mm256_set1_ps(gradient_scale_);
        const __m256 hessian_scale = _mm256_set1_ps(hessian_scale_);
        size_t i = 0;
        for (; i + 8 <= rows.n; i += 8) {
            const __m256 x = LoadScores8(rows.scores + i);
            const __m256 e = NegativeExpOf8(x, kMaxExponent);
            const __m256 q = _mm256_div_ps(one, _mm256_add_ps(one, e));
            const __m256 eq = _mm256_mul_ps(e, q);
            const __m256 p = _mm256_blendv_ps(q, eq, x);  // by the sign bit; x is never -0
            const __m256 g =
                _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(rows.labels + i), p), gradient_scale);
            const __m256 h = _mm256_mul_ps(_mm256_mul_ps(eq, q), hessian_scale);
            Store8(rows.gradients + i, ClipToLattice8(g, -kClip));
            Store8(rows.hessians + i, ClipToLattice8(h, 0.0F));
        }
        return i;
    }

    DPBOOST_AVX512 size_t GradientsAvx512(Rows rows) const override {
        const __m512 one = _mm512_set1_ps(1.0F);
        const __m512 scale = _mm512_set1_ps(gradient_scale_);
        size_t i = 0;
        for (; i + 16 <= rows.n; i += 16) {
            const __m512 x = LoadScores16(rows.scores + i);
            const __m512 e = NegativeExpOf16(x, kMaxExponent);
            const __m512 q = _mm512_div_ps(one, _mm512_add_ps(one, e));
            const __mmask16 negative =
                _mm512_cmplt_epi32_mask(_mm512_castps_si512(x), _mm512_setzero_si512());
            const __m512 p = _mm512_mask_mul_ps(q, negative, e, q);
            const __m512 g = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(rows.labels + i), p), scale);
            _mm512_storeu_si512(rows.gradients + i, ClipToLattice16(g, -kClip));
        }
        return i;
    }
#endif
};

}  // namespace

std::unique_ptr<const Objective> MakeLogistic(double gradient_clip, double hessian_clip) {
    return std::make_unique<Logistic>(gradient_clip, hessian_clip);
}

}  // namespace dpboost
