// Requests for plans that the tests of this room share.
#pragma once

#include <utility>
#include <vector>

#include "privacy/plan.h"

namespace dpboost {

// Trees as sbdt draws them; `hessian_share` of a row's privacy is for the first of the two sums.
inline MechanismRequest Leaves(double gamma, uint64_t trees, double hessian_share = 0.5) {
    MechanismRequest leaves;
    leaves.name = "leaves";
    leaves.count = trees;
    leaves.sampling_rate = gamma;
    leaves.rest = 1;
    leaves.dimensions = {{65536, hessian_share, 64}, {65536, 1 - hessian_share, 64}};
    return leaves;
}

inline PlanRequest Request(double epsilon, double delta, std::vector<MechanismRequest> mechanisms) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = std::move(mechanisms);
    return request;
}

}  // namespace dpboost
