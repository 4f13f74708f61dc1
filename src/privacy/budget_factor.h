// How much more noise than its own epsilon calls for a plan needs, so that a budget lets it through. Internal to plan.cpp.
#pragma once

#include <vector>

#include "privacy/plan.h"

namespace dpboost {

// More noise everywhere, by one factor.
std::vector<Event> Scaled(std::vector<Event> events, double factor);

// The least factor by which all noise must grow for one budget, by whichever of its filters needs less; 1 if
// the events fit as they are. A budget whose remainder is worth less than the epsilon asked for (and into
// which the events do not fit) refuses: throws kBudgetExhausted.
double BudgetFactor(const PlanRequest& request, const std::vector<Event>& events,
                    const BudgetConstraint& constraint);

}  // namespace dpboost
