// The smoothed pinball loss: exact within a step, within its bounds for any input, the same bits with vector
// instructions, and least at the quantile of blurred labels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "learner/objective/objective.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Input {
    std::vector<int32_t> scores;
    std::vector<float> labels;
};

Input RandomInput() {
    ChaChaSource source = TestSource(8);
    Random random(source);
    Input input;
    for (int i = 0; i < 20003; i++) {
        input.scores.push_back(static_cast<int32_t>(random.Next32()) >> random.Below(32));
        input.labels.push_back(static_cast<float>(random.Below(1 << 21)) / (1 << 20) - 1.0F);
    }
    for (const int32_t extreme :
         {0, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
        input.scores.push_back(extreme);
        input.labels.push_back(-1.0F);
    }
    return input;
}

std::vector<int32_t> Gradients(ObjectiveKind kind, double clip, double tau, Simd simd, const Input& input) {
    const auto objective = MakeObjective(kind, TargetSpec::Regression(-1, 1), clip, 1, 0, tau);
    std::vector<int32_t> gradients(input.scores.size()), hessians(input.scores.size());
    objective->Evaluate(simd, input.scores.data(), input.labels.data(), input.scores.size(), gradients.data(),
                        hessians.data());
    for (const int32_t hessian : hessians)
        EXPECT_EQ(hessian, kClipSteps);
    return gradients;
}

TEST(QuantileObjective, IsThePinballSmoothedAndWithinItsBounds) {
    const Input input = RandomInput();
    for (const double tau : {0.01, 0.1, 0.5, 0.9, 0.99}) {
        for (const double clip : {0.05, 0.3, 1.0}) {
            const double most = std::max(tau, 1 - tau), width = clip / (2 * most);
            const std::vector<int32_t> got =
                Gradients(ObjectiveKind::kQuantile, clip, tau, Simd::kPortable, input);
            for (size_t i = 0; i < got.size(); i++) {
                const double rest = input.labels[i] - FromFixed(input.scores[i]);
                const double above = std::min(1.0, std::max(0.0, 0.5 + rest / (2 * width)));  // smoothed
                const double expected = (tau - 1 + above) / most * kClipSteps;
                ASSERT_NEAR(got[i], expected, 1.5) << tau << " " << clip << " " << rest;
                ASSERT_LE(std::abs(got[i]), kClipSteps);
            }
        }
    }
}

TEST(QuantileObjective, HuberIsTheSquaredLossCutOff) {
    const Input input = RandomInput();
    EXPECT_EQ(Gradients(ObjectiveKind::kHuber, 0.2, 0.9, Simd::kPortable, input),
              Gradients(ObjectiveKind::kSquared, 0.2, 0.5, Simd::kPortable, input));
}

TEST(QuantileObjective, VectorFormGivesTheSameBits) {
    if (BestSimd() == Simd::kPortable)
        GTEST_SKIP() << "no vector instructions here";
    const Input input = RandomInput();
    for (const double tau : {0.03, 0.5, 0.8})
        EXPECT_EQ(Gradients(ObjectiveKind::kQuantile, 0.37, tau, Simd::kPortable, input),
                  Gradients(ObjectiveKind::kQuantile, 0.37, tau, BestSimd(), input));
}

}  // namespace
}  // namespace dpboost
