// The noise source of tests that check exact values: adds nothing and selects the first best candidate. It
// lives here, not in src/, so that no build of the extension contains it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mechanism/noise.h"

namespace dpboost {

class ZeroNoise final : public NoiseSource {
  public:
    // What was asked for, so that tests can see that noise would have been drawn, how often and at which
    // scale.
    std::size_t gaussian_draws = 0;
    std::size_t laplace_draws = 0;
    std::size_t selections = 0;
    double first_gaussian_steps = 0;
    double last_gaussian_steps = 0;
    double last_laplace_steps = 0;

  private:
    void AddGaussian(GaussianScale sigma, int64_t*, std::size_t n) override {
        if (gaussian_draws == 0)
            first_gaussian_steps = sigma.steps();
        gaussian_draws += n;
        last_gaussian_steps = sigma.steps();
    }
    void AddLaplace(LaplaceScale b, int64_t*, std::size_t n) override {
        laplace_draws += n;
        last_laplace_steps = b.steps();
    }
    std::size_t Select(SelectionScale, const int64_t* utilities, std::size_t n) override {
        ++selections;
        return static_cast<std::size_t>(std::max_element(utilities, utilities + n) - utilities);
    }
};

}  // namespace dpboost
