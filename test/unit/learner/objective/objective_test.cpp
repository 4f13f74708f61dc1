// Gradients on the lattice: right within a step of the exact value, inside the clip bounds for any input, and
// the same bits with and without vector instructions.
#include "learner/objective/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "dataset/target.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Lattice {
    std::vector<int32_t> gradients, hessians;
};

Lattice Evaluate(const Objective& objective, Simd simd, const std::vector<int32_t>& scores,
                 const std::vector<float>& labels) {
    Lattice out{std::vector<int32_t>(scores.size()), std::vector<int32_t>(scores.size())};
    objective.Evaluate(simd, scores.data(), labels.data(), scores.size(), out.gradients.data(),
                       out.hessians.data());
    return out;
}

// Scores over the whole range of int32, dense around zero, and labels of the task.
void MakeInput(bool binary, std::vector<int32_t>* scores, std::vector<float>* labels) {
    ChaChaSource source = TestSource(7);
    Random random(source);
    for (int i = 0; i < 20003; i++) {
        const int shift = static_cast<int>(random.Below(32));
        scores->push_back(static_cast<int32_t>(random.Next32()) >> shift);
        labels->push_back(binary ? static_cast<float>(random.Below(2))
                                 : static_cast<float>(random.Below(1 << 21)) / (1 << 20) - 1.0F);
    }
    for (const int32_t extreme :
         {0, 1, -1, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
        scores->push_back(extreme);
        labels->push_back(1.0F);
    }
}

TEST(Objective, LogisticIsWithinOneStepOfTheExactValue) {
    const double gradient_clip = 0.7, hessian_clip = 0.2;
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(true, &scores, &labels);
    const Objective objective(Loss::kLogistic, gradient_clip, hessian_clip);
    const Lattice got = Evaluate(objective, Simd::kPortable, scores, labels);
    for (size_t i = 0; i < scores.size(); i++) {
        const double p = 1 / (1 + std::exp(-FromFixed(scores[i])));
        const double g = std::min(std::max(labels[i] - p, -gradient_clip), gradient_clip);
        const double h = std::min(p * (1 - p), hessian_clip);
        EXPECT_NEAR(got.gradients[i], g / gradient_clip * kClipSteps, 0.75) << scores[i];
        EXPECT_NEAR(got.hessians[i], h / hessian_clip * kClipSteps, 0.75) << scores[i];
    }
}

TEST(Objective, SquaredIsWithinOneStepOfTheExactValueAndCountsRows) {
    const double gradient_clip = 0.1;
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(false, &scores, &labels);
    const Objective objective(Loss::kSquared, gradient_clip, 1);
    const Lattice got = Evaluate(objective, Simd::kPortable, scores, labels);
    for (size_t i = 0; i < scores.size(); i++) {
        const double g = std::min(std::max(labels[i] - FromFixed(scores[i]), -gradient_clip), gradient_clip);
        EXPECT_NEAR(got.gradients[i], g / gradient_clip * kClipSteps, 1) << scores[i];
        EXPECT_EQ(got.hessians[i], kClipSteps);
    }
}

TEST(Objective, StaysWithinTheClipBounds) {
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(true, &scores, &labels);
    for (const Loss loss : {Loss::kLogistic, Loss::kSquared}) {
        for (const double clip : {0.001, 0.1, 0.25}) {
            const Lattice got = Evaluate(Objective(loss, clip, clip), Simd::kPortable, scores, labels);
            for (size_t i = 0; i < scores.size(); i++) {
                EXPECT_LE(std::abs(got.gradients[i]), kClipSteps);
                EXPECT_GE(got.hessians[i], 0);
                EXPECT_LE(got.hessians[i], kClipSteps);
            }
        }
    }
}

TEST(Objective, VectorFormGivesTheSameBits) {
    if (BestSimd() == Simd::kPortable)
        GTEST_SKIP() << "no vector instructions here";
    for (const bool binary : {false, true}) {
        std::vector<int32_t> scores;
        std::vector<float> labels;
        MakeInput(binary, &scores, &labels);
        const Objective objective(binary ? Loss::kLogistic : Loss::kSquared, 0.37, binary ? 0.11 : 1);
        const Lattice portable = Evaluate(objective, Simd::kPortable, scores, labels);
        const Lattice vector = Evaluate(objective, BestSimd(), scores, labels);
        EXPECT_EQ(portable.gradients, vector.gradients);
        EXPECT_EQ(portable.hessians, vector.hessians);
    }
}

}  // namespace
}  // namespace dpboost
