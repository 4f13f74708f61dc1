// The pool: parts add up exactly, noise follows from them, and nothing beyond the total can be taken.
#include "privacy/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "mechanism/noisy_sum.h"
#include "privacy/accountant/gdp.h"
#include "privacy/plan.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

PlanRequest PoolRequest(double epsilon, double delta) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    MechanismRequest pool;
    pool.name = "pool";
    pool.rest = 1;
    pool.pool = true;
    request.mechanisms.push_back(pool);
    return request;
}

TEST(GaussianPool, IsOneGaussianOfTheWholeBudget) {
    Plan plan = Plan::Calibrate(PoolRequest(0.5, 1e-6));
    ASSERT_EQ(plan.events().size(), 1U);
    EXPECT_EQ(plan.events()[0].kind, EventKind::kGaussian);
    EXPECT_EQ(plan.events()[0].count, 1U);
    EXPECT_EQ(plan.calibrated_by(), "gdp");
    EXPECT_NEAR(plan.NoiseMultiplier(0) * GdpMu(0.5, 1e-6), 1, 1e-6);
}

TEST(GaussianPool, PartsOfAnySizeComposeToTheTotal) {
    GaussianPool pool(7.5);
    const uint64_t sizes[] = {1, 3, 1000, GaussianPool::kParts / 3, GaussianPool::kParts / 2};
    double inverse_square = 0;
    const auto take = [&](uint64_t parts) {
        const double sigma = static_cast<double>(pool.Take(parts, 65536, 10)->scale_units[0]) / (1 << 20);
        inverse_square += 65536.0 * 65536.0 / (sigma * sigma);
    };
    for (const uint64_t parts : sizes)
        take(parts);
    take(pool.parts_left());
    EXPECT_EQ(pool.parts_left(), 0U);
    EXPECT_LE(inverse_square, 1 / (7.5 * 7.5));
    EXPECT_NEAR(inverse_square * 7.5 * 7.5, 1, 1e-9);
}

TEST(GaussianPool, GivesNoMoreThanItHas) {
    Plan plan = Plan::Calibrate(PoolRequest(1, 1e-6));
    EXPECT_FALSE(plan.Finished());
    EXPECT_THROW(plan.TakePart(0, 0, 1, 1), Error);
    EXPECT_THROW(plan.TakePart(0, GaussianPool::kParts + 1, 1, 1), Error);
    EXPECT_THROW(plan.TakePart(0, 1, 0, 1), Error);
    EXPECT_THROW(plan.TakePart(0, 1, std::nan(""), 1), Error);
    EXPECT_THROW(plan.Take(0), Error);
    EXPECT_EQ(plan.PartsLeft(0), GaussianPool::kParts);

    Charge charge = plan.TakePart(0, GaussianPool::kParts, 65536, 2);
    EXPECT_TRUE(plan.Finished());
    EXPECT_THROW(plan.TakePart(0, 1, 1, 1), Error);
    ZeroNoise noise;
    int64_t sums[3] = {1, 2, 3};
    EXPECT_THROW(AddGaussianNoise(std::move(charge), noise, {sums, 3}), Error);
    AddGaussianNoise(std::move(charge), noise, {sums, 2});
    EXPECT_NEAR(noise.last_gaussian_steps, 65536 * plan.NoiseMultiplier(0), 1e-5);
    EXPECT_THROW(AddGaussianNoise(std::move(charge), noise, {sums, 2}), Error);
}

TEST(GaussianPool, IsAFullBatchGaussianOnly) {
    PlanRequest request = PoolRequest(1, 1e-6);
    request.mechanisms[0].sampling_rate = 0.5;
    EXPECT_THROW(Plan::Calibrate(request), Error);
    request = PoolRequest(1, 1e-6);
    request.mechanisms[0].kind = EventKind::kLaplace;
    EXPECT_THROW(Plan::Calibrate(request), Error);
    request = PoolRequest(1, 1e-6);
    request.mechanisms[0].count = 2;
    EXPECT_THROW(Plan::Calibrate(request), Error);
    request = PoolRequest(1, 1e-6);
    request.mechanisms[0].dimensions.push_back({1, 1, 1});
    EXPECT_THROW(Plan::Calibrate(request), Error);
}

}  // namespace
}  // namespace dpboost
