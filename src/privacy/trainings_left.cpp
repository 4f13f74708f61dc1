#include "privacy/trainings_left.h"

#include <algorithm>
#include <cmath>

#include "privacy/accountant/gdp.h"
#include "privacy/spent.h"

namespace dpboost {
namespace {

// What a budget holds after so many, all at once: its filters are sums.
Budget After(const Budget& budget, const Cost& cost, int count) {
    BudgetSpent spent = budget.spent();
    const double before = spent.mu_squared;
    spent.Add(cost, budget.order());
    spent.rho += (count - 1) * cost.curve.At(budget.order());
    if (std::isfinite(spent.mu_squared))
        spent.mu_squared += (count - 1) * (spent.mu_squared - before);
    spent.releases += count - 1;
    return budget.WithSpent(spent);
}

}  // namespace

Cost TrainingCost(double epsilon, double delta) {
    Cost cost;
    cost.epsilon = epsilon;
    cost.delta = delta;
    cost.events = {delta > 0 ? Event::Gdp(GdpMu(epsilon, delta), 1) : Event::Pure(epsilon, 1)};
    cost.curve = EventsCurve(cost.events);
    return cost;
}

int TrainingsLeft(const Budget& budget, double epsilon, double delta, int most) {
    return TrainingsLeft(budget, TrainingCost(epsilon, delta), most);
}

int TrainingsLeft(const Budget& budget, const Cost& cost, int most) {
    if (budget.spent().by_unit)
        return budget.Fits(cost) ? most : 0;
    // Nearly all by division, the last ones as a charge would look at them.
    constexpr double kLast = 8;
    const BudgetRoom room = budget.Room(cost.delta > 0);
    const double mu_squared = cost.delta > 0 ? GaussianMuSquared(cost.events) : 1;
    const double about = std::max(room.rho / cost.curve.At(budget.order()), room.mu_squared / mu_squared);
    int count = static_cast<int>(std::clamp(about * (1 - 1e-9) - kLast, 0.0, static_cast<double>(most)));
    Budget left = count > 0 ? After(budget, cost, count) : budget;
    for (; count < most && left.Fits(cost); ++count)
        left.Spend(cost);
    return count;
}

}  // namespace dpboost
