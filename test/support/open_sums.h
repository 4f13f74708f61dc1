// Opens raw sums for tests of exact values, by the one door there is: a release without noise.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mechanism/releaser.h"
#include "support/zero_noise.h"

namespace dpboost {

inline std::vector<int64_t> OpenSums(RawSums sums) {
    MechanismRequest request;
    request.name = "open";
    request.rest = 1;
    request.dimensions = {{1e9, 1, std::size_t{1} << 24}};
    Plan plan = Plan::Calibrate({1, 1e-6, {request}, {}});
    ZeroNoise noise;
    return Releaser(plan, noise).Release(0, std::move(sums)).values;
}

}  // namespace dpboost
