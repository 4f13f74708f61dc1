// A broken noise source, for tests that must notice: every scale is half of what the charge says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/noise.h"
#include "support/draw_key.h"

namespace dpboost {

class HalvedNoise final : public NoiseSource {
  public:
    explicit HalvedNoise(Random& random) : random_(random) {}

  private:
    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override {
        GaussianSampler<>(TestDrawKey::Make(), random_, GaussianScale::FromUnits(sigma.units() / 2))
            .AddTo(values, n);
    }
    void AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) override {
        LaplaceSampler(TestDrawKey::Make(), random_, LaplaceScale::FromUnits(b.units() / 2)).AddTo(values, n);
    }
    std::size_t Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) override {
        return ExponentialSampler(TestDrawKey::Make(), random_,
                                  SelectionScale::FromUnits(temperature.units() / 2))
            .Draw(utilities, n, &bars_);
    }

    Random& random_;
    std::vector<uint64_t> bars_;
};

}  // namespace dpboost
