// What a view says was spent is never below what can be proven, and that never below any single training's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "privacy/accountant/calibrate.h"
#include "privacy/budget.h"
#include "privacy/plan.h"

namespace dpboost {
namespace {

PlanRequest Sampled(double epsilon, double gamma, uint64_t trees) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = 1e-6;
    MechanismRequest leaves;
    leaves.name = "leaves";
    leaves.count = trees;
    leaves.sampling_rate = gamma;
    leaves.rest = 1;
    leaves.dimensions = {{65536, 0.5, 64}, {65536, 0.5, 64}};
    request.mechanisms = {leaves};
    return request;
}

double Proven(const std::vector<Cost>& releases, double delta) {
    std::vector<Event> events;
    for (const Cost& release : releases)
        events.insert(events.end(), release.events.begin(), release.events.end());
    return std::min(ProvenEpsilon(events, delta), EventsRdpEpsilon(events, delta).epsilon);
}

double Shown(const Budget& budget, const std::vector<Cost>& releases) {
    return std::min(budget.SpentEpsilon(), ComposedEpsilon(releases, budget.delta()));
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
        Budget budget(c.cap, 1e-6);
        budget.Spend(plan.curve());
        const double shown = Shown(budget, {plan.release()});
        EXPECT_GE(shown, c.epsilon * (1 - 2e-4)) << c.gamma;
        EXPECT_LE(shown, c.epsilon * (1 + 2e-4)) << c.gamma;
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
    for (int round = 0; round < 40; ++round) {
        const double delta = random() % 2 == 0 ? 1e-6 : 1e-5;
        Budget budget(std::pow(10, 0.3 + 1.2 * static_cast<double>(random() % 100) / 100), delta);
        std::vector<Cost> releases;
        const std::size_t wanted = 1 + random() % 4;
        for (int attempt = 0; attempt < 20 && releases.size() < wanted; ++attempt) {
            const Plan plan = Plan::Calibrate(RandomTraining(random));
            if (!budget.Fits(plan.curve()))
                continue;
            budget.Spend(plan.curve());
            releases.push_back(plan.release());
        }
        const double proven = Proven(releases, delta);
        EXPECT_GE(Shown(budget, releases), proven * (1 - 1e-9)) << round;
        for (const Cost& release : releases)
            EXPECT_GE(proven, Proven({release}, delta) * (1 - 2e-4)) << round;  // grids are within 1e-4
    }
}

}  // namespace
}  // namespace dpboost
