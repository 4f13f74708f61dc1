#include "privacy/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/pld.h"
#include "unit/privacy/reference_table.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

constexpr double kHessianShare = 0.3;

MechanismRequest Single(EventKind kind, double share) {
    MechanismRequest single;
    single.name = "single";
    single.kind = kind;
    single.share = share;
    single.dimensions = {{65536, 1, 1}};
    return single;
}

TEST(Plan, FindsTheExpectedNoise) {
    const struct {
        double epsilon, gamma;
        uint64_t trees;
        double multiplier;
    } cases[] = {{0.105, 0.1, 150, 50.154}, {0.02, 0.005, 200, 14.050}, {1.0, 0.2, 600, 23.641}};
    for (const auto& c : cases) {
        const Plan plan =
            Plan::Calibrate(Request(c.epsilon, 5e-8, {Leaves(c.gamma, c.trees, kHessianShare)}));
        EXPECT_NEAR(plan.NoiseMultiplier(0) / c.multiplier, 1, 1e-4);
        EXPECT_EQ(plan.calibrated_by(), "pld");
        EXPECT_EQ(plan.epsilon(), c.epsilon);
        EXPECT_LE(PldDeltaNear(plan.events(), c.epsilon, 5e-8), 5e-8);
        // A thousandth less noise violates the promise, even by the exact accountant (1e-4 below ours).
        Event weaker = plan.events()[0];
        weaker.parameter *= 0.999;
        EXPECT_GT(PldEpsilon({weaker}, 5e-8), c.epsilon * (1 + 1.5e-4));
    }
}

TEST(Plan, FullBatchGaussiansUseTheWholeOfMu) {
    MechanismRequest histogram = Single(EventKind::kGaussian, 0.1);
    MechanismRequest start = Single(EventKind::kGaussian, 0.03);
    const Plan plan = Plan::Calibrate(Request(1, 5e-8, {histogram, start, Leaves(1, 600, kHessianShare)}));
    EXPECT_EQ(plan.calibrated_by(), "gdp");
    const double mu = GdpMu(1, 5e-8);
    EXPECT_NEAR(std::pow(plan.NoiseMultiplier(0), -2) / (mu * mu), 0.1, 1e-10);
    EXPECT_NEAR(std::pow(plan.NoiseMultiplier(1), -2) / (mu * mu), 0.03, 1e-10);
    EXPECT_NEAR(600 * std::pow(plan.NoiseMultiplier(2), -2) / (mu * mu), 0.87, 1e-10);
    EXPECT_LE(ProvenEpsilon(plan.events(), 5e-8), 1 + 1e-9);
}

TEST(Plan, LeafBalancedScalesAreThoseOfTheorem16) {
    Plan plan = Plan::Calibrate(Request(1, 5e-8, {Leaves(1, 10, kHessianShare)}));
    const double s = plan.NoiseMultiplier(0);
    Charge charge = plan.Take(0);
    const std::vector<uint64_t>& units = charge.Spend(EventKind::kGaussian, {64, 64});
    for (std::size_t d = 0; d < 2; ++d) {
        const double sigma = 65536 * s / std::sqrt(d == 0 ? 0.3 : 0.7);
        EXPECT_GE(static_cast<double>(units[d]), sigma * 1048576);
        EXPECT_LE(static_cast<double>(units[d]), sigma * 1048576 * (1 + 1e-10) + 1);
        EXPECT_EQ(plan.ScaleInSteps(0, d), static_cast<double>(units[d]) / 1048576);
    }
}

TEST(Plan, LaplaceAndSelectionScales) {
    MechanismRequest laplace = Single(EventKind::kLaplace, 0.25);
    laplace.dimensions = {{100, 0.5, 1}, {1000, 0.5, 1}};
    MechanismRequest select = Single(EventKind::kExponential, 0);
    select.rest = 1;
    select.count = 3;
    select.parts = 4;
    Plan plan = Plan::Calibrate(Request(2, 0, {laplace, select}));
    EXPECT_EQ(plan.calibrated_by(), "pure");
    EXPECT_NEAR(plan.ScaleInSteps(0, 0), 100 / 0.25, 1e-5);
    EXPECT_NEAR(plan.ScaleInSteps(0, 1), 1000 / 0.25, 1e-5);
    EXPECT_NEAR(plan.ScaleInSteps(1, 0), 2 * 65536 / 0.5, 1e-5);
    EXPECT_NEAR(plan.curve().pure_epsilon, 2, 1e-9);
    EXPECT_LE(plan.curve().pure_epsilon, 2);
    for (int i = 0; i < 12; ++i)
        plan.Take(1).Spend(EventKind::kExponential, {1});
    EXPECT_ERROR(plan.Take(1), kInternal);
    EXPECT_FALSE(plan.Finished());
    (void)plan.Take(0);
    EXPECT_TRUE(plan.Finished());
}

TEST(Plan, SharesAreComposedJointly) {
    for (EventKind kind : {EventKind::kGaussian, EventKind::kLaplace, EventKind::kExponential}) {
        const Plan plan =
            Plan::Calibrate(Request(0.105, 5e-8, {Single(kind, 0.05), Leaves(0.1, 150, kHessianShare)}));
        const double proven = ProvenEpsilon(plan.events(), 5e-8);
        EXPECT_LE(proven, 0.105 * (1 + 1e-9));
        EXPECT_GE(proven, 0.105 * (1 - 2e-4));
        // 5 % of mu^2 costs about 2.5 % more noise for the trees, not a part of epsilon.
        EXPECT_NEAR(plan.NoiseMultiplier(1) / 50.154, 1.025, 0.01);
    }
}

TEST(Plan, RestIsSharedByWeights) {
    MechanismRequest a = Single(EventKind::kGaussian, 0);
    a.rest = 1;
    MechanismRequest b = a;
    b.rest = 3;
    b.count = 5;
    const Plan plan = Plan::Calibrate(Request(1, 1e-6, {a, b}));
    EXPECT_NEAR(std::pow(plan.NoiseMultiplier(1) / plan.NoiseMultiplier(0), 2), 5.0 / 3, 1e-9);
}

TEST(Plan, SharesAloneAreProportions) {
    MechanismRequest trees = Leaves(0.1, 50, kHessianShare);
    trees.rest = 0;
    trees.share = 0.2;
    const Plan plan = Plan::Calibrate(Request(0.5, 1e-6, {Single(EventKind::kGaussian, 0.05), trees}));
    EXPECT_NEAR(ProvenEpsilon(plan.events(), 1e-6) / 0.5, 1, 2e-4);
}

TEST(Plan, FilteredTrainingsAreProvenByRenyi) {
    MechanismRequest trees = Leaves(0.1, 150, kHessianShare);
    trees.filter_rounds = 100;
    Plan plan = Plan::Calibrate(Request(0.105, 5e-8, {trees}));
    EXPECT_EQ(plan.calibrated_by(), "rdp");
    EXPECT_EQ(plan.events()[0].count, 150u);
    EXPECT_FALSE(plan.release().PldApplies());
    EXPECT_NEAR(EventsRdpEpsilon(plan.events(), 5e-8).epsilon, 0.105, 1e-7);
    EXPECT_LE(EventsRdpEpsilon(plan.events(), 5e-8).epsilon, 0.105 * (1 + 1e-12));
    EXPECT_EQ(plan.Rounds(0), 250u);
    for (int i = 0; i < 250; ++i)
        (void)plan.Take(0);
    EXPECT_ERROR(plan.Take(0), kInternal);
    EXPECT_TRUE(plan.Finished());
}

TEST(Plan, ExponentialMechanismsUseTheBetterProof) {
    MechanismRequest select = Single(EventKind::kExponential, 0);
    select.rest = 0.6;
    select.count = 600;
    MechanismRequest leaves = Leaves(1, 100, kHessianShare);
    leaves.rest = 0.3;
    const Plan plan = Plan::Calibrate(Request(1, 1e-5, {select, leaves}));
    EXPECT_EQ(plan.calibrated_by(), "rdp");
    EXPECT_LT(EventsRdpEpsilon(plan.events(), 1e-5).epsilon, 1 + 1e-9);
    EXPECT_GT(PldEpsilon(plan.events(), 1e-5), 1);
}

TEST(Plan, OneProofIsEnough) {
    // Orders up to 8192 cannot certify this epsilon; the privacy loss distribution can.
    MechanismRequest choice = Single(EventKind::kExponential, 0);
    choice.count = 20;
    choice.rest = 1;
    choice.dimensions = {{1, 1, 10}};
    const Plan plan = Plan::Calibrate(Request(0.001, 1e-11, {choice}));
    EXPECT_EQ(plan.calibrated_by(), "pld");
    EXPECT_LE(PldDeltaNear(plan.events(), 0.001, 1e-11), 1e-11);
}

TEST(Plan, SamplingRateIsRoundedUpToTheGrid) {
    const Plan plan = Plan::Calibrate(Request(0.5, 1e-6, {Leaves(0.1, 10, kHessianShare)}));
    const double rate = plan.SamplingRate(0);
    EXPECT_GE(rate, 0.1);
    EXPECT_LT(rate, 0.1 + 1.0 / 4294967296.0);
    EXPECT_EQ(rate * 4294967296.0, std::floor(rate * 4294967296.0));
    EXPECT_EQ(plan.events()[0].sampling_rate, rate);
}

TEST(Plan, ExtremeRequestsStillCalibrate) {
    for (double epsilon : {1e-3, 50.0})
        for (double gamma : {0.001, 1.0})
            for (uint64_t count : {uint64_t{1}, uint64_t{20'000}}) {
                const Plan plan =
                    Plan::Calibrate(Request(epsilon, 1e-6, {Leaves(gamma, count, kHessianShare)}));
                EXPECT_LE(ProvenEpsilon(plan.events(), 1e-6), epsilon * (1 + 1e-4));
            }
}

TEST(Charge, CanBeSpentOnlyOnceAndOnlyAsPlanned) {
    Plan plan = Plan::Calibrate(Request(1, 1e-6, {Leaves(1, 2, kHessianShare)}));
    Charge charge = plan.Take(0);
    EXPECT_ERROR(charge.Spend(EventKind::kLaplace, {64, 64}), kInternal);
    EXPECT_ERROR(charge.Spend(EventKind::kGaussian, {64}), kInternal);
    EXPECT_ERROR(charge.Spend(EventKind::kGaussian, {64, 65}), kInternal);
    EXPECT_FALSE(charge.spent());
    (void)charge.Spend(EventKind::kGaussian, {64, 1});
    EXPECT_TRUE(charge.spent());
    EXPECT_ERROR(charge.Spend(EventKind::kGaussian, {64, 64}), kInternal);

    Charge second = plan.Take(0);
    Charge moved = std::move(second);
    EXPECT_ERROR(second.Spend(EventKind::kGaussian, {64, 64}), kInternal);  // NOLINT: moved from on purpose
    (void)moved.Spend(EventKind::kGaussian, {64, 64});
    EXPECT_ERROR(plan.Take(0), kInternal);
    EXPECT_ERROR(plan.Take(1), kInternal);
    static_assert(!std::is_copy_constructible<Charge>::value, "a copy would be a second draw");
    static_assert(!std::is_copy_constructible<Plan>::value, "a copy would issue charges again");
    static_assert(!std::is_default_constructible<Charge>::value, "only a Plan issues charges");
}

TEST(Plan, RefusesBadInput) {
    const MechanismRequest good = Leaves(0.1, 10, kHessianShare);
    for (double epsilon : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
        EXPECT_ERROR(Plan::Calibrate(Request(epsilon, 1e-6, {good})), kInvalidParameter);
    for (double delta : {-1e-9, 1.0, static_cast<double>(NAN)})
        EXPECT_ERROR(Plan::Calibrate(Request(1, delta, {good})), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(Request(1, 1e-6, {})), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(Request(1, 0, {good})), kUnsupported);

    auto with = [&](auto change) {
        MechanismRequest bad = good;
        change(bad);
        return Request(1, 1e-6, {bad});
    };
    for (double gamma : {0.0, -0.1, 1.5, static_cast<double>(NAN)})
        EXPECT_ERROR(Plan::Calibrate(with([&](auto& m) { m.sampling_rate = gamma; })), kInvalidParameter);
    for (uint64_t count : {uint64_t{0}, uint64_t{10'000'001}})
        EXPECT_ERROR(Plan::Calibrate(with([&](auto& m) { m.count = count; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.rest = 0; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.share = 0.5; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.rest = NAN; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.dimensions.clear(); })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.dimensions[0].weight = 0.31; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.dimensions[0].sensitivity = 0; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.dimensions[0].sensitivity = 1e15; })),
                 kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.parts = 0; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.kind = EventKind::kPure; })), kInvalidParameter);
    EXPECT_ERROR(Plan::Calibrate(with([](auto& m) { m.kind = EventKind::kLaplace; })), kUnsupported);
    EXPECT_ERROR(Plan::Calibrate(Request(1, 1e-6, {Single(EventKind::kGaussian, 1), good})),
                 kInvalidParameter);
    // Rare sampling with so little noise that being sampled at all gives a unit away: no noise on the rest
    // helps.
    MechanismRequest rare = Single(EventKind::kGaussian, 0.95);
    rare.sampling_rate = 0.001;
    EXPECT_ERROR(Plan::Calibrate(Request(1, 1e-6, {rare, good})), kInvalidParameter);
}

}  // namespace
}  // namespace dpboost
