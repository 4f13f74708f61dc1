#include "privacy/budget_factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/numeric.h"

namespace dpboost {

// More noise everywhere, by one factor.
std::vector<Event> Scaled(std::vector<Event> events, double factor) {
    for (Event& event : events)
        event.parameter =
            KindOf(event).Has(kParameterIsNoise) ? event.parameter * factor : event.parameter / factor;
    return events;
}

namespace {

// A rest that nobody can train with.
constexpr double kNothingLeft = 1e-3;
// By how much an epsilon may be above what is left: what is taken off for rounding is no reason to refuse (kSlack in budget.cpp).
constexpr double kForgiven = 1e-9;

[[noreturn]] void ThrowExhausted(const PlanRequest& request, const BudgetConstraint& constraint,
                                 double left) {
    const std::string name = constraint.name.empty() ? "" : " of " + constraint.name;
    if (constraint.budget.order() == kInfiniteOrder && request.delta > 0)
        throw Error(ErrorCode::kBudgetExhausted,
                    "privacy budget" + name + " allows only pure differential privacy",
                    "The budget has delta 0, and the training was asked for with delta " +
                        Printed(request.delta) + ".",
                    "Choose a method with delta 0, or ask the table's owner for a budget with a delta.");
    if (left < kNothingLeft)
        throw Error(
            ErrorCode::kBudgetExhausted, "privacy budget" + name + " is exhausted",
            "The training needs epsilon " + Printed(request.epsilon) + ", and less than 0.001 is left.",
            "Ask the table's owner to raise the limit.");
    throw Error(ErrorCode::kBudgetExhausted,
                "privacy budget" + name + " does not allow epsilon " + Printed(request.epsilon),
                "Epsilon " + Printed(left) + " is left at delta " + Printed(request.delta) + ".",
                "Ask for at most " + Printed(left) + ", or ask the table's owner to raise the limit.");
}

// The least factor by which all noise must grow until rho at the order is within what is left.
double RenyiFactor(const std::vector<Event>& events, uint32_t order, double left) {
    auto excess = [&](double x) { return EventsRdp(Scaled(events, x), order) - left; };
    double low = 1;
    double f_low = excess(low);
    if (f_low <= 0)
        return 1;
    if (!(left > 0) || !std::isfinite(f_low))
        return std::numeric_limits<double>::infinity();
    double high = low;
    double f_high = f_low;
    while (f_high > 0) {
        low = high;
        f_low = f_high;
        high *= 1.25;
        f_high = excess(high);
        CheckInternal(high < 1e9, "no noise satisfies the privacy budget");
    }
    return SolveDecreasing(excess, low, f_low, high, f_high, 1e-9);
}

// Infinite: no noise is enough, or so much that the remainder is worth less than the epsilon asked for.
double FactorOf(const PlanRequest& request, const std::vector<Event>& events, const Budget& budget) {
    if (budget.TakesAlone(request.epsilon, request.delta))
        return 1;
    const double mu_squared = GaussianMuSquared(events);
    const bool gaussian = std::isfinite(mu_squared);
    const BudgetRoom room = budget.Room(gaussian);
    double factor = std::numeric_limits<double>::infinity();
    if (room.mu_squared > 0)
        factor = mu_squared <= room.mu_squared ? 1 : std::sqrt(mu_squared / room.mu_squared) * (1 + 1e-14);
    if (factor > 1)
        factor = std::min(factor, RenyiFactor(events, budget.order(), room.rho));
    const bool granted =
        factor == 1 || request.epsilon <= budget.RoomEpsilon(gaussian, request.delta) * (1 + kForgiven);
    return granted ? factor : std::numeric_limits<double>::infinity();
}

}  // namespace

NeededNoise BudgetFactor(const PlanRequest& request, const std::vector<Event>& events) {
    const bool gaussian = std::isfinite(GaussianMuSquared(events));
    NeededNoise needed;
    const BudgetConstraint* tightest = nullptr;
    double least = 0;
    for (const BudgetConstraint& constraint : request.budgets) {
        const double factor = FactorOf(request, events, constraint.budget);
        if (factor > needed.factor)
            needed = {factor, &constraint};
        if (std::isfinite(factor))
            continue;
        const double left = GrantedEpsilon(constraint.budget, gaussian, request.delta);
        if (tightest == nullptr || left < least) {
            tightest = &constraint;
            least = left;
        }
    }
    if (tightest != nullptr)
        ThrowExhausted(request, *tightest, least);
    return needed;
}

double GrantedEpsilon(const Budget& budget, bool gaussian, double delta) {
    if (budget.order() == kInfiniteOrder && delta > 0)
        return 0;
    return RoundedDown(budget.RoomEpsilon(gaussian, delta) * (1 + kForgiven));
}

}  // namespace dpboost
