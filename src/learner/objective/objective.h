// Gradients and Hessians of the loss, clipped and rounded to the lattice row by row, before any sum
// ([SBDT] Alg 5 lines 2 and 4). A clip bound is exactly kClipSteps lattice steps, so a row's
// contribution is an integer vector whose bound is exact whatever floating point did before the rounding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/simd.h"

namespace dpboost {

constexpr int kClipBits = 16;
constexpr int32_t kClipSteps = int32_t{1} << kClipBits;

// Scores are fixed-point numbers of 2^-20 (model/tree.h), so sums of leaf values are exact in any order.
enum class Loss { kSquared, kLogistic };

// Maps (score, label) to lattice steps: gradient = label - mean(score) clipped to +-gradient_clip and
// Hessian clipped to hessian_clip, each in units of clip / kClipSteps. Signs as in the paper: the gradient
// points to where the score should go. The Hessian of the squared loss is exactly one, that is hessian_clip
// = 1.
class Objective {
  public:
    Objective(Loss loss, double gradient_clip, double hessian_clip);

    Loss loss() const { return loss_; }

    // Writes |gradients| <= kClipSteps and 0 <= hessians <= kClipSteps for every one of `n` rows. Both forms
    // give the same bits; the arrays may be unaligned.
    void Evaluate(Simd simd, const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                  int32_t* hessians) const;

  private:
    Loss loss_;
    float gradient_scale_;  // lattice steps per unit of the gradient
    float hessian_scale_;
};

}  // namespace dpboost
