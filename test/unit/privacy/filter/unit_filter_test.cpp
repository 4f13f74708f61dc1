#include "privacy/filter/unit_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "privacy/filter/renyi_filter.h"
#include "privacy/plan.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;

UnitLimit LimitOf(double epsilon, double delta = kDelta) {
    return UnitLimit(epsilon, delta, Budget(epsilon, delta).order());
}

Cost CostOf(std::vector<Event> events) {
    Cost cost;
    cost.epsilon = 1;
    cost.delta = kDelta;
    cost.curve = EventsCurve(events);
    cost.events = std::move(events);
    return cost;
}

TEST(UnitFilter, PricesAreRoundedUpAndTheWholeCostsTheWhole) {
    for (double epsilon : {0.05, 1.0, 8.0})
        for (double delta : {0.0, 1e-9, 1e-6}) {
            const UnitLimit limit = LimitOf(epsilon, delta);
            EXPECT_EQ(limit.Price(limit.rho()), kUnitWhole);
            EXPECT_EQ(limit.Price(std::nextafter(limit.rho(), 1e9)), kUnitWhole + 1);
            EXPECT_EQ(limit.Price(INFINITY), kUnitWhole + 1);
            EXPECT_EQ(limit.Price(0), 0u);
            EXPECT_EQ(limit.Price(limit.rho() * 1e-15), 1u) << "nothing is free";
            for (double part : {1e-9, 0.1, 1 / 3.0, 0.7, 0.999999}) {
                const auto exact = static_cast<long double>(part * limit.rho()) / limit.rho() * kUnitWhole;
                EXPECT_GE(limit.Price(part * limit.rho()), exact);
                EXPECT_LE(limit.Price(part * limit.rho()), exact + 1.01L);
            }
        }
}

TEST(UnitFilter, ALimitIsWorthItsEpsilonAndCertifiesIt) {
    for (double epsilon : {0.1, 1.0, 5.0}) {
        const UnitLimit limit = LimitOf(epsilon);
        EXPECT_LE(RdpToEpsilon(limit.order(), limit.rho(), kDelta), epsilon * (1 + 1e-12));
        EXPECT_EQ(limit.EpsilonOf(kUnitWhole), epsilon);
        EXPECT_EQ(limit.EpsilonOf(kUnitForgotten), epsilon);
        EXPECT_NEAR(limit.EpsilonOf(kUnitWhole - 1), epsilon, 0.02 * epsilon);
        EXPECT_LT(limit.EpsilonOf(kUnitWhole / 4), 0.6 * epsilon);
        EXPECT_EQ(limit.EpsilonOf(0), 0);
    }
    EXPECT_THROW(UnitLimit(1, kDelta, kInfiniteOrder), Error);
    EXPECT_THROW(UnitLimit(1, 0, 32), Error);
    EXPECT_THROW(UnitLimit(1, kDelta, 33000), Error);
    EXPECT_THROW(UnitLimit(1e-9, kDelta, 2), Error);
}

// Sums of so many rounds, within the limit.
PlanRequest RequestOf(const UnitLimit& limit, double epsilon, uint64_t rounds, double gamma) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = kDelta;
    MechanismRequest trees;
    trees.name = "trees";
    trees.count = rounds;
    trees.sampling_rate = gamma;
    trees.rest = 1;
    trees.dimensions = {{65536, 1, 4}};
    request.mechanisms = {trees};
    request.budgets = {limit.PerRelease().Constraint("table \"t\"")};
    return request;
}

// A plan that is calibrated to the limit can be paid for by someone who has spent nothing, and a second one of it cannot.
TEST(UnitFilter, WhatIsCalibratedToTheLimitCanBePaid) {
    for (double epsilon : {0.1, 1.0, 4.0})
        for (double gamma : {0.05, 1.0}) {
            const UnitLimit limit = LimitOf(epsilon);
            PlanRequest request = RequestOf(limit, epsilon, 100, gamma);
            const Plan plan = Plan::Calibrate(request);
            const UnitCharge charge = UnitCharge::Whole(limit, plan.release());
            EXPECT_EQ(charge.Reserve(0), charge.most());
            EXPECT_GT(charge.most(), kUnitWhole / 10 * 7) << "and not much less than it";
            EXPECT_EQ(charge.Reserve(charge.most()), 0u);
            EXPECT_TRUE(limit.PerRelease().Fits(plan.release()));
            request.epsilon = 2 * epsilon;
            EXPECT_THROW(Plan::Calibrate(request), Error);
        }
}

// A training that asks for what someone has left is paid by him, and one that asks for a little more is not.
TEST(UnitFilter, WhatIsLeftIsWhatATrainingMayAskFor) {
    for (double epsilon : {0.1, 1.0, 4.0})
        for (double part : {0.001, 0.3, 0.5, 0.9}) {
            const UnitLimit limit = LimitOf(epsilon);
            const auto spent = static_cast<uint32_t>(part * kUnitWhole);
            const auto reserve = [&](double asked) {
                const Plan plan = Plan::Calibrate(RequestOf(limit, asked, 1, 1));
                return UnitCharge::Whole(limit, plan.release()).Reserve(spent);
            };
            EXPECT_GT(reserve(limit.EpsilonLeft(spent)), 0u) << epsilon << " " << part;
            if (limit.EpsilonLeft(spent) < 0.98 * epsilon) {
                EXPECT_EQ(reserve(1.01 * limit.EpsilonLeft(spent)), 0u) << epsilon << " " << part;
            }
            EXPECT_EQ(limit.EpsilonLeft(kUnitWhole), 0);
            EXPECT_EQ(limit.EpsilonLeft(kUnitForgotten), 0);
            EXPECT_EQ(limit.EpsilonLeft(0), epsilon);
        }
    EXPECT_NEAR(LimitOf(2, 0).EpsilonLeft(kUnitWhole / 4), 1.5, 1e-8);
}

// What doc/units.md says of parts: two trainings with 0.6 of the limit's epsilon can be paid, three with 0.48, four with 0.4.
TEST(UnitFilter, PartsOfEpsilonArePartsOfTheLimit) {
    for (double epsilon : {0.05, 0.1, 1.0, 3.0, 10.0})
        for (const auto& [part, times] : {std::pair(0.6, 2u), std::pair(0.48, 3u), std::pair(0.4, 4u)}) {
            const UnitLimit limit = LimitOf(epsilon);
            const Plan plan = Plan::Calibrate(RequestOf(limit, part * epsilon, 30, 1));
            const uint64_t price = UnitCharge::Whole(limit, plan.release()).most();
            EXPECT_LE(times * price, kUnitWhole) << epsilon << " " << part;
            EXPECT_GT((times + 1) * price, kUnitWhole) << epsilon << " " << part;
        }
}

// Who was there when a limit by release is switched over goes on from what its Renyi filter has left: if the Gaussian
// filter has taken 4/5 of delta, 1/5 of it is what all of the rest must be proven by.
TEST(UnitFilter, AHistoryIsGoneOnFromAsItWasProven) {
    for (double epsilon : {0.5, 1.0, 4.0}) {
        const UnitLimit limit = LimitOf(epsilon);
        const auto worth = [&](double delta) { return EpsilonToRdp(limit.order(), epsilon, delta); };
        Budget gaussian(epsilon, kDelta), sampled(epsilon, kDelta);
        EXPECT_EQ(limit.StartAfter(gaussian.spent()), 0u);
        const Cost cost = CostOf({Event::Gaussian(30 / epsilon, 1)});
        const double rho = cost.curve.At(limit.order());
        sampled.Spend(CostOf({Event::Gaussian(60 / epsilon, 1, 0.1)}));
        for (int i = 0; i < 2; i++) {
            gaussian.Spend(cost);
            sampled.Spend(cost);
        }
        const auto left = [&](const Budget& budget) {
            return limit.rho() * UnitLeft(limit.StartAfter(budget.spent())) / kUnitWhole;
        };
        const double rooms = worth(kDelta) - limit.rho();
        EXPECT_NEAR(left(gaussian) + 2 * rho + rooms, worth(kDelta / 5), 1e-8);
        EXPECT_LE(left(gaussian) + 2 * rho + rooms, worth(kDelta / 5));
        EXPECT_NEAR(left(sampled) + sampled.spent().rho + rooms, worth(kDelta), 1e-8);
        while (gaussian.Fits(cost))
            gaussian.Spend(cost);
        EXPECT_EQ(left(gaussian), 0) << "the Gaussian filter went further than the other";
    }
}

// What has been let through before changes nothing for the next: it is not the limit that runs out, but units.
TEST(UnitFilter, ALimitByUnitNeverRunsOut) {
    const UnitLimit limit = LimitOf(1);
    Budget budget = limit.PerRelease();
    Cost cost = CostOf({Event::Gaussian(20, 1)});
    for (int i = 0; i < 1000; i++)
        budget.Spend(cost);
    EXPECT_TRUE(budget.Fits(cost));
    cost = CostOf({Event::Gaussian(0.1, 1)});
    EXPECT_FALSE(budget.Fits(cost));
}

TEST(UnitFilter, RoundsGoAsFarAsIsPaidFor) {
    std::mt19937_64 random(7);
    const UnitLimit limit = LimitOf(2);
    for (uint64_t rounds : {1u, 10u, 200u, 50000u}) {
        const UnitCharge charge = UnitCharge::ByRounds(
            limit, CostOf({Event::Gaussian(40, 1), Event::Gaussian(30 * std::sqrt(rounds), rounds, 0.5)}), 1);
        const RenyiFilter filter(rounds, {65536, 0.5}, {65536, 0.5});
        ASSERT_TRUE(charge.by_rounds());
        EXPECT_EQ(charge.Allowed(charge.most(), filter.limit(), filter.bits()), filter.limit());
        const uint32_t fixed = charge.Used(0, filter.bits());
        EXPECT_GT(fixed, 0u);
        EXPECT_EQ(charge.Reserve(kUnitWhole - fixed), 0u) << "nothing would be left for a round";
        EXPECT_EQ(charge.Reserve(kUnitWhole), 0u);
        EXPECT_EQ(charge.Reserve(kUnitForgotten), 0u);
        for (int i = 0; i < 2000; i++) {
            const auto spent = static_cast<uint32_t>(random() % (uint64_t{kUnitWhole} + 1));
            const uint32_t reserved = charge.Reserve(spent);
            EXPECT_LE(uint64_t{spent} + reserved, kUnitWhole);
            if (reserved == 0)
                continue;
            const uint32_t allowed = charge.Allowed(reserved, filter.limit(), filter.bits());
            EXPECT_LE(charge.Used(allowed, filter.bits()), reserved);
            if (allowed < filter.limit()) {
                EXPECT_GT(charge.Used(allowed + 1, filter.bits()) + 1, reserved)
                    << "and no further than that";
            }
        }
    }
}

// A cost that nobody can pay leaves out everyone, by rounds as well.
TEST(UnitFilter, WhatIsTooDearLeavesEveryoneOut) {
    const UnitLimit limit = LimitOf(0.5);
    const Cost dear = CostOf({Event::Gaussian(0.2, 1), Event::Gaussian(0.3, 50)});
    EXPECT_EQ(UnitCharge::Whole(limit, dear).Reserve(0), 0u);
    EXPECT_EQ(UnitCharge::ByRounds(limit, dear, 1).Reserve(0), 0u);
    const UnitLimit pure = LimitOf(0.5, 0);
    EXPECT_EQ(UnitCharge::Whole(pure, CostOf({Event::Gaussian(100, 1)})).Reserve(0), 0u);
    const UnitCharge laplace = UnitCharge::Whole(pure, CostOf({Event::Laplace(0.25, 1)}));
    EXPECT_NEAR(laplace.Reserve(0), kUnitWhole / 2 / 0.99, 10);
    EXPECT_EQ(laplace.Reserve(laplace.most() + 10), 0u);
}

// The theorem's condition, over random sequences of releases of all kinds: what every unit has lost, counted exactly from
// the integers that a round charges, stays within B, and its accumulator is never below it. Rounding included.
TEST(UnitFilter, NobodyEverLosesMoreThanTheLimit) {
    std::mt19937_64 random(11);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    for (int world = 0; world < 20; world++) {
        const UnitLimit limit = LimitOf(0.2 + 3 * uniform());
        constexpr size_t kUnits = 40;
        std::vector<uint32_t> spent(kUnits);
        std::vector<long double> lost(kUnits);
        std::vector<int> left_out(kUnits);
        for (int release = 0; release < 60; release++) {
            const uint64_t rounds = 1 + random() % 30;
            const double noise = (6 + 60 * uniform()) / limit.epsilon();
            const double gamma = random() % 2 == 0 ? 1 : 0.05 + uniform() / 2;
            const bool by_rounds = random() % 3 != 0;
            const Cost cost = CostOf({Event::Gaussian(4 * noise, 1), Event::Gaussian(noise, rounds, gamma)});
            const UnitCharge charge =
                by_rounds ? UnitCharge::ByRounds(limit, cost, 1) : UnitCharge::Whole(limit, cost);
            const long double start_loss = EventsRdp({cost.events[0]}, limit.order());
            const long double round_loss = EventsRdp({Event::Gaussian(noise, 1, gamma)}, limit.order());
            const RenyiFilter filter(rounds, {65536, 0.3}, {65536, 0.7});
            for (size_t unit = 0; unit < kUnits; unit++) {
                if (random() % 4 == 0)
                    continue;  // has no row in it
                const uint32_t reserved = charge.Reserve(spent[unit]);
                if (reserved == 0) {
                    left_out[unit]++;
                    continue;
                }
                if (!by_rounds) {
                    spent[unit] += reserved;
                    lost[unit] += cost.curve.At(limit.order());
                    continue;
                }
                const uint32_t start =
                    filter.limit() - charge.Allowed(reserved, filter.limit(), filter.bits());
                uint32_t sum = start;
                lost[unit] += start_loss;
                for (uint64_t round = 0; round < rounds + 10; round++) {
                    const auto value =
                        static_cast<uint32_t>(65536 * std::min(1.0, uniform() * (1.0 + unit % 3)));
                    const long double part = static_cast<long double>(value) * value / 65536 / 65536;
                    if (filter.Admit(filter.Loss(value, value), &sum))
                        lost[unit] += part * round_loss;
                }
                const uint32_t used = charge.Used(sum - start, filter.bits());
                ASSERT_LE(used, reserved);
                spent[unit] += used;
            }
            for (size_t unit = 0; unit < kUnits; unit++) {
                ASSERT_LE(spent[unit], kUnitWhole);
                ASSERT_LE(lost[unit],
                          static_cast<long double>(limit.rho()) * spent[unit] / kUnitWhole * (1 + 1e-12L));
            }
        }
        EXPECT_GT(*std::min_element(left_out.begin(), left_out.end()), 0) << "everybody came to his end";
        EXPECT_GT(*std::max_element(lost.begin(), lost.end()), 0.9L * limit.rho()) << "and got near it";
    }
}

}  // namespace
}  // namespace dpboost
