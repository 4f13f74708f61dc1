#include "privacy/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "privacy/accountant/gdp.h"
#include "privacy/budget_factor.h"
#include "privacy/plan.h"
#include "support/thrown.h"
#include "unit/privacy/reference_table.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

PlanRequest Training(double epsilon, double delta, double gamma = 0.1, uint64_t trees = 150) {
    return Request(epsilon, delta, {Leaves(gamma, trees)});
}

// As `auto` plans: everything from one pool of full-batch Gaussian noise.
PlanRequest Auto(double epsilon, double delta) {
    PlanRequest request = Training(epsilon, delta, 1, 1);
    request.mechanisms[0].dimensions.clear();
    request.mechanisms[0].pool = true;
    return request;
}

Plan Within(PlanRequest request, const Budget& budget) {
    request.budgets = {{budget, "role \"ana\" on table \"visits\""}};
    return Plan::Calibrate(request);
}

int HowMany(Budget budget, const Plan& plan) {
    int count = 0;
    while (count < 1000 && budget.Fits(plan.release())) {
        budget.Spend(plan.release());
        ++count;
    }
    return count;
}

TEST(Budget, ATenthFitsOftenIntoOne) {
    EXPECT_GE(HowMany(Budget(1, 1e-6), Plan::Calibrate(Auto(0.1, 1e-6))), 72);
    EXPECT_GE(HowMany(Budget(0.5, 1e-6), Plan::Calibrate(Auto(0.05, 1e-6))), 72);
    EXPECT_GE(HowMany(Budget(3, 1e-6), Plan::Calibrate(Auto(0.5, 1e-6))), 26);
    // Ledgers without Gaussian releases have the whole delta for their order.
    EXPECT_GE(HowMany(Budget(1, 1e-6), Plan::Calibrate(Training(0.1, 1e-6))), 63);
}

TEST(Budget, FiftyTrainingsAtATenthLeaveRoom) {
    const Plan plan = Plan::Calibrate(Training(0.1, 1e-6));
    Budget budget(1, 1e-6);
    Spent spent;
    for (int i = 0; i < 50; ++i) {
        budget.Spend(plan.release());
        spent.Add(plan.release());
    }
    EXPECT_TRUE(spent.At(budget.order()) == budget.spent());
    EXPECT_NEAR(ComposedEpsilon(spent, 1e-6), 0.81, 0.01);
    EXPECT_NEAR(AdaptiveEpsilon(spent, 1e-6), 0.87, 0.01);
    EXPECT_NEAR(budget.Remaining().share, 0.22, 0.01);
    EXPECT_GT(budget.Remaining().epsilon, 0.4);
    for (int i = 0; i < 20 && budget.Fits(plan.release()); ++i)
        budget.Spend(plan.release());
    EXPECT_ERROR(budget.Spend(plan.release(), "table \"visits\""), kBudgetExhausted);
    EXPECT_LE(RdpToEpsilon(budget.order(), budget.spent().rho, 1e-6), 1);
}

TEST(Budget, TheFirstTrainingMayUseTheWholeLimit) {
    const Budget budget(1, 1e-6);
    for (const PlanRequest& request : {Auto(1, 1e-6), Training(1, 1e-6)}) {
        const Plan plan = Within(request, budget);
        EXPECT_EQ(plan.epsilon(), 1);
        EXPECT_NE(plan.calibrated_by(), "budget");
        EXPECT_EQ(plan.NoiseMultiplier(0), Plan::Calibrate(request).NoiseMultiplier(0));
        Budget used = budget;
        used.Spend(plan.release());
        EXPECT_EQ(used.Remaining().share, 0);
        EXPECT_EQ(used.Remaining().epsilon, 0);
        EXPECT_ERROR(Within(Auto(1e-3, 1e-6), used), kBudgetExhausted);
        EXPECT_ERROR(Within(Training(1e-3, 1e-6), used), kBudgetExhausted);
    }
    // What the Gaussian filter by itself allows a first training.
    EXPECT_GE(GdpEpsilon(std::sqrt(budget.Room(true).mu_squared), 1e-6), 0.98);
}

// A delta above the limit's is not covered by case (a), whatever the epsilon.
TEST(Budget, ALargerDeltaDoesNotFitAsItIs) {
    const Budget budget(1, 1e-6);
    const Plan plan = Plan::Calibrate(Training(1, 1e-5));
    EXPECT_FALSE(budget.Fits(plan.release()));
    EXPECT_FALSE(budget.Fits(Plan::Calibrate(Auto(1, 1e-5)).release()));
    EXPECT_FALSE(budget.Fits(Plan::Calibrate(Auto(1 + 1e-9, 1e-6)).release()));
    EXPECT_ERROR(Within(Auto(1, 1e-5), budget), kBudgetExhausted);
    const Plan less = Within(Auto(0.8, 1e-5), budget);
    EXPECT_TRUE(budget.Fits(less.release()));
}

TEST(Budget, LimitsConvertBackToTheirEpsilon) {
    for (double epsilon : {0.01, 0.1, 1.0, 10.0})
        for (double delta : {1e-9, 1e-6, 1e-4}) {
            const Budget budget(epsilon, delta);
            const BudgetRoom gaussian = budget.Room(true);
            const BudgetRoom other = budget.Room(false);
            EXPECT_LE(GdpDelta(std::sqrt(gaussian.mu_squared), epsilon), 0.8 * delta);
            EXPECT_NEAR(GdpDelta(std::sqrt(gaussian.mu_squared), epsilon) / (0.8 * delta), 1, 1e-9);
            EXPECT_NEAR(RdpToEpsilon(budget.order(), other.rho, delta) / epsilon, 1, 1e-9);
            EXPECT_LE(RdpToEpsilon(budget.order(), other.rho, delta), epsilon);
            EXPECT_EQ(other.mu_squared, 0);
            if (gaussian.rho > 0) {
                EXPECT_LE(RdpToEpsilon(budget.order(), gaussian.rho, 0.2 * delta), epsilon);
            }
            EXPECT_EQ(budget.Remaining().share, 1);
            EXPECT_EQ(budget.Remaining().epsilon, epsilon);
            EXPECT_EQ(budget.RoomEpsilon(true, delta), epsilon);
        }
}

TEST(Budget, RestoredIsTheSame) {
    Budget budget(1, 1e-6);
    budget.Spend(Plan::Calibrate(Training(0.3, 1e-6)).release());
    const Budget restored = Budget::Restore(1, 1e-6, budget.order(), budget.spent());
    EXPECT_EQ(restored.Remaining().share, budget.Remaining().share);
    EXPECT_EQ(restored.Remaining().epsilon, budget.Remaining().epsilon);
    EXPECT_EQ(restored.Room(true).rho, budget.Room(true).rho);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 17, {}), kInvalidParameter);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 23, {1, NAN, 0, false, false}), kInvalidParameter);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 23, {1, 0, -1, false, false}), kInvalidParameter);
    EXPECT_ERROR(Budget::Restore(1, 1e-6, 23, {-1, 0, 0, false, false}), kInvalidParameter);
}

// What is left for a kind of training is granted to it, and what is asked for beyond that is refused.
TEST(Budget, WhatIsLeftIsAPromise) {
    for (bool gaussian : {true, false}) {
        Budget budget(1, 1e-6);
        auto training = [&](double epsilon) {
            return gaussian ? Auto(epsilon, 1e-6) : Training(epsilon, 1e-6);
        };
        for (int i = 0; i < 4; ++i) {
            const double left = budget.RoomEpsilon(gaussian, 1e-6);
            EXPECT_NEAR(budget.Remaining().epsilon / left, 1, 1e-9);
            EXPECT_ERROR(Within(training(left * (1 + 1e-3)), budget), kBudgetExhausted);
            EXPECT_TRUE(budget.Fits(Within(training(left), budget).release()));
            const Plan half = Within(training(left * 0.5), budget);
            EXPECT_EQ(half.calibrated_by(), gaussian ? "gdp" : "pld");
            budget.Spend(half.release());
        }
    }
}

// The last of a ledger gets the least noise that fits, here by the order.
TEST(Budget, MoreNoiseWhereOnlyThatFits) {
    Budget budget(1, 1e-6);
    budget.Spend(Plan::Calibrate(Training(0.3, 1e-6)).release());
    const PlanRequest request = Training(budget.RoomEpsilon(false, 1e-6), 1e-6);
    const Plan own = Plan::Calibrate(request);
    EXPECT_FALSE(budget.Fits(own.release()));
    const Plan bound = Within(request, budget);
    EXPECT_EQ(bound.calibrated_by(), "budget");
    EXPECT_TRUE(budget.Fits(bound.release()));
    EXPECT_GT(bound.NoiseMultiplier(0), own.NoiseMultiplier(0));
    EXPECT_LT(bound.NoiseMultiplier(0), 1.1 * own.NoiseMultiplier(0));
    EXPECT_LT(bound.epsilon(), request.epsilon);
    EXPECT_GT(bound.epsilon(), 0.88 * request.epsilon);
    Event weaker = bound.events()[0];
    weaker.parameter *= 0.999;
    EXPECT_GT(EventsRdp({weaker}, budget.order()), budget.Room(false).rho);
    EXPECT_TRUE(Cost::Replay(bound.Serialize()) == bound.release());
}

// A Gaussian ledger goes on by mu^2 where its order would long have stopped it; other noise ends that.
TEST(Budget, OtherNoiseEndsTheGaussianFilter) {
    Budget budget(1, 1e-6);
    const Plan small = Plan::Calibrate(Auto(0.1, 1e-6));
    for (int i = 0; i < 40; ++i)
        budget.Spend(small.release());
    EXPECT_NEAR(budget.Remaining().share, 1 - 40 / 72.28, 1e-3);
    Budget mixed = budget;
    const Plan other = Plan::Calibrate(Training(0.1, 1e-6));
    mixed.Spend(other.release());
    EXPECT_TRUE(std::isinf(mixed.spent().mu_squared));
    EXPECT_TRUE(mixed.spent().gaussian_first);
    EXPECT_EQ(mixed.Room(true).mu_squared, 0);
    Spent began_gaussian, began_otherwise;
    began_gaussian.Add(small.release());
    began_gaussian.Add(other.release());
    began_otherwise.Add(other.release());
    began_otherwise.Add(small.release());
    EXPECT_GE(AdaptiveEpsilon(began_gaussian, 1e-6), CurveToEpsilon(began_gaussian.curve, 0.2e-6).epsilon);
    EXPECT_GE(AdaptiveEpsilon(began_otherwise, 1e-6), CurveToEpsilon(began_otherwise.curve, 1e-6).epsilon);
    EXPECT_LT(AdaptiveEpsilon(began_otherwise, 1e-6), AdaptiveEpsilon(began_gaussian, 1e-6));
    EXPECT_LT(HowMany(mixed, small), 32 - 12);
    EXPECT_GT(HowMany(mixed, small), 10);
    EXPECT_EQ(HowMany(budget, small), 32);
    for (int i = 0; i < 20; ++i)
        budget.Spend(small.release());
    EXPECT_EQ(budget.Room(false).rho, 0);
    EXPECT_ERROR(Within(Training(0.01, 1e-6), budget), kBudgetExhausted);
    EXPECT_EQ(Within(Auto(0.1, 1e-6), budget).calibrated_by(), "gdp");
}

// At a large delta one order certifies far less than the total variation does: with the budget's noise the
// training is (0, delta)-DP. It is a release all the same, that a ledger must be able to store.
TEST(Budget, AReleaseNeverClaimsToCostNothing) {
    Budget budget(1e-4, 1e-3);
    budget.Spend(Plan::Calibrate(Training(1e-5, 1e-9)).release());
    const double left = budget.RoomEpsilon(false, 1e-3);
    const Plan plan = Within(Training(left, 1e-3), budget);
    EXPECT_EQ(plan.calibrated_by(), "budget");
    EXPECT_EQ(plan.epsilon(), left);
    EXPECT_TRUE(Cost::Parse(plan.Serialize()) == plan.release());
}

TEST(Budget, TheTightestOfSeveralBinds) {
    Budget wide(3, 1e-6);
    Budget narrow(0.6, 1e-6);
    const Plan first = Plan::Calibrate(Training(0.3, 1e-6));
    wide.Spend(first.release());
    narrow.Spend(first.release());
    PlanRequest request = Training(narrow.RoomEpsilon(false, 1e-6), 1e-6);
    request.budgets = {{wide, "table"}, {narrow, "role"}, {Budget(1, 1e-6), "fresh"}};
    const Plan plan = Plan::Calibrate(request);
    for (const BudgetConstraint& constraint : request.budgets)
        EXPECT_TRUE(constraint.budget.Fits(plan.release())) << constraint.name;
    EXPECT_EQ(plan.calibrated_by(), "budget");
}

TEST(Budget, ExhaustedErrorSaysWhatIsLeft) {
    Budget budget(1, 1e-6);
    budget.Spend(Plan::Calibrate(Training(0.9, 1e-6)).release());
    try {
        Within(Training(1, 1e-6), budget);
        FAIL() << "an exhausted budget was overspent";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBudgetExhausted);
        EXPECT_EQ(error.message(),
                  "privacy budget of role \"ana\" on table \"visits\" does not allow epsilon 1");
        EXPECT_EQ(error.detail().rfind("Epsilon 0.", 0), 0u) << error.detail();
        const double left =
            std::strtod(error.hint().c_str() + std::string("Ask for at most ").size(), nullptr);
        EXPECT_GT(left, 0.1);
        EXPECT_NO_THROW(Within(Training(left, 1e-6), budget));
        EXPECT_THROW(Within(Training(left * 1.01, 1e-6), budget), Error);
    }
    budget = Budget(0.9, 1e-6).WithSpent(budget.spent());
    try {
        Within(Training(0.1, 1e-6), budget);
        FAIL() << "an exhausted budget was overspent";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "privacy budget of role \"ana\" on table \"visits\" is exhausted");
    }
}

TEST(Budget, TheErrorIsAboutTheOneThatLeavesLeast) {
    PlanRequest request = Training(50, 1e-6);
    request.budgets = {{Budget(5, 1e-5), "table"}, {Budget(2, 1e-6), "role"}, {Budget(3, 1e-6), "group"}};
    EXPECT_EQ(
        Thrown([&] { Plan::Calibrate(request); }),
        "privacy budget of role does not allow epsilon 50 | Epsilon 2 is left at delta 1e-6. | Ask for at "
        "most 2, or ask the table's owner to raise the limit.");
    request.epsilon = 2;
    EXPECT_NO_THROW(Plan::Calibrate(request));
}

// Also of a person's account, whose limit is never met exactly.
TEST(Budget, WhatIsGrantedReadsWellAndFits) {
    for (const double epsilon : {0.05, 0.1, 0.7, 1.0, 3.0, 10.0})
        for (const double delta : {1e-6, 1e-5}) {
            const Budget accounts = Budget(epsilon, delta).WithSpent(BudgetSpent::ByUnit());
            Budget begun(epsilon, delta);
            begun.Spend(Plan::Calibrate(Training(epsilon / 3, delta)).release());
            EXPECT_EQ(GrantedEpsilon(accounts, false, delta), epsilon);
            EXPECT_NO_THROW(Within(Training(epsilon, delta), accounts));
            EXPECT_NO_THROW(Within(Training(GrantedEpsilon(begun, false, delta), delta), begun));
            EXPECT_THROW(Within(Training(GrantedEpsilon(begun, false, delta) * 1.0001, delta), begun), Error);
        }
    EXPECT_EQ(GrantedEpsilon(Budget(2, 0), false, 1e-6), 0);
}

TEST(Budget, PureBudgetsTakePureReleasesOnly) {
    Budget budget(2, 0);
    EXPECT_EQ(budget.order(), kInfiniteOrder);
    PlanRequest request = Training(1, 1e-6);
    EXPECT_ERROR(Within(request, budget), kBudgetExhausted);
    EXPECT_ERROR(Within(Auto(1e-3, 1e-6), budget), kBudgetExhausted);

    request.delta = 0;
    request.mechanisms[0].kind = EventKind::kLaplace;
    request.mechanisms[0].sampling_rate = 1;
    const Plan plan = Within(request, budget);
    budget.Spend(plan.release());
    EXPECT_NEAR(budget.Remaining().epsilon, 1, 1e-6);
    EXPECT_FALSE(budget.Fits(Plan::Calibrate(Auto(1e-3, 1e-6)).release()));
    Spent spent;
    spent.Add(plan.release());
    EXPECT_NEAR(ComposedEpsilon(spent, 0), 1, 1e-9);
    EXPECT_NEAR(AdaptiveEpsilon(spent, 0), 1, 1e-9);
    budget.Spend(plan.release());
    EXPECT_FALSE(budget.Fits(plan.release()));

    // A pure release also fits into a Renyi budget.
    Budget renyi(1, 1e-6);
    request.epsilon = 0.5;
    renyi.Spend(Within(request, renyi).release());
    EXPECT_GT(renyi.Remaining().share, 0);
}

// An analyst who chooses what to ask for next by a coin and by what is left, under three limits at once. At
// the end the filters are checked from scratch, in other arithmetic than the budget's.
TEST(Budget, AdaptiveSequencesNeverExceedBothFilters) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> fraction(0, 1);
    for (int round = 0; round < 30; ++round) {
        std::vector<BudgetConstraint> budgets;
        for (double scale : {1.0, 0.5, 2.0})
            budgets.push_back({Budget(scale * std::pow(10, fraction(random) - 0.5), 1e-6), "limit"});
        std::vector<Cost> releases;
        int refused = 0;
        for (int ask = 0; ask < 200 && refused < 8; ++ask) {
            const double left = budgets[random() % 3].budget.Remaining().epsilon;
            const double epsilon = std::max(1e-3, left * std::pow(fraction(random), 1 + round % 3));
            const bool gaussian = fraction(random) < (round % 2 == 0 ? 1 : 0.7);
            PlanRequest request = gaussian ? Auto(epsilon, 1e-6) : Training(epsilon, 1e-6, 0.3, 10);
            request.budgets = budgets;
            try {
                releases.push_back(Plan::Calibrate(request).release());
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::kBudgetExhausted);
                ++refused;
                continue;
            }
            for (BudgetConstraint& constraint : budgets)
                constraint.budget.Spend(releases.back());
        }
        ASSERT_FALSE(releases.empty());
        for (const BudgetConstraint& constraint : budgets) {
            const Budget& budget = constraint.budget;
            long double rho = 0, mu_squared = 0;
            bool all_gaussian = true;
            for (const Cost& release : releases) {
                rho += release.curve.At(budget.order());
                all_gaussian &= IsGaussianFullBatch(release.events);
                for (const Event& event : release.events)
                    mu_squared += event.count / (static_cast<long double>(event.parameter) * event.parameter);
            }
            const bool began_gaussian = IsGaussianFullBatch(releases[0].events);
            const bool alone = releases.size() == 1 && releases[0].epsilon <= budget.epsilon();
            const bool by_mu = all_gaussian && GdpDelta(std::sqrt(static_cast<double>(mu_squared)),
                                                        budget.epsilon()) <= 0.8 * budget.delta();
            const double delta = began_gaussian ? 0.2 * budget.delta() : budget.delta();
            const bool by_rho =
                RdpToEpsilon(budget.order(), static_cast<double>(rho), delta) <= budget.epsilon();
            EXPECT_TRUE(alone || by_mu || by_rho) << round << ", releases " << releases.size();
            EXPECT_GE(budget.spent().rho, rho);
            EXPECT_GE(budget.spent().mu_squared, mu_squared);
        }
    }
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
