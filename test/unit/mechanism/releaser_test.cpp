// The door for noise: each kind of release at its charge's scale, once per charge, and nothing around it.
#include "mechanism/releaser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "privacy/pool.h"
#include "support/can_draw.h"
#include "support/thrown.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

static_assert(!std::is_copy_constructible<RawSums>::value && !std::is_copy_assignable<RawSums>::value,
              "raw sums are released once");
template <typename Sums, typename = void>
struct CanRead : std::false_type {};
template <typename Sums>
struct CanRead<Sums, std::void_t<decltype(std::declval<Sums&>().values_)>> : std::true_type {};
static_assert(!CanRead<RawSums>::value, "raw sums can be read");
static_assert(!CanDraw<NoiseSource>::value && !CanDraw<ExactNoise>::value, "noise without a charge");

Plan MakePlan(EventKind kind, std::vector<Dimension> dimensions, double delta, bool pool = false) {
    MechanismRequest request;
    request.name = "it";
    request.kind = kind;
    request.count = pool ? 1 : 3;
    request.rest = 1;
    request.dimensions = std::move(dimensions);
    request.pool = pool;
    return Plan::Calibrate({1.0, delta, {request}, {}});
}

TEST(Releaser, DrawsEachDimensionAtItsOwnScale) {
    Plan plan = MakePlan(EventKind::kGaussian, {{65536, 0.3, 4}, {131072, 0.7, 4}}, 1e-6);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    const NoisyPair noisy =
        releaser.Release(0, RawSums({1, 2, 3, 4}, 65536), RawSums({-1, -2, -3, -4}, 131072));
    EXPECT_EQ(noisy.first.values, (std::vector<int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(noisy.second.values, (std::vector<int64_t>{-1, -2, -3, -4}));
    EXPECT_EQ(noise.gaussian_draws, 8u);
    EXPECT_EQ(noise.first_gaussian_steps, plan.ScaleInSteps(0, 0));
    EXPECT_EQ(noise.last_gaussian_steps, plan.ScaleInSteps(0, 1));
    EXPECT_EQ(noisy.first.sigma, plan.ScaleInSteps(0, 0));
    EXPECT_EQ(noisy.second.sigma, plan.ScaleInSteps(0, 1));
}

TEST(Releaser, DrawsTheKindThatThePlanSays) {
    Plan plan = MakePlan(EventKind::kLaplace, {{100, 1, 2}}, 0);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    EXPECT_EQ(releaser.Release(0, RawSums({5, 6}, 100)).values, (std::vector<int64_t>{5, 6}));
    EXPECT_EQ(noise.laplace_draws, 2u);
    EXPECT_EQ(noise.gaussian_draws, 0u);
    EXPECT_EQ(noise.last_laplace_steps, plan.ScaleInSteps(0, 0));
}

TEST(Releaser, SelectsAgainstACharge) {
    Plan plan = MakePlan(EventKind::kExponential, {{10, 1, 5}}, 0);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    EXPECT_EQ(releaser.Select(0, RawSums({1, 7, 3}, 10)), 1u);
    EXPECT_EQ(noise.selections, 1u);
    EXPECT_THROW(releaser.Select(0, RawSums({}, 10)), Error);
    EXPECT_EQ(releaser.Select(0, RawSums({9, 7, 3}, 10)), 0u);  // the refused one took no charge
    EXPECT_EQ(releaser.Select(0, RawSums({9, 7, 3}, 10)), 0u);
    EXPECT_EQ(CodeOf([&] { releaser.Select(0, RawSums({1}, 10)); }), ErrorCode::kInternal);
}

TEST(Releaser, SpendsAPoolInParts) {
    Plan plan = MakePlan(EventKind::kGaussian, {}, 1e-6, true);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    const double s = plan.NoiseMultiplier(0);
    const NoisySums noisy = releaser.ReleasePart(0, 0.25, RawSums({1, 2}, 300));
    EXPECT_NEAR(noisy.sigma, 300 * s * 2, 1e-9 * noisy.sigma);
    EXPECT_GE(noise.last_gaussian_steps, noisy.sigma * (1 - 1e-12));
    EXPECT_LE(noise.last_gaussian_steps, noisy.sigma * (1 + 1e-9) + 1e-5);
    releaser.ReleasePart(0, 2, RawSums({1}, 1));  // all that is left
    EXPECT_TRUE(plan.Finished());
    EXPECT_EQ(CodeOf([&] { releaser.ReleasePart(0, 0.1, RawSums({1}, 1)); }), ErrorCode::kInternal);
}

// A part whose noise is beyond the samplers would have to be refused, and what it is follows from earlier results.
TEST(Releaser, APartThatCannotBeDrawnIsMadeLarger) {
    for (const double factor : {1.0, 3.0}) {  // of servers
        Plan plan = MakePlan(EventKind::kGaussian, {}, 1e-6, true);
        plan.SetNoiseFactor(factor);
        ZeroNoise noise;
        Releaser releaser(plan, noise);
        const double sensitivity = std::ldexp(1.0, 33);
        const NoisySums noisy = releaser.ReleasePart(0, 1e-9, RawSums({1}, sensitivity));
        EXPECT_NEAR(noisy.sigma / std::ldexp(1.0, 39), 1, 1e-6);
        EXPECT_NEAR(noise.last_gaussian_steps * factor / noisy.sigma, 1, 1e-9);
        // And it is paid for.
        const double part =
            1 - static_cast<double>(plan.PartsLeft(0)) / static_cast<double>(GaussianPool::kParts);
        const double multiplier = plan.NoiseMultiplier(0) / factor;
        EXPECT_NEAR(sensitivity * multiplier / std::sqrt(part) / noise.last_gaussian_steps, 1, 1e-9);
    }
}

TEST(Releaser, RefusesWhatTheChargeDoesNotCover) {
    Plan plan = MakePlan(EventKind::kGaussian, {{65536, 1, 4}}, 1e-6);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    EXPECT_EQ(CodeOf([&] { releaser.Release(0, RawSums({1}, 65537)); }),
              ErrorCode::kInternal);  // larger changes
    EXPECT_EQ(CodeOf([&] { releaser.Release(0, RawSums({1}, 1), RawSums({1}, 1)); }),
              ErrorCode::kInternal);  // more dimensions
    EXPECT_EQ(CodeOf([&] { releaser.Release(1, RawSums({1}, 1)); }),
              ErrorCode::kInternal);  // another mechanism
    EXPECT_EQ(noise.gaussian_draws, 0u);
}

}  // namespace
}  // namespace dpboost
