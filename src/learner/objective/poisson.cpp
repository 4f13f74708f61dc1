// The Poisson loss exp(score) - y score of a count y in the target's public range [L, U], L >= 0. The score is the
// logarithm of the mean. Gradient y - exp(score), Hessian exp(score): neither has a bound of its own, and both are as
// large as the counts are. So they are taken in multiples of the mean m that rows start with, which is public or was
// released with noise:
//     g = y / m - exp(score - log m),  clipped to +-gradient_clip,      h = exp(score - log m),  clipped to hessian_clip.
// Neighbours: add or remove one unit. A row adds integers |g| <= kClipSteps and 0 <= h <= kClipSteps, by the clipping
// behind all floating point, whatever y, the score and m are; m decides only what a lattice step means.
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

// exp(40) times any scale is a finite float; a mean that far from the start is clipped anyway.
constexpr float kFar = 40.0F;
// Of the range, for a mean that noise has made smaller: the resolution of labels.
constexpr double kLeastShare = 0x1.0p-20;
// Beyond so many spreads hardly any count lies.
constexpr double kReach = 4;

class Poisson final : public Objective {
  public:
    Poisson(const TargetSpec& target, double gradient_clip, double hessian_clip, int32_t start)
        : Objective(gradient_clip, hessian_clip),
          lower_(target.lower()),
          range_(target.upper() - target.lower()),
          mean_(portable::Exp(FromFixed(start))),
          start_(static_cast<float>(FromFixed(start))),
          least_(static_cast<float>(lower_ / mean_)),
          half_range_(static_cast<float>(range_ / 2 / mean_)) {}

    Link link() const override { return Link::kLog; }
    // In counts 1 + m / 2 = sqrt(1 + m + m^2 / 4): the standard deviation of a Poisson count if the means of rows scatter
    // by half their mean, and never less than one count: clipping that would halve the mean of rare events.
    double spread() const override { return 1 / mean_ + 0.5; }
    double reach() const override { return std::min(range_ / mean_, kReach * spread()); }

    // The share of the range, in [0, 1]: means are mostly far below the middle, and the noise of a count of rows would
    // move the mean of centred labels by as much as they are away from it.
    void Centre(const float* labels, size_t n, float* centred) const override {
        std::transform(labels, labels + n, centred, [](float label) { return (1 + label) / 2; });
    }
    // A mean below its own noise is taken for that noise: a start that is too high is brought down by all rows, one that
    // is too low makes them all clip.
    double StartScore(const MeanLabel& mean) const override {
        return portable::Log(lower_ + range_ * std::max({mean.value, mean.sigma, kLeastShare}));
    }
    // exp(shift) (1 - error) = 1, both in multiples of the mean.
    double Correction(const MeanLabel&, double error) const override {
        return -portable::Log(std::clamp(1 - error, portable::Exp(-1.0), portable::Exp(1.0)));
    }

  private:
    void EvaluatePortable(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++) {
            const float x = static_cast<float>(rows.scores[i]) * kScoreStep - start_;
            const float e = NegativeExpOf(x, kFar);
            const float mean = x < 0.0F ? e : 1.0F / e;
            const float count = (1.0F + rows.labels[i]) * half_range_ + least_;
            rows.gradients[i] = ClipToLattice((count - mean) * gradient_scale_, -kClip);
            rows.hessians[i] = ClipToLattice(mean * hessian_scale_, 0.0F);
        }
    }

#if defined(__x86_64__)
    DPBOOST_AVX2 size_t EvaluateAvx2(Rows rows) const override {
        const __m256 one = _mm256_set1_ps(1.0F);
        const __m256 gradient_scale = _mm256_set1_ps(gradient_scale_);
        const __m256 hessian_scale = _mm256_set1_ps(hessian_scale_);
        const __m256 start = _mm256_set1_ps(start_);
        const __m256 half_range = _mm256_set1_ps(half_range_);
        const __m256 least = _mm256_set1_ps(least_);
        size_t i = 0;
        for (; i + 8 <= rows.n; i += 8) {
            const __m256 x = _mm256_sub_ps(LoadScores8(rows.scores + i), start);
            const __m256 e = NegativeExpOf8(x, kFar);
            const __m256 mean =
                _mm256_blendv_ps(_mm256_div_ps(one, e), e, x);  // by the sign bit; x is never -0
            const __m256 share = _mm256_add_ps(one, _mm256_loadu_ps(rows.labels + i));
            const __m256 count = _mm256_add_ps(_mm256_mul_ps(share, half_range), least);
            const __m256 g = _mm256_mul_ps(_mm256_sub_ps(count, mean), gradient_scale);
            Store8(rows.gradients + i, ClipToLattice8(g, -kClip));
            Store8(rows.hessians + i, ClipToLattice8(_mm256_mul_ps(mean, hessian_scale), 0.0F));
        }
        return i;
    }
#endif

    const double lower_;
    const double range_;
    const double mean_;       // m
    const float start_;       // log m
    const float least_;       // L / m
    const float half_range_;  // (U - L) / 2 m
};

}  // namespace

std::unique_ptr<const Objective> MakePoisson(const TargetSpec& target, double gradient_clip,
                                             double hessian_clip, int32_t start) {
    return std::make_unique<Poisson>(target, gradient_clip, hessian_clip, start);
}

}  // namespace dpboost
