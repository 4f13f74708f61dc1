// A plan that another server has calibrated: its noise is kept, its figures are not believed.
#include <gtest/gtest.h>

#include "privacy/plan.h"
#include "support/thrown.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

MechanismRequest PoolRequest(double share = 1) {
    MechanismRequest pool;
    pool.name = "pool";
    pool.share = share;
    pool.pool = true;
    return pool;
}

// The announcement of a plan whose noise is `factor` times what the request needs, and whose claim is the request's.
std::string Announce(const PlanRequest& request, double factor) {
    Cost cost = Plan::Calibrate(request).release();
    for (Event& event : cost.events)
        event.parameter *= factor;
    return cost.Serialize();
}

TEST(AnnouncedPlan, HasTheNoiseAndTheCostOfTheCalibratedOne) {
    for (const PlanRequest& request : {Request(0.5, 1e-6, {PoolRequest()}), Request(1, 1e-6, {Leaves(1, 7)}),
                                       Request(1, 1e-6, {Leaves(0.1, 100)})}) {
        Plan here = Plan::Calibrate(request);
        Plan there = Plan::FromRelease(request, here.Serialize());
        EXPECT_EQ(there.Serialize(), here.Serialize());
        EXPECT_EQ(there.NoiseMultiplier(0), here.NoiseMultiplier(0));
        EXPECT_EQ(there.SamplingRate(0), here.SamplingRate(0));
        EXPECT_EQ(there.Rounds(0), here.Rounds(0));
        if (request.mechanisms[0].pool) {
            EXPECT_EQ(there.TakePart(0, 5, 100, 3).Spend(EventKind::kGaussian, {3}),
                      here.TakePart(0, 5, 100, 3).Spend(EventKind::kGaussian, {3}));
        } else {
            EXPECT_EQ(there.ScaleInSteps(0, 1), here.ScaleInSteps(0, 1));
            EXPECT_EQ(there.Take(0).Spend(EventKind::kGaussian, {1, 1}),
                      here.Take(0).Spend(EventKind::kGaussian, {1, 1}));
        }
    }
}

// What it costs is computed here, whatever it claims.
TEST(AnnouncedPlan, FiguresAreComputedHere) {
    const PlanRequest request = Request(1, 1e-6, {Leaves(1, 7)});
    Cost cost = Plan::Calibrate(request).release();
    const Cost honest = cost;
    for (double& rho : cost.curve.rho)
        rho /= 100;
    cost.epsilon = 0.01;
    EXPECT_EQ(Plan::FromRelease(request, cost.Serialize()).release(), honest);
}

TEST(AnnouncedPlan, TooLittleNoiseIsRefused) {
    for (const PlanRequest& request :
         {Request(1, 1e-6, {PoolRequest()}), Request(1, 1e-6, {Leaves(0.1, 100)})}) {
        EXPECT_EQ(Thrown([&] { Plan::FromRelease(request, Announce(request, 1.01)); }), "no error");
        EXPECT_EQ(
            Thrown([&] { Plan::FromRelease(request, Announce(request, 0.99)); }),
            "the announced plan is not one of this training | Its noise does not suffice for the epsilon "
            "asked for. | ");
        EXPECT_NE(Thrown([&] { Plan::FromRelease(request, Announce(request, 0.5)); }), "no error");
    }
    // Within the slack of grids, and said so.
    const PlanRequest sampled = Request(1, 1e-6, {Leaves(0.1, 100)});
    const Plan less = Plan::FromRelease(sampled, Announce(sampled, 1 - 3e-5));
    EXPECT_GT(less.epsilon(), 1 + 1e-6);
    EXPECT_LT(less.epsilon(), 1 + 1e-4);
    const PlanRequest gaussian = Request(1, 1e-6, {Leaves(1, 7)});
    EXPECT_NE(Thrown([&] { Plan::FromRelease(gaussian, Announce(gaussian, 1 - 1e-6)); }), "no error");
}

TEST(AnnouncedPlan, OtherEventsAreRefused) {
    const PlanRequest request = Request(1, 1e-6, {Leaves(0.1, 100), PoolRequest(0.1)});
    const auto refused = [&](const PlanRequest& other) {
        const std::string announced = Plan::Calibrate(other).Serialize();
        const std::string error = Thrown([&] { Plan::FromRelease(request, announced); });
        EXPECT_TRUE(error == "no error" || error.find("the announced plan is not one of this training") == 0)
            << error;
        return error != "no error";
    };
    EXPECT_FALSE(refused(request));
    EXPECT_TRUE(refused(Request(1, 1e-6, {Leaves(0.1, 100)})));
    EXPECT_TRUE(refused(Request(1, 1e-6, {Leaves(0.1, 99), PoolRequest(0.1)})));
    EXPECT_TRUE(refused(Request(1, 1e-6, {Leaves(0.05, 100), PoolRequest(0.1)})));
    EXPECT_TRUE(refused(Request(1, 1e-6, {PoolRequest(0.1), Leaves(0.1, 100)})));
    EXPECT_TRUE(refused(Request(1, 1e-5, {Leaves(0.1, 100), PoolRequest(0.1)})));
    EXPECT_TRUE(refused(Request(2, 1e-6, {Leaves(0.1, 100), PoolRequest(0.1)})));
    EXPECT_FALSE(refused(Request(0.5, 1e-6, {Leaves(0.1, 100), PoolRequest(0.1)})));
    EXPECT_EQ(CodeOf([&] { Plan::FromRelease(request, "DPBR nonsense"); }), ErrorCode::kCorrupted);
}

TEST(AnnouncedPlan, BudgetsAllowItAsItIsOrNot) {
    PlanRequest request = Request(1, 1e-6, {PoolRequest()});
    const std::string announced = Plan::Calibrate(request).Serialize();
    Budget budget(1.2, 1e-6);
    request.budgets = {budget.Constraint("role \"ana\"")};
    EXPECT_EQ(Thrown([&] { Plan::FromRelease(request, announced); }), "no error");
    budget.Spend(Cost::Parse(announced));
    request.budgets = {budget.Constraint("role \"ana\"")};
    EXPECT_EQ(CodeOf([&] { Plan::FromRelease(request, announced); }), ErrorCode::kBudgetExhausted);
}

}  // namespace
}  // namespace dpboost
