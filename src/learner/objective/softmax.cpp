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

#include "base/error.h"
#include "learner/objective/lattice_kernel.h"
#include "learner/objective/losses.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

using namespace lattice_kernel;  // NOLINT: the words of a kernel

// Exponentials are summed as integers, so that the sum does not depend on the order: K of them stay below 2^31.
constexpr float kExpUnit = 1 << 24;
constexpr float kLongest = 1 << 21;  // lattice steps of an entry before the vector is clipped
constexpr int64_t kFactorUnit = int64_t{1} << 30;
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

    void EvaluatePortable(const Rows& rows) const override {
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
            const float below = static_cast<float>(top - static_cast<uint32_t>(scores[k])) * kScoreUnit;
            exps[k] =
                static_cast<int32_t>(NegativeExp(below < kMaxExponent ? below : kMaxExponent) * kExpUnit);
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

    const size_t classes_;
};

}  // namespace

std::unique_ptr<const Objective> MakeSoftmax(size_t classes, double gradient_clip, double hessian_clip) {
    CheckInternal(classes >= 2 && classes <= kMaxClasses, "softmax is for 2 to 64 classes");
    return std::make_unique<SoftmaxLoss>(classes, gradient_clip, hessian_clip);
}

}  // namespace dpboost
