// Budgets as Renyi filters at one order, and what their remainder is worth in epsilon.
#include "privacy/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/numeric.h"

namespace dpboost {
namespace {

// What floating-point addition of up to 1e7 charges may lose, relatively; taken off what is left.
constexpr double kSlack = 1e-9;
// A view must not take seconds: with more different events than this, totals are shown by their curve.
constexpr std::size_t kMaxDistinctEvents = 64;

// [SBDT] Cor 6 for a Gaussian-like total, rho(alpha) = alpha mu^2 / 2, at the best of the 64 orders.
double GaussianEpsilon(double mu_squared, double delta) {
    double best = std::numeric_limits<double>::infinity();
    for (uint32_t order : kOrders)
        best = std::min(best, RdpToEpsilon(order, 0.5 * order * mu_squared, delta));
    return best;
}

// The epsilon at delta of a Gaussian-like training that has rho at the order: what a remainder is worth. Not a
// bound for what was spent, since a sampled Gaussian may have far more at the other orders.
double EpsilonOfRho(uint32_t order, double rho, double delta) {
    if (!(rho > 0))
        return 0;
    if (order == kInfiniteOrder)
        return rho;
    if (delta > 0)
        return GaussianEpsilon(2 * rho / order, delta);
    // The pure epsilon that has at most rho at this order; at least rho itself, since PureRdp(e) <= e.
    auto excess = [&](double inverse) { return PureRdp(order, 1 / inverse) - rho; };
    const double low = 1 / (rho + std::sqrt(8 * rho) + 8);
    const double high = 1 / rho;
    if (excess(low) <= 0)
        return 1 / low;
    if (excess(high) > 0)
        return rho;
    return 1 / SolveDecreasing(excess, low, excess(low), high, excess(high), 1e-9);
}

// The order at which a Gaussian-like total may have the largest mu for this epsilon and delta.
uint32_t BestOrder(double epsilon, double delta) {
    if (delta == 0)
        return kInfiniteOrder;
    uint32_t best = 0;
    double best_slope = 0;
    for (uint32_t order : kOrders) {
        const double slope = EpsilonToRdp(order, epsilon, delta) / order;
        if (slope > best_slope) {
            best = order;
            best_slope = slope;
        }
    }
    if (best == 0)
        throw Error(ErrorCode::kInvalidParameter, "epsilon is too small for a budget at this delta",
                    "No Renyi order up to 8192 can certify it.", "Raise epsilon or delta.");
    return best;
}

}  // namespace

Budget::Budget(double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    epsilon_ = epsilon;
    delta_ = delta;
    order_ = BestOrder(epsilon, delta);
    limit_rho_ = EpsilonToRdp(order_, epsilon, delta);
}

Budget Budget::Restore(double epsilon, double delta, uint32_t order, double spent_rho) {
    CheckEpsilonDelta(epsilon, delta);
    RdpCurve().At(order);  // throws if it is not an order of ours
    if (!(spent_rho >= 0))
        throw Error(ErrorCode::kInvalidParameter, "spent privacy must not be negative");
    Budget budget;
    budget.epsilon_ = epsilon;
    budget.delta_ = delta;
    budget.order_ = order;
    budget.limit_rho_ = EpsilonToRdp(order, epsilon, delta);
    budget.spent_rho_ = spent_rho;
    return budget;
}

// [FZ21] Thm 4.3 and [LECUYER21]: stopping before the sum of adaptively chosen Renyi divergences at
// one order exceeds limit_rho keeps the whole sequence (order, limit_rho)-RDP, which Cor 6 turns into
// (epsilon, delta).
bool Budget::Fits(const RdpCurve& curve) const {
    return (spent_rho_ + curve.At(order_)) * (1 + kSlack) <= limit_rho_ ||
           (spent_rho_ == 0 && curve.At(order_) <= limit_rho_);
}

void Budget::Spend(const RdpCurve& curve, const std::string& name) {
    if (!Fits(curve)) {
        const std::string whose = name.empty() ? "privacy budget" : "privacy budget of " + name;
        throw Error(ErrorCode::kBudgetExhausted, whose + " is exhausted");
    }
    spent_rho_ += curve.At(order_);
}

double Budget::SpentEpsilon() const {
    return spent_rho_ > 0 ? RdpToEpsilon(order_, spent_rho_, delta_) : 0;
}

BudgetRemaining Budget::Remaining() const {
    if (spent_rho_ == 0 && limit_rho_ > 0)
        return {1, epsilon_};
    const BudgetConstraint left = Constraint({});
    if (!(left.remaining_rho > 0))
        return {0, 0};
    return {left.remaining_rho / limit_rho_, std::min(epsilon_, RemainingEpsilon(left, delta_))};
}

BudgetConstraint Budget::Constraint(std::string name) const {
    double left = limit_rho_ - spent_rho_;
    if (spent_rho_ > 0)
        left = std::max(0.0, limit_rho_ / (1 + 2 * kSlack) - spent_rho_);
    return {order_, std::max(0.0, left), std::move(name)};
}

double RemainingEpsilon(const BudgetConstraint& constraint, double delta) {
    return EpsilonOfRho(constraint.order, constraint.remaining_rho, delta);
}

double ComposedEpsilon(const std::vector<Cost>& releases, double delta) {
    if (releases.empty())
        return 0;
    std::vector<Event> events;
    RdpCurve curve;
    for (const Cost& release : releases) {
        curve += release.curve;
        events.insert(events.end(), release.events.begin(), release.events.end());
    }
    const double by_curve = CurveToEpsilon(curve, delta).epsilon;
    std::vector<Event> distinct;
    for (const Event& event : events) {
        auto same = [&](const Event& other) {
            return event.kind == other.kind && event.parameter == other.parameter &&
                   event.sampling_rate == other.sampling_rate;
        };
        const bool gaussian = event.kind == EventKind::kGaussian && event.sampling_rate == 1;
        if (!gaussian && distinct.size() <= kMaxDistinctEvents &&
            std::none_of(distinct.begin(), distinct.end(), same))
            distinct.push_back(event);
    }
    if (delta == 0 || !PldApplies(events) || distinct.size() > kMaxDistinctEvents)
        return by_curve;
    return std::min(by_curve, ProvenEpsilon(events, delta));
}

}  // namespace dpboost
