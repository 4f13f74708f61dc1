// A privacy budget: an (epsilon, delta) limit that is kept as a Renyi filter at one order, fixed when the
// budget is created. That is sound when the analyst chooses each training after seeing the results of the
// last. Every figure is rounded against the spender.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "privacy/accountant/rdp.h"
#include "privacy/cost.h"

namespace dpboost {

// What a budget allows one more training: rho(order) <= remaining.
struct BudgetConstraint {
    uint32_t order = 0;
    double remaining_rho = 0;
    std::string name;  // for messages: `role "ana" on table "visits"` or `table "visits"`
};

// What is left, for people.
struct BudgetRemaining {
    double share;    // of the Renyi budget, 0 .. 1
    double epsilon;  // a training that asks for at most this (at delta) will be granted
};

class Budget {
  public:
    // A fresh budget. The order is the one at which a Gaussian-like total uses (epsilon, delta) best;
    // delta = 0 makes a budget of pure epsilon-DP (order infinity), which no Gaussian fits.
    Budget(double epsilon, double delta);
    // A stored one: the order as fixed at creation, and what was spent at that order (BudgetSpent).
    static Budget Restore(double epsilon, double delta, uint32_t order, double spent_rho);

    double epsilon() const { return epsilon_; }
    double delta() const { return delta_; }
    uint32_t order() const { return order_; }
    double limit_rho() const { return limit_rho_; }
    double spent_rho() const { return spent_rho_; }

    // Whether a release fits into what is left.
    bool Fits(const RdpCurve& curve) const;
    // Charges it, or throws kBudgetExhausted and charges nothing. `name` as in BudgetConstraint.
    void Spend(const RdpCurve& curve, const std::string& name = {});

    // What was spent, as the epsilon at the budget's delta that its order alone proves ([SBDT] Cor 6).
    double SpentEpsilon() const;
    BudgetRemaining Remaining() const;
    BudgetConstraint Constraint(std::string name) const;

  private:
    Budget() = default;

    double epsilon_ = 0;
    double delta_ = 0;
    uint32_t order_ = 0;
    double limit_rho_ = 0;
    double spent_rho_ = 0;
};

// The epsilon at delta that a budget's remainder is worth: a Gaussian training of at most this fits.
double RemainingEpsilon(const BudgetConstraint& constraint, double delta);

// For display: the epsilon of all releases together at delta, by PLD where all of them allow it and at most
// 64 different events are among them (milliseconds for each), else by the best order of their summed curves.
// No check may rest on it, because it presumes that trainings were not chosen by looking at earlier results.
double ComposedEpsilon(const std::vector<Cost>& releases, double delta);

}  // namespace dpboost
