// The exactly rounded Laplace: round(L) to the nearest integer for L with density proportional to exp(-|x| /
// b). As for the Gaussian, X + round(L) = round(X + L) for an integer X: added to integer sums of L1
// sensitivity D it is a post-processing of the continuous Laplace mechanism, hence (D / b)-DP, and its Renyi
// and PLD bounds hold.
//
// Not the discrete Laplace, which others use (P(k) proportional to exp(-|k| / b)): the two
// differ at k = 0 only, but the discrete one is no post-processing of the continuous one. Its privacy loss
// takes the extreme value +epsilon with probability 1 / (1 + exp(-1 / b)) > 1/2, so the bounds that the
// accountant composes for the continuous Laplace (events.h) would not hold for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/draw_key.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"

namespace dpboost {

// True with probability exp(-numerator / denominator), numerator <= denominator, denominator > 0
// ([CKS20] Alg 1).
bool BernoulliExp(Random& random, uint64_t numerator, uint64_t denominator);

class LaplaceSampler {
  public:
    LaplaceSampler(DrawKey, Random& random, LaplaceScale b) noexcept : random_(random), b_(b) {}

    // Adds independent draws; saturates at the ends of int64.
    void AddTo(int64_t* values, std::size_t n);

  private:
    int64_t Draw();

    Random& random_;
    LaplaceScale b_;
};

}  // namespace dpboost
