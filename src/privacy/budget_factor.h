// How much more noise than its own epsilon calls for a plan needs, so that budgets let it through.
#pragma once

#include <vector>

#include "privacy/plan.h"

namespace dpboost {

// More noise everywhere, by one factor.
std::vector<Event> Scaled(std::vector<Event> events, double factor);

// The least factor by which all noise must grow for all budgets, by whichever of a budget's filters needs less, and the
// budget that needs most; 1 and none if the events fit as they are. Throws kBudgetExhausted if there is a budget whose remainder is
// worth less than the epsilon asked for, and into which the events do not fit; if there are several, about the one that leaves
// least, so that who asks for that is not refused again.
struct NeededNoise {
    double factor = 1;
    const BudgetConstraint* by = nullptr;
};
NeededNoise BudgetFactor(const PlanRequest& request, const std::vector<Event>& events);

// The largest epsilon of six digits that the budget would grant.
double GrantedEpsilon(const Budget& budget, bool gaussian, double delta);

}  // namespace dpboost
