// What tests of losses ask of every one: gradients and Hessians on the lattice, within their clips, and the same bits with and
// without vector instructions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "learner/objective/objective.h"

namespace dpboost {

struct Lattice {
    std::vector<int32_t> gradients, hessians;
};

// As many gradients as scores (several for each row of a loss with classes), and a Hessian for each row.
inline Lattice Evaluate(const Objective& objective, Simd simd, const std::vector<int32_t>& scores,
                        const std::vector<float>& labels) {
    Lattice out{std::vector<int32_t>(scores.size()), std::vector<int32_t>(labels.size())};
    objective.Evaluate(simd, scores.data(), labels.data(), labels.size(), out.gradients.data(),
                       out.hessians.data());
    return out;
}

// Of a loss with one gradient for each row.
inline void ExpectWithinClips(const Lattice& got) {
    for (size_t i = 0; i < got.gradients.size(); i++) {
        ASSERT_LE(std::abs(got.gradients[i]), kClipSteps);
        ASSERT_GE(got.hessians[i], 0);
        ASSERT_LE(got.hessians[i], kClipSteps);
    }
}

inline void ExpectSameBits(const Objective& objective, const std::vector<int32_t>& scores,
                           const std::vector<float>& labels) {
    const Lattice portable = Evaluate(objective, Simd::kPortable, scores, labels);
    const Lattice vector = Evaluate(objective, BestSimd(), scores, labels);
    EXPECT_EQ(portable.gradients, vector.gradients);
    EXPECT_EQ(portable.hessians, vector.hessians);
    Lattice alone = portable;
    alone.gradients.assign(alone.gradients.size(), -1);
    objective.EvaluateGradients(BestSimd(), scores.data(), labels.data(), labels.size(),
                                alone.gradients.data(), alone.hessians.data());
    EXPECT_EQ(portable.gradients, alone.gradients);
}

}  // namespace dpboost
