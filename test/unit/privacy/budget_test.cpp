#include "privacy/budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "privacy/plan.h"
#include "unit/privacy/reference_table.h"

namespace dpboost {
namespace {

PlanRequest Training(double epsilon, double delta, double gamma = 0.1, uint64_t trees = 150) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    MechanismRequest leaves;
    leaves.name = "leaves";
    leaves.count = trees;
    leaves.sampling_rate = gamma;
    leaves.rest = 1;
    leaves.dimensions = {{65536, 0.5, 64}, {65536, 0.5, 64}};
    request.mechanisms = {leaves};
    return request;
}

TEST(Budget, FiftyTrainingsAtATenthFit) {
    Budget budget(1, 1e-6);
    const Plan plan = Plan::Calibrate(Training(0.1, 1e-6));
    std::vector<Cost> releases;
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(budget.Fits(plan.curve()));
        budget.Spend(plan.curve());
        releases.push_back(plan.release());
    }
    EXPECT_NEAR(budget.SpentEpsilon(), 0.88, 0.01);
    EXPECT_NEAR(ComposedEpsilon(releases, 1e-6), 0.81, 0.01);
    EXPECT_NEAR(budget.Remaining().share, 0.22, 0.01);
    EXPECT_GT(budget.Remaining().epsilon, 0.4);

    int more = 0;
    while (more < 1000 && budget.Fits(plan.curve())) {
        budget.Spend(plan.curve());
        ++more;
    }
    EXPECT_GE(more, 10);
    EXPECT_LE(more, 20);
    EXPECT_LE(budget.spent_rho(), budget.limit_rho());
    EXPECT_ERROR(budget.Spend(plan.curve(), "table \"visits\""), kBudgetExhausted);
    EXPECT_LE(RdpToEpsilon(budget.order(), budget.spent_rho(), 1e-6), 1);
}

TEST(Budget, LimitConvertsBackToItsEpsilon) {
    for (double epsilon : {0.01, 0.1, 1.0, 10.0})
        for (double delta : {1e-9, 1e-6, 1e-4}) {
            const Budget budget(epsilon, delta);
            EXPECT_LE(RdpToEpsilon(budget.order(), budget.limit_rho(), delta), epsilon);
            EXPECT_NEAR(RdpToEpsilon(budget.order(), budget.limit_rho(), delta) / epsilon, 1, 1e-9);
            EXPECT_EQ(budget.Remaining().share, 1);
            EXPECT_EQ(budget.Remaining().epsilon, epsilon);
            EXPECT_NEAR(RemainingEpsilon(budget.Constraint("x"), delta) / epsilon, 1, 1e-9);
        }
}

TEST(Budget, RestoredIsTheSame) {
    Budget budget(1, 1e-6);
    budget.Spend(Plan::Calibrate(Training(0.3, 1e-6)).curve());
    const Budget restored =
        Budget::Restore(budget.epsilon(), budget.delta(), budget.order(), budget.spent_rho());
    EXPECT_EQ(restored.Remaining().share, budget.Remaining().share);
    EXPECT_EQ(restored.Remaining().epsilon, budget.Remaining().epsilon);
    EXPECT_EQ(restored.limit_rho(), budget.limit_rho());
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 17, 0), kInvalidParameter);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 23, NAN), kInvalidParameter);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 23, -1), kInvalidParameter);
}

// What is shown as left is granted, and what is asked for beyond that is refused.
TEST(Budget, RemainingEpsilonIsAPromise) {
    Budget budget(1, 1e-6);
    for (int i = 0; i < 4; ++i) {
        const double left = budget.Remaining().epsilon;
        PlanRequest request = Training(left * (1 + 1e-3), 1e-6);
        request.budgets = {budget.Constraint("role \"ana\" on table \"visits\"")};
        EXPECT_ERROR(Plan::Calibrate(request), kBudgetExhausted);

        request.epsilon = left;
        const Plan all = Plan::Calibrate(request);
        EXPECT_TRUE(budget.Fits(all.curve()));

        request.epsilon = left * 0.5;
        const Plan half = Plan::Calibrate(request);
        ASSERT_TRUE(budget.Fits(half.curve()));
        EXPECT_EQ(half.calibrated_by(), "pld");
        budget.Spend(half.curve());
    }
}

TEST(Budget, AWholeBudgetInOneTrainingGetsTheLeastNoiseThatFits) {
    const Budget budget(1, 1e-6);
    PlanRequest request = Training(1, 1e-6);
    const Plan own = Plan::Calibrate(request);
    EXPECT_FALSE(budget.Fits(own.curve()));
    request.budgets = {budget.Constraint("table \"visits\"")};
    const Plan bound = Plan::Calibrate(request);
    EXPECT_EQ(bound.calibrated_by(), "budget");
    EXPECT_TRUE(budget.Fits(bound.curve()));
    EXPECT_GT(bound.NoiseMultiplier(0), own.NoiseMultiplier(0));
    EXPECT_LT(bound.NoiseMultiplier(0), 1.1 * own.NoiseMultiplier(0));
    EXPECT_LT(bound.epsilon(), 1);
    EXPECT_GT(bound.epsilon(), 0.88);
    Event weaker = bound.events()[0];
    weaker.parameter *= 0.999;
    EXPECT_GT(EventsRdp({weaker}, budget.order()), budget.limit_rho());
    EXPECT_TRUE(Cost::Replay(bound.Serialize()) == bound.release());
}

// At a large delta one order certifies far less than the total variation does: with the budget's noise the
// training is (0, delta)-DP. It is a release all the same, that a ledger must be able to store.
TEST(Budget, AReleaseNeverClaimsToCostNothing) {
    const Budget budget(1e-4, 1e-3);
    PlanRequest request = Training(1e-4, 1e-3);
    request.budgets = {budget.Constraint("table")};
    const Plan plan = Plan::Calibrate(request);
    EXPECT_EQ(plan.calibrated_by(), "budget");
    EXPECT_EQ(plan.epsilon(), 1e-4);
    EXPECT_TRUE(Cost::Parse(plan.Serialize()) == plan.release());
}

TEST(Budget, TheTightestOfSeveralBinds) {
    Budget wide(3, 1e-6);
    Budget narrow(0.6, 1e-6);
    PlanRequest request = Training(0.6, 1e-6);
    request.budgets = {wide.Constraint("table"), narrow.Constraint("role")};
    const Plan plan = Plan::Calibrate(request);
    EXPECT_TRUE(wide.Fits(plan.curve()));
    EXPECT_TRUE(narrow.Fits(plan.curve()));
    EXPECT_EQ(plan.calibrated_by(), "budget");
}

TEST(Budget, ExhaustedErrorSaysWhatIsLeft) {
    Budget budget(1, 1e-6);
    budget.Spend(Plan::Calibrate(Training(0.9, 1e-6)).curve());
    PlanRequest request = Training(1, 1e-6);
    request.budgets = {budget.Constraint("role \"ana\" on table \"visits\"")};
    try {
        Plan::Calibrate(request);
        FAIL() << "an exhausted budget was overspent";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBudgetExhausted);
        EXPECT_EQ(error.message(), "privacy budget of role \"ana\" on table \"visits\" is exhausted");
        EXPECT_NE(error.detail().find("needs epsilon 1, and 0."), std::string::npos) << error.detail();
    }
    request.budgets[0].remaining_rho = 0;
    request.epsilon = 1e-3;
    EXPECT_ERROR(Plan::Calibrate(request), kBudgetExhausted);
}

TEST(Budget, PureBudgetsTakePureReleasesOnly) {
    Budget budget(2, 0);
    EXPECT_EQ(budget.order(), kInfiniteOrder);
    PlanRequest request = Training(1, 1e-6);
    request.budgets = {budget.Constraint("table")};
    EXPECT_ERROR(Plan::Calibrate(request), kBudgetExhausted);

    request.delta = 0;
    request.mechanisms[0].kind = EventKind::kLaplace;
    request.mechanisms[0].sampling_rate = 1;
    const Plan plan = Plan::Calibrate(request);
    budget.Spend(plan.curve());
    EXPECT_NEAR(budget.Remaining().epsilon, 1, 1e-6);
    EXPECT_NEAR(budget.SpentEpsilon(), 1, 1e-9);
    EXPECT_NEAR(ComposedEpsilon({plan.release()}, 0), 1, 1e-9);

    // A pure release also fits into a Renyi budget.
    Budget renyi(1, 1e-6);
    request.budgets = {renyi.Constraint("table")};
    renyi.Spend(Plan::Calibrate(request).curve());
    EXPECT_GT(renyi.Remaining().share, 0);
}

TEST(Budget, FilteredReleasesAreShownByTheirCurve) {
    PlanRequest request = Training(0.3, 1e-6);
    request.mechanisms[0].filter_rounds = 50;
    const Plan plan = Plan::Calibrate(request);
    const double once = ComposedEpsilon({plan.release()}, 1e-6);
    EXPECT_NEAR(once, 0.3, 0.01);
    EXPECT_GT(ComposedEpsilon({plan.release(), plan.release()}, 1e-6), once);
}

TEST(Budget, RefusesBadInput) {
    EXPECT_ERROR(Budget(0, 1e-6), kInvalidParameter);
    EXPECT_ERROR(Budget(NAN, 1e-6), kInvalidParameter);
    EXPECT_ERROR(Budget(1, 1), kInvalidParameter);
    EXPECT_ERROR(Budget(1, -1e-6), kInvalidParameter);
    EXPECT_ERROR(Budget(1e-9, 1e-30), kInvalidParameter);
}

}  // namespace
}  // namespace dpboost
