// The pinball loss of the quantile tau, smoothed, and with it Huber's loss. The pinball's gradient is tau where the label is
// above the score and tau - 1 where it is below; its curvature is a density, which nobody knows. Smoothed over a width w
// on either side, in multiples of 2 w, it is a squared loss with a clip of its own on each side:
//     g = clamp(label - score + w (2 tau - 1), -2 w (1 - tau), 2 w tau),  curvature at most 1.
// Its minimum is the quantile tau of labels blurred by w; what that is off, the last draw takes away
// (auto/targets/quantile_base.cpp). At tau = 1/2 it is Huber's loss with the threshold w.
// Neighbours: add or remove one unit. A row adds an integer |g| <= kClipSteps by the clipping behind all floating point:
// the gradient clip is the larger of both ends, and w follows from it.
#include <algorithm>

#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

class Quantile final : public Objective {
  public:
    Quantile(double gradient_clip, double hessian_clip, double tau)
        : Objective(gradient_clip, hessian_clip),
          lowest_(static_cast<float>(-kClipSteps * (1 - tau) / std::max(tau, 1 - tau))),
          highest_(static_cast<float>(kClipSteps * tau / std::max(tau, 1 - tau))),
          shift_((highest_ + lowest_) / 2) {}

    Link link() const override { return Link::kIdentity; }
    void Centre(const float* labels, size_t n, float* centred) const override {
        std::copy(labels, labels + n, centred);
    }
    double StartScore(const MeanLabel& mean) const override { return mean.value; }
    double Correction(const MeanLabel&, double error) const override { return error; }

  private:
    void EvaluatePortable(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++) {
            const float x = static_cast<float>(rows.scores[i]) * kScoreStep;
            float g = (rows.labels[i] - x) * gradient_scale_ + shift_;
            g = g < highest_ ? g : highest_;
            rows.gradients[i] = ClipToLattice(g, lowest_);
            rows.hessians[i] = kClipSteps;
        }
    }

#if defined(__x86_64__)
    DPBOOST_AVX2 size_t EvaluateAvx2(Rows rows) const override {
        const __m256 gradient_scale = _mm256_set1_ps(gradient_scale_);
        const __m256 shift = _mm256_set1_ps(shift_);
        const __m256 highest = _mm256_set1_ps(highest_);
        const float lowest = lowest_;
        size_t i = 0;
        for (; i + 8 <= rows.n; i += 8) {
            const __m256 x = LoadScores8(rows.scores + i);
            const __m256 y = _mm256_loadu_ps(rows.labels + i);
            __m256 g = _mm256_mul_ps(_mm256_sub_ps(y, x), gradient_scale);
            g = _mm256_min_ps(_mm256_add_ps(g, shift), highest);
            Store8(rows.gradients + i, ClipToLattice8(g, lowest));
            Store8(rows.hessians + i, _mm256_set1_epi32(kClipSteps));
        }
        return i;
    }
#endif

    const float lowest_;  // in lattice steps
    const float highest_;
    const float shift_;  // w (2 tau - 1)
};

}  // namespace

std::unique_ptr<const Objective> MakeQuantile(double gradient_clip, double hessian_clip, double tau) {
    return std::make_unique<Quantile>(gradient_clip, hessian_clip, tau);
}

}  // namespace dpboost
