// What a view says was spent is never below what can be proven, and that never below any single training's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/budget.h"
#include "privacy/plan.h"
#include "privacy/spent.h"
#include "unit/privacy/reference_table.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

PlanRequest Sampled(double epsilon, double gamma, uint64_t trees) {
    return Request(epsilon, 1e-6, {Leaves(gamma, trees)});
}

double Proven(const std::vector<Cost>& releases, double delta) {
    std::vector<Event> events;
    for (const Cost& release : releases)
        events.insert(events.end(), release.events.begin(), release.events.end());
    return std::min(ProvenEpsilon(events, delta), EventsRdpEpsilon(events, delta).epsilon);
}

Spent Sum(const std::vector<Cost>& releases) {
    Spent spent;
    for (const Cost& release : releases)
        spent.Add(release);
    return spent;
}

TEST(Spent, RareSamplingIsNotShownTooSmall) {
    const struct {
        double gamma;
        uint64_t trees;
        double epsilon, cap;
    } cases[] = {{0.002, 20, 1, 10}, {0.01, 20, 1, 10},   {0.02, 20, 1, 10},
                 {0.01, 200, 1, 3},  {0.002, 20, 0.2, 3}, {0.1, 20, 1, 10}};
    for (const auto& c : cases) {
        const Plan plan = Plan::Calibrate(Sampled(c.epsilon, c.gamma, c.trees));
        const Spent spent = Sum({plan.release()});
        EXPECT_NEAR(ComposedEpsilon(spent, 1e-6) / c.epsilon, 1, 2e-4) << c.gamma;
        EXPECT_NEAR(AdaptiveEpsilon(spent, 1e-6) / c.epsilon, 1, 2e-4) << c.gamma;
        EXPECT_GE(QuickEpsilon(spent, 1e-6), c.epsilon) << c.gamma;
        // And the limit has room for more than what was shown as left of it.
        Budget budget(c.cap, 1e-6);
        budget.Spend(plan.release());
        EXPECT_LT(budget.Remaining().share, 1);
    }
}

// Any training that SQL could ask for: sampled, full batch, filtered, with selections, or pure.
PlanRequest RandomTraining(std::mt19937_64& random) {
    std::uniform_real_distribution<double> fraction(0, 1);
    const double gamma = std::pow(10, -3 * fraction(random));
    PlanRequest request = Sampled(0.05 * std::pow(40, fraction(random)), gamma, 1 + random() % 60);
    MechanismRequest& trees = request.mechanisms[0];
    switch (random() % 5) {
        case 0:
            trees.sampling_rate = 1;
            break;
        case 1:
            trees.filter_rounds = 10;
            break;
        case 2:
            trees.kind = EventKind::kExponential;
            trees.sampling_rate = 1;
            trees.dimensions = {{65536, 1, 8}};
            break;
        case 3:
            trees.kind = EventKind::kLaplace;
            trees.sampling_rate = 1;
            request.delta = 0;
            break;
    }
    return request;
}

TEST(Spent, NeverShownBelowWhatIsProven) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 60; ++round) {
        const double delta = random() % 2 == 0 ? 1e-6 : 1e-5;
        Budget budget(std::pow(10, 0.3 + 1.2 * static_cast<double>(random() % 100) / 100), delta);
        std::vector<Cost> releases;
        const std::size_t wanted = 1 + random() % 4;
        for (int attempt = 0; attempt < 20 && releases.size() < wanted; ++attempt) {
            const Plan plan = Plan::Calibrate(RandomTraining(random));
            if (!budget.Fits(plan.release()))
                continue;
            budget.Spend(plan.release());
            releases.push_back(plan.release());
        }
        const Spent spent = Sum(releases);
        const double shown = ComposedEpsilon(spent, delta);
        const double proven = Proven(releases, delta);
        EXPECT_GE(shown, proven * (1 - 1e-9)) << round;
        EXPECT_GE(QuickEpsilon(spent, delta), shown) << round;
        EXPECT_GE(AdaptiveEpsilon(spent, delta), shown) << round;
        const double adaptive = AdaptiveEpsilon(spent, delta);
        EXPECT_LE(adaptive, budget.epsilon() * (1 + 2e-4)) << round;
        // As a limit it would have let several through, and a lower one would not.
        for (const double factor : {1 + 2e-4, 0.99}) {
            if (releases.size() < 2)
                continue;
            bool through = true;
            Budget limit(adaptive * factor, delta);
            Spent so_far;
            for (const Cost& release : releases) {
                through &= limit.Fits(release);
                so_far.Add(release);
                limit = limit.WithSpent(so_far.At(limit.order()));
            }
            EXPECT_EQ(through, factor > 1) << round << ": " << adaptive;
        }
        for (const Cost& release : releases)
            EXPECT_GE(proven, Proven({release}, delta) * (1 - 2e-4)) << round;  // grids are within 1e-4
    }
}

// More different events than are kept: shown by the summed curves.
TEST(Spent, ManyDifferentTrainingsAreShownByTheirCurve) {
    std::vector<Cost> releases;
    for (int i = 0; i < 17; ++i)
        releases.push_back(Plan::Calibrate(Sampled(0.1 + 0.001 * i, 0.1, 20)).release());
    Spent spent = Sum({releases.begin(), releases.end() - 1});
    EXPECT_TRUE(spent.others_known);
    EXPECT_EQ(spent.others.size(), 16u);
    spent.Add(releases.back());
    EXPECT_FALSE(spent.others_known);
    EXPECT_FALSE(spent.IsGaussian());
    RdpCurve curve;
    for (const Cost& release : releases)
        curve += release.curve;
    EXPECT_NEAR(ComposedEpsilon(spent, 1e-6), CurveToEpsilon(curve, 1e-6).epsilon, 1e-12);
    EXPECT_GE(ComposedEpsilon(spent, 1e-6), Proven(releases, 1e-6));
}

TEST(Spent, FilteredReleasesAreShownByTheirCurve) {
    PlanRequest request = Sampled(0.3, 0.1, 150);
    request.mechanisms[0].filter_rounds = 50;
    const Plan plan = Plan::Calibrate(request);
    EXPECT_NEAR(ComposedEpsilon(Sum({plan.release()}), 1e-6), 0.3, 0.01);
    EXPECT_GT(ComposedEpsilon(Sum({plan.release(), plan.release()}), 1e-6), 0.35);
}

// However releases are grouped and added, no sum is below the exact one, and they agree.
TEST(Spent, SumsAreNeverBelowTheTruth) {
    std::mt19937_64 random(3);
    std::vector<Cost> kinds;
    for (int i = 0; i < 6; ++i)
        kinds.push_back(Plan::Calibrate(RandomTraining(random)).release());
    Spent one, odd, even;
    std::vector<long double> exact(kOrderCount, 0);
    long double mu_squared = 0;
    for (int i = 0; i < 20000; ++i) {
        const Cost& cost = kinds[random() % kinds.size()];
        one.Add(cost);
        (i % 2 == 0 ? even : odd).Add(cost);
        for (std::size_t k = 0; k < kOrderCount; ++k)
            exact[k] += cost.curve.rho[k];
        for (const Event& event : cost.events)
            if (IsGaussianFullBatch({event}))
                mu_squared += event.count / (static_cast<long double>(event.parameter) * event.parameter);
    }
    Spent both = even;
    both.Add(odd);
    EXPECT_TRUE(one.Agrees(both));
    EXPECT_TRUE(both.Agrees(one));
    for (const Spent* spent : {&one, &both}) {
        for (std::size_t k = 0; k < kOrderCount; ++k) {
            EXPECT_GE(spent->curve.rho[k], exact[k]);
            EXPECT_LE(spent->curve.rho[k], exact[k] * (1 + 1e-11L));
        }
        EXPECT_GE(spent->mu_squared, mu_squared);
        EXPECT_LE(spent->mu_squared, mu_squared * (1 + 1e-11L));
    }
    Spent missing = even;
    EXPECT_FALSE(one.Agrees(missing));
    missing = both;
    missing.curve.rho[20] *= 1 - 1e-6;
    EXPECT_FALSE(one.Agrees(missing));
}

// A training with so much noise that it costs nothing in doubles is still one that views can show.
TEST(Spent, NothingIsTooSmallToShow) {
    Cost cost;
    cost.epsilon = 1e-180;
    cost.delta = 1e-6;
    cost.events = {Event::Gaussian(1e200, 1)};
    cost.curve = EventsCurve(cost.events);
    const Spent spent = Sum({cost, cost});
    EXPECT_GT(spent.mu_squared, 0);
    EXPECT_LE(ComposedEpsilon(spent, 1e-6), 1e-12);
    EXPECT_LE(AdaptiveEpsilon(spent, 1e-6), 1e-12);
    Budget budget(1, 1e-6);
    budget.Spend(cost);
    EXPECT_NEAR(budget.Remaining().share, 1, 1e-9);
}

TEST(Spent, SurvivesSerialisation) {
    std::mt19937_64 random(5);
    Spent spent;
    for (int i = 0; i < 30; ++i) {
        spent.Add(Plan::Calibrate(RandomTraining(random)).release());
        const std::string bytes = spent.Serialize();
        const Spent read = Spent::Parse(bytes);
        EXPECT_TRUE(read.At(23) == spent.At(23));
        EXPECT_EQ(read.Serialize(), bytes);
        EXPECT_LT(bytes.size(), 1000u);
    }
    const std::string bytes = Sum({Plan::Calibrate(Sampled(0.3, 0.1, 150)).release()}).Serialize();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_ERROR(Spent::Parse(std::string_view(bytes).substr(0, size)), kCorrupted);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 4);
        EXPECT_ERROR(Spent::Parse(changed), kCorrupted);
    }
    EXPECT_ERROR(Spent::Parse(Spent().Serialize()), kCorrupted);
}

}  // namespace
}  // namespace dpboost
