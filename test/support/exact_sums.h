// Looks into raw sums the only way there is: releases them, with noise that adds nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mechanism/releaser.h"
#include "support/zero_noise.h"

namespace dpboost {

// `sensitivity`, if given: what the sums claim about themselves.
inline std::vector<int64_t> ExactSums(RawSums&& sums, double* sensitivity = nullptr) {
    PlanRequest request;
    request.epsilon = 1;
    request.delta = 1e-6;
    request.mechanisms.emplace_back();
    request.mechanisms[0].name = "all";
    request.mechanisms[0].pool = true;
    request.mechanisms[0].rest = 1;
    Plan plan = Plan::Calibrate(request);
    ZeroNoise noise;
    NoisySums released = Releaser(plan, noise).ReleasePart(0, 1, std::move(sums));
    if (sensitivity != nullptr)
        *sensitivity = released.sigma / plan.NoiseMultiplier(0);
    return std::move(released.values);
}

}  // namespace dpboost
