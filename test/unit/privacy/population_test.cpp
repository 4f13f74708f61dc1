// A population's cap over random histories: tables that join with something spent, trainings of several kinds on any of
// them, a recount from the releases themselves. Counted as postgres/ledger/limit_totals does: by case (c), however the
// history began.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "privacy/accountant/gdp.h"
#include "privacy/budget.h"
#include "privacy/spent.h"

namespace dpboost {
namespace {

Cost Release(const Event& event, double delta) {
    Cost cost;
    cost.events = {event};
    cost.curve = EventsCurve(cost.events);
    cost.delta = delta;
    cost.epsilon = CurveToEpsilon(cost.curve, delta).epsilon;
    return cost;
}

Cost AnyRelease(std::mt19937_64& random, double delta) {
    const double strength = std::uniform_real_distribution<>(0.02, 0.3)(random);
    switch (random() % 4) {
        case 0:
            return Release(Event::Laplace(strength, 1), delta);
        case 1:
            return Release(Event::Gaussian(1 / strength, 5, 0.2), delta);
        default:
            return Release(Event::Gdp(strength, 1), delta);
    }
}

BudgetSpent Counted(const std::vector<std::vector<Cost>>& tables, int joined, uint32_t order) {
    Spent sum;
    for (int table = 0; table < joined; ++table)
        for (const Cost& cost : tables[table])
            sum.Add(cost);
    sum.gaussian_first |= sum.releases > 0;
    return sum.At(order);
}

// Recounts without Spent: what all releases together are certified for, by the split of case (c).
bool IsWithin(const std::vector<std::vector<Cost>>& tables, int joined, const Budget& cap) {
    double mu_squared = 0;
    double rho = 0;
    bool gaussian = true;
    int releases = 0;
    double single = 0;
    for (int table = 0; table < joined; ++table) {
        for (const Cost& cost : tables[table]) {
            rho += cost.curve.At(cap.order());
            gaussian &= IsGaussianFullBatch(cost.events);
            mu_squared += gaussian ? cost.events[0].parameter * cost.events[0].parameter : 0;
            single = cost.epsilon;
            ++releases;
        }
    }
    if (releases <= 1 && single <= cap.epsilon())
        return true;  // by its own proof, here of Renyi's; a Gaussian one may need the filter's, which is tighter
    const bool by_mu =
        gaussian && GdpEpsilon(std::sqrt(mu_squared), 0.8 * cap.delta()) <= cap.epsilon() * (1 + 1e-9);
    const bool by_rho = RdpToEpsilon(cap.order(), rho, 0.2 * cap.delta()) <= cap.epsilon() * (1 + 1e-9);
    return by_mu || by_rho;
}

TEST(Population, NeverLetsThroughWhatGoesOverItsCap) {
    std::mt19937_64 random(20261117);
    int trained = 0;
    int refused = 0;
    std::vector<Cost> releases;  // a sampled one's curve takes milliseconds
    for (int i = 0; i < 200; ++i)
        releases.push_back(AnyRelease(random, 1e-6));
    for (int history = 0; history < 300; ++history) {
        const double delta = 1e-6;
        Budget cap(std::uniform_real_distribution<>(0.3, 2.0)(random), delta);
        std::vector<std::vector<Cost>> tables(4);
        int joined = 1 + random() % 2;
        for (int step = 0; step < 60; ++step) {
            if (random() % 20 == 0 && joined < 4)
                ++joined;
            const int table = random() % 4;
            const Cost& cost = releases[random() % releases.size()];
            const bool belongs = table < joined;
            // A table that is its own population is let through: it brings all that when it joins.
            if (belongs && !cap.WithSpent(Counted(tables, joined, cap.order())).Fits(cost)) {
                ++refused;
                continue;
            }
            tables[table].push_back(cost);
            if (belongs) {
                ++trained;
                ASSERT_TRUE(IsWithin(tables, joined, cap)) << "history " << history << ", step " << step;
            }
        }
    }
    EXPECT_GT(trained, 1000);
    EXPECT_GT(refused, 1000);
}

// Why case (c) always: counted by what came first, a population of Gaussian tables would be held to one sum when a table
// with an older release of other noise joins, and to another one before.
TEST(Population, CountsAlikeInWhateverOrderTablesJoin) {
    const Cost laplace = Release(Event::Laplace(0.1, 1), 1e-6);
    const Cost gaussian = Release(Event::Gdp(0.1, 1), 1e-6);
    const Budget cap(1, 1e-6);
    const BudgetSpent one = Counted({{laplace}, {gaussian}}, 2, cap.order());
    const BudgetSpent other = Counted({{gaussian}, {laplace}}, 2, cap.order());
    EXPECT_TRUE(one == other);
    EXPECT_EQ(cap.WithSpent(one).Room(false).rho, cap.WithSpent(other).Room(false).rho);
}

}  // namespace
}  // namespace dpboost
