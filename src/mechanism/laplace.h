// The discrete Laplace distribution, P(k) proportional to exp(-|k| / b) on the integers, exactly, for pure
// epsilon-DP: added to integer sums of L1 sensitivity D it is (D / b)-DP (Ghosh, Roughgarden, Sundararajan
// 2009).
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/draw_key.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"

namespace dpboost {

// True with probability exp(-numerator / denominator), numerator <= denominator, denominator > 0
// (Canonne, Kamath, Steinke 2020, Algorithm 1).
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
