// The squared loss (label - score)^2 / 2: of labels in [-1, 1], or of the signs -1 and 1 of a binary target.
#include <algorithm>

#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

template <bool kOfSigns>
class Squared final : public Objective {
  public:
    using Objective::Objective;

    Link link() const override { return Link::kIdentity; }
    void Centre(const float* labels, size_t n, float* centred) const override {
        std::transform(labels, labels + n, centred, Target);
    }
    double StartScore(const MeanLabel& mean) const override { return mean.value; }
    double Correction(const MeanLabel&, double error) const override { return error; }

  private:
    static float Target(float label) { return kOfSigns ? 2 * label - 1 : label; }

    void EvaluatePortable(Rows rows) const override {
        for (size_t i = 0; i < rows.n; i++) {
            const float x = static_cast<float>(rows.scores[i]) * kScoreStep;
            rows.gradients[i] = ClipToLattice((Target(rows.labels[i]) - x) * gradient_scale_, -kClip);
            rows.hessians[i] = kClipSteps;
        }
    }

#if defined(__x86_64__)
    DPBOOST_AVX2 size_t EvaluateAvx2(Rows rows) const override {
        const __m256 gradient_scale = _mm256_set1_ps(gradient_scale_);
        size_t i = 0;
        for (; i + 8 <= rows.n; i += 8) {
            __m256 y = _mm256_loadu_ps(rows.labels + i);
            if (kOfSigns)
                y = _mm256_sub_ps(_mm256_add_ps(y, y), _mm256_set1_ps(1.0F));
            const __m256 g = _mm256_mul_ps(_mm256_sub_ps(y, LoadScores8(rows.scores + i)), gradient_scale);
            Store8(rows.gradients + i, ClipToLattice8(g, -kClip));
            Store8(rows.hessians + i, _mm256_set1_epi32(kClipSteps));
        }
        return i;
    }
#endif
};

}  // namespace

std::unique_ptr<const Objective> MakeSquared(double gradient_clip, double hessian_clip) {
    return std::make_unique<Squared<false>>(gradient_clip, hessian_clip);
}

std::unique_ptr<const Objective> MakeSigns(double gradient_clip, double hessian_clip) {
    return std::make_unique<Squared<true>>(gradient_clip, hessian_clip);
}

}  // namespace dpboost
