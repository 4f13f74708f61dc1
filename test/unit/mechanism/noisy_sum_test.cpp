#include "mechanism/noisy_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "mechanism/draw_key.h"
#include "privacy/plan.h"
#include "support/can_draw.h"
#include "support/thrown.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

// A learner that holds a NoiseSource cannot draw from it: its methods are not accessible.
static_assert(!CanDraw<NoiseSource>::value && !CanDraw<ExactNoise>::value, "noise without a charge");
static_assert(!std::is_default_constructible<DrawKey>::value, "a sampler without a charge");

Plan OnePlan(EventKind kind, uint64_t count, double epsilon, double delta,
             std::vector<Dimension> dimensions) {
    MechanismRequest request;
    request.name = "it";
    request.kind = kind;
    request.count = count;
    request.rest = 1;
    request.dimensions = std::move(dimensions);
    return Plan::Calibrate({epsilon, delta, {request}, {}});
}

Plan LeafPlan(std::size_t leaves) {
    return OnePlan(EventKind::kGaussian, 3, 1, 1e-6, {{65536, 0.3, leaves}, {131072, 0.7, leaves}});
}

Plan LaplacePlan(std::size_t sums) {
    return OnePlan(EventKind::kLaplace, 2, 2, 0, {{65536, 1, sums}});
}

TEST(NoisySum, DrawsEachDimensionAtItsOwnScale) {
    Plan plan = LeafPlan(4);
    ZeroNoise noise;
    std::vector<int64_t> hessians = {1, 2, 3, 4};
    std::vector<int64_t> gradients = {-1, -2, -3, -4};
    AddGaussianNoise(plan.Take(0), noise, {hessians.data(), 4}, {gradients.data(), 4});
    EXPECT_EQ(hessians, (std::vector<int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(noise.gaussian_draws, 8u);
    EXPECT_EQ(noise.first_gaussian_steps, plan.ScaleInSteps(0, 0));
    EXPECT_EQ(noise.last_gaussian_steps, plan.ScaleInSteps(0, 1));
    EXPECT_NE(plan.ScaleInSteps(0, 0), plan.ScaleInSteps(0, 1));
}

TEST(NoisySum, ExactNoiseHasTheScaleOfThePlan) {
    constexpr std::size_t kLeaves = 20000;
    Plan plan = LeafPlan(kLeaves);
    ChaChaSource source(ChaChaSource::Seed{5});
    Random random(source);
    ExactNoise noise(random);
    std::vector<int64_t> hessians(kLeaves);
    std::vector<int64_t> gradients(kLeaves);
    AddGaussianNoise(plan.Take(0), noise, {hessians.data(), kLeaves}, {gradients.data(), kLeaves});
    const auto deviation = [](const std::vector<int64_t>& values) {
        double squares = 0;
        for (const int64_t value : values) {
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        return std::sqrt(squares / static_cast<double>(values.size()));
    };
    // The standard error is 0.5 %; six of them.
    EXPECT_NEAR(deviation(hessians) / plan.ScaleInSteps(0, 0), 1, 0.03);
    EXPECT_NEAR(deviation(gradients) / plan.ScaleInSteps(0, 1), 1, 0.03);
}

TEST(NoisySum, AChargeIsSpentOnce) {
    Plan plan = LeafPlan(1);
    ZeroNoise noise;
    int64_t hessian = 0;
    int64_t gradient = 0;
    Charge charge = plan.Take(0);
    AddGaussianNoise(std::move(charge), noise, {&hessian, 1}, {&gradient, 1});
    EXPECT_EQ(CodeOf([&] {
                  AddGaussianNoise(std::move(charge), noise, {&hessian, 1}, {&gradient, 1});
              }),
              ErrorCode::kInternal);
    EXPECT_EQ(noise.gaussian_draws, 2u);
}

TEST(NoisySum, AChargeFitsOneMechanism) {
    Plan leaves = LeafPlan(2);
    Plan output = LaplacePlan(2);
    ZeroNoise noise;
    std::vector<int64_t> sums(3);
    EXPECT_EQ(CodeOf([&] {
                  AddGaussianNoise(leaves.Take(0), noise, {sums.data(), 2});
              }),
              ErrorCode::kInternal);
    EXPECT_EQ(CodeOf([&] {
                  AddGaussianNoise(leaves.Take(0), noise, {sums.data(), 3}, {sums.data(), 2});
              }),
              ErrorCode::kInternal);
    EXPECT_EQ(CodeOf([&] {
                  AddLaplaceNoise(leaves.Take(0), noise, {sums.data(), 2});
              }),
              ErrorCode::kInternal);
    EXPECT_EQ(CodeOf([&] {
                  AddGaussianNoise(output.Take(0), noise, {sums.data(), 2});
              }),
              ErrorCode::kInternal);
    EXPECT_EQ(noise.gaussian_draws + noise.laplace_draws, 0u);
    AddLaplaceNoise(output.Take(0), noise, {sums.data(), 2});
    EXPECT_EQ(noise.laplace_draws, 2u);
    EXPECT_EQ(noise.last_laplace_steps, output.ScaleInSteps(0, 0));
}

}  // namespace
}  // namespace dpboost
