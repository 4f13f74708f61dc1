// The filters of a limit, and what they leave in terms of epsilon. The proof is in the header.
#include "privacy/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/numeric.h"

namespace dpboost {
namespace {

// Case (c): how delta is divided between the two filters.
constexpr double kGaussianDelta = 0.8;
constexpr double kRenyiDelta = 0.2;
// What sizes of accounts may tell about a person is part of its limit (training/units/unit_rooms.h); releases get the rest.
constexpr double kRoomsShare = 0.01;
// Taken off what is left, so that noise calibrated to fit fits in spite of rounding.
constexpr double kSlack = 1e-12;
// Where the search for a limit begins that would have held what cost nothing.
constexpr double kLeastEpsilon = 1e-9;

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

// The order at which a Gaussian-like total may have the largest mu for this epsilon and delta; 0: none certifies it.
uint32_t FindBestOrder(double epsilon, double delta) {
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
    return best;
}

// The next epsilon above which another order is the best. What an order allows is linear in epsilon, so the best are an
// envelope of lines (order 0: nothing), and a line is left where one that is steeper crosses it.
double NextChange(double epsilon, uint32_t order, double delta) {
    auto offset = [&](uint32_t of) { return 1 - EpsilonToRdp(of, 1, delta); };
    double next = std::numeric_limits<double>::infinity();
    for (uint32_t other : kOrders) {
        if (order != 0 && other >= order)
            continue;
        const double slope = 1.0 / other - (order == 0 ? 0 : 1.0 / order);
        const double crossing = (offset(other) / other - (order == 0 ? 0 : offset(order) / order)) / slope;
        if (crossing > epsilon)
            next = std::min(next, crossing);
    }
    return next;
}

uint32_t BestOrder(double epsilon, double delta) {
    const uint32_t best = FindBestOrder(epsilon, delta);
    if (best == 0)
        throw Error(ErrorCode::kInvalidParameter, "epsilon is too small for a budget at this delta",
                    "No Renyi order up to 8192 can certify it.", "Raise epsilon or delta.");
    return best;
}

double Left(double limit, double spent) {
    return spent == 0 ? std::max(0.0, limit) : std::max(0.0, limit * (1 - kSlack) - spent);
}

// Of a limit of which nothing is spent but what is for sizes, a release may ask for all: its noise has to fit, no more.
double Worth(double rho, const BudgetSpent& spent) {
    return spent.by_unit ? rho / (1 - kRoomsShare) : rho;
}

}  // namespace

Budget::Budget(double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    *this = Restore(epsilon, delta, BestOrder(epsilon, delta), {});
}

Budget Budget::Restore(double epsilon, double delta, uint32_t order, const BudgetSpent& spent) {
    CheckEpsilonDelta(epsilon, delta);
    RdpCurve().At(order);  // throws if it is not an order of ours
    Budget budget;
    budget.epsilon_ = epsilon;
    budget.delta_ = delta;
    budget.order_ = order;
    if (delta > 0) {
        const double mu = GdpMu(epsilon, kGaussianDelta * delta);
        budget.limit_mu_squared_ = mu * mu * (1 - 1e-15);
    }
    return budget.WithSpent(spent);
}

Budget Budget::WithSpent(const BudgetSpent& spent) const {
    if (!(spent.releases >= 0 && spent.rho >= 0 && spent.mu_squared >= 0))
        throw Error(ErrorCode::kInvalidParameter, "spent privacy must not be negative");
    Budget budget = *this;
    budget.spent_ = spent;
    return budget;
}

double Budget::LimitRho(bool gaussian_first) const {
    const double rho = EpsilonToRdp(order_, epsilon_, gaussian_first ? kRenyiDelta * delta_ : delta_);
    return spent_.by_unit ? rho * (1 - kRoomsShare) : rho;
}

bool Budget::TakesAlone(double epsilon, double delta) const {
    return spent_.releases == 0 && epsilon <= epsilon_ && delta <= delta_;
}

bool Budget::Fits(const Cost& cost) const {
    if (TakesAlone(cost.epsilon, cost.delta))
        return true;
    if (spent_.by_unit)
        return cost.curve.At(order_) <= LimitRho(false);
    BudgetSpent after = spent_;
    after.Add(cost, order_);
    return after.mu_squared <= limit_mu_squared_ || after.rho <= LimitRho(after.gaussian_first);
}

void Budget::Spend(const Cost& cost, const std::string& name) {
    if (!Fits(cost)) {
        const std::string whose = name.empty() ? "privacy budget" : "privacy budget of " + name;
        throw Error(ErrorCode::kBudgetExhausted, whose + " is exhausted");
    }
    spent_.Add(cost, order_);
}

BudgetRoom Budget::Room(bool gaussian) const {
    const bool gaussian_first = spent_.releases == 0 ? gaussian : spent_.gaussian_first;
    return {Left(LimitRho(gaussian_first), spent_.rho),
            gaussian ? Left(limit_mu_squared_, spent_.mu_squared) : 0};
}

double Budget::RoomEpsilon(bool gaussian, double delta) const {
    const BudgetRoom room = Room(gaussian);
    double epsilon = EpsilonOfRho(order_, Worth(room.rho, spent_), delta);
    if (room.mu_squared > 0 && delta > 0)
        epsilon = std::max(epsilon, GdpEpsilon(std::sqrt(room.mu_squared), delta) * (1 - 1e-11));
    return TakesAlone(epsilon, delta) ? epsilon_ : epsilon;
}

BudgetRemaining Budget::Remaining() const {
    if (spent_.releases == 0)
        return {1, epsilon_};
    const BudgetRoom room = Room(true);
    BudgetRemaining remaining{0, 0};
    if (room.mu_squared > 0) {  // with less of delta, the order of a Gaussian ledger always leaves less
        const double above = GdpEpsilonAbove(std::sqrt(room.mu_squared), delta_);
        remaining = {room.mu_squared / limit_mu_squared_, above * (1 - 1e-11) - 1e-12};
    } else if (room.rho > 0) {
        remaining = {room.rho / LimitRho(spent_.gaussian_first),
                     EpsilonOfRho(order_, Worth(room.rho, spent_), delta_)};
    }
    remaining.epsilon = std::max(0.0, std::min(epsilon_, remaining.epsilon));
    return remaining;
}

BudgetConstraint Budget::Constraint(std::string name) const {
    return {*this, std::move(name)};
}

double AdaptiveEpsilon(const Spent& spent, double delta) {
    if (spent.releases <= 1 || delta == 0)
        return ComposedEpsilon(spent, delta);
    if (spent.IsGaussian())
        return GdpEpsilonAbove(std::sqrt(spent.mu_squared), kGaussianDelta * delta);
    const double certified = spent.gaussian_first ? kRenyiDelta * delta : delta;
    double epsilon = std::max(CurveToEpsilon(spent.curve, certified).epsilon, kLeastEpsilon);
    while (std::isfinite(epsilon)) {
        const uint32_t order = FindBestOrder(epsilon, delta);
        const double needed = order == 0 ? std::numeric_limits<double>::infinity()
                                         : RdpToEpsilon(order, spent.curve.At(order), certified);
        if (needed <= epsilon)
            break;
        epsilon = std::min(needed, NextChange(epsilon, order, delta)) * (1 + kSlack);
    }
    return epsilon;
}

}  // namespace dpboost
