// The search for the least noise. One number, what the mechanisms on the rest get in mu^2, is varied until
// the tightest proof that applies just holds; the events that are returned are the ones it was proven for.
#include "privacy/accountant/calibrate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/numeric.h"
#include "privacy/accountant/pld.h"
#include "privacy/accountant/rdp.h"

namespace dpboost {
namespace {

constexpr double kLargestPldEpsilon = 100;

void CheckDemand(const Demand& demand) {
    CheckEvent(Event{demand.kind, 1, demand.sampling_rate, demand.count, demand.filtered});
    const bool has_share = demand.share > 0 && demand.share <= 1 && demand.rest == 0;
    const bool has_rest = demand.rest > 0 && std::isfinite(demand.rest) && demand.share == 0;
    if (!has_share && !has_rest)
        throw Error(
            ErrorCode::kInvalidParameter,
            "a mechanism needs either a share of the budget above 0 and at most 1, or a part of the rest");
}

// The demands as a function of one number: what the rest gets, as mu^2.
class Allocation {
  public:
    Allocation(const std::vector<Demand>& demands, double mu_squared) : demands_(demands) {
        double rest = 0;
        for (const Demand& demand : demands) {
            rest += demand.rest;
            fixed_ += demand.share;
        }
        if (rest > 0) {
            if (!(fixed_ < 1))
                throw Error(ErrorCode::kInvalidParameter,
                            "the shares of the privacy budget leave nothing for the rest",
                            "The fixed shares sum to 1 or more.");
            for (const Demand& demand : demands) {
                weights_.push_back(demand.rest / rest);
                fixed_mu_squared_.push_back(demand.share * mu_squared);
            }
        } else {
            for (const Demand& demand : demands) {
                weights_.push_back(demand.share / fixed_);
                fixed_mu_squared_.push_back(0);
            }
            fixed_ = 0;
        }
    }

    // What the fixed shares leave, as a fraction.
    double free() const { return 1 - fixed_; }

    std::vector<Event> Events(double rest_mu_squared) const {
        std::vector<Event> events;
        for (std::size_t i = 0; i < demands_.size(); ++i) {
            const Demand& demand = demands_[i];
            const double mu_squared = fixed_mu_squared_[i] + weights_[i] * rest_mu_squared;
            events.push_back(
                Event{demand.kind,
                      KindOf(demand.kind)
                          .parameter_of(demand.sampling_rate, mu_squared / static_cast<double>(demand.count)),
                      demand.sampling_rate, demand.count, demand.filtered});
        }
        return events;
    }

    // delta = 0: the budget is epsilon itself.
    std::vector<Event> PureEvents(double epsilon) const {
        std::vector<Event> events;
        for (std::size_t i = 0; i < demands_.size(); ++i) {
            const Demand& demand = demands_[i];
            const double part = fixed_ > 0 && demand.share > 0 ? demand.share : weights_[i] * free();
            const double per_use = part * epsilon / static_cast<double>(demand.count);
            events.push_back(Event{demand.kind, per_use * (1 - 1e-14), 1, demand.count, false});
        }
        return events;
    }

  private:
    const std::vector<Demand>& demands_;
    std::vector<double> weights_;
    std::vector<double> fixed_mu_squared_;
    double fixed_ = 0;
};

using Excess = std::function<double(double noise)>;  // decreasing; noise = 1/sqrt(mu^2 of the rest)

struct Bracket {
    double low, f_low, high, f_high;
};

Bracket FindBracket(const Excess& excess, double start) {
    Bracket b{start, excess(start), 0, 0};
    b.high = b.low;
    b.f_high = b.f_low;
    double factor = 1.1;
    while (b.f_low <= 0) {
        b.high = b.low;
        b.f_high = b.f_low;
        b.low /= factor;
        if (!(b.low > 1e-9 * start))
            throw Error(ErrorCode::kInvalidParameter,
                        "the privacy budget is too large to calibrate noise for");
        b.f_low = excess(b.low);
        factor *= factor;
    }
    factor = 1.1;
    while (b.f_high > 0) {
        b.low = b.high;
        b.f_low = b.f_high;
        b.high *= factor;
        if (!(b.high < 1e6 * start))
            throw Error(ErrorCode::kInvalidParameter,
                        "the fixed shares of the privacy budget already exceed it",
                        "No amount of noise on the rest keeps the total within epsilon.",
                        "Lower the shares of the other mechanisms.");
        b.f_high = excess(b.high);
        factor *= factor;
    }
    return b;
}

// Privacy loss distributions: a coarse grid finds the noise to a thousandth; from there secant steps on the
// fine grid (log delta is nearly linear in log noise) need two or three evaluations. The last one is the
// proof.
double SolveByPld(const Allocation& allocation, double epsilon, double delta, double start) {
    auto excess = [&](double noise, double relative_error) {
        const double value = PldDeltaNear(allocation.Events(1 / (noise * noise)), epsilon, delta,
                                          PldPrecision{relative_error});
        return std::log(std::max(value, 1e-300) / delta);
    };
    const double coarse = 2e-3;
    const Bracket b = FindBracket([&](double noise) { return excess(noise, coarse); }, start);
    double noise = SolveDecreasing([&](double x) { return excess(x, coarse); }, b.low, b.f_low, b.high,
                                   b.f_high, 1e-4, 0.01);
    double slope = (excess(noise * 1.004, coarse) - excess(noise * 0.996, coarse)) / 0.008;
    const double fine = PldPrecision().relative_error;
    double value = excess(noise, fine);
    for (int step = 0; step < 30; ++step) {
        if (!(slope < -1e-3))
            slope = -1;
        if (value <= 0 && value >= 2e-6 * slope)
            return noise;
        // Aims a millionth beyond the root, so that the next point is on the safe side.
        const double move = std::min(0.3, std::max(-0.3, -value / slope)) + 1e-6;
        const double next = noise * std::exp(move);
        const double next_value = excess(next, fine);
        if (std::fabs(move) > 1e-5 && std::fabs(next_value - value) > 1e-9)
            slope = (next_value - value) / move;
        if (next_value <= 0 && step >= 4)
            return next;
        noise = next;
        value = next_value;
    }
    throw Error(ErrorCode::kInternal, "calibration of the noise did not converge");
}

// Renyi: at a fixed order everything is cheap, so the noise is solved there, and the order is improved after.
double SolveByRdp(const Allocation& allocation, double epsilon, double delta, double start) {
    auto events = [&](double noise) { return allocation.Events(1 / (noise * noise)); };
    auto at_order = [&](uint32_t order) {
        const Excess excess = [&, order](double noise) {
            return RdpToEpsilon(order, EventsRdp(events(noise), order), delta) - epsilon;
        };
        // The order must be able to certify epsilon at all: with no noise cost left, Cor 6 still costs this.
        const Bracket b = FindBracket(excess, start);
        return SolveDecreasing(excess, b.low, b.f_low, b.high, b.f_high, 1e-9);
    };
    uint32_t order = 0;
    double best_mu = 0;
    for (uint32_t candidate : kOrders) {
        const double mu_squared = 2 * EpsilonToRdp(candidate, epsilon, delta) / candidate;
        if (mu_squared > best_mu) {
            best_mu = mu_squared;
            order = candidate;
        }
    }
    if (order == 0)
        throw Error(ErrorCode::kInvalidParameter, "epsilon is too small to be proven by Renyi divergence");
    double noise = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 6; ++round) {
        double solved;
        try {
            solved = at_order(order);
        } catch (const Error&) {
            if (std::isfinite(noise))
                break;
            throw;
        }
        if (solved >= noise * (1 - 1e-7))
            break;
        noise = solved;
        start = solved;
        const RdpEpsilon best = EventsRdpEpsilon(events(noise), delta);
        if (best.order == order || best.order == kInfiniteOrder)
            break;
        order = best.order;
    }
    return noise;
}

}  // namespace

Calibration Calibrate(const std::vector<Demand>& demands, double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    if (demands.empty())
        throw Error(ErrorCode::kInvalidParameter, "a plan needs at least one mechanism");
    bool gaussian = false;
    bool full_batch_gaussian = true;
    bool filtered = false;
    bool by_rdp_too = false;
    for (const Demand& demand : demands) {
        CheckDemand(demand);
        const MechanismKind& kind = KindOf(demand.kind);
        gaussian |= kind.Has(kIsGaussian);
        full_batch_gaussian &= kind.Has(kIsGaussian) && demand.sampling_rate == 1 && !demand.filtered;
        filtered |= demand.filtered;
        by_rdp_too |= kind.Has(kSharperByRdp);
    }
    if (delta == 0) {
        if (gaussian)
            throw Error(ErrorCode::kUnsupported, "Gaussian noise needs a delta above 0", "",
                        "Give a delta such as 1e-6, or choose a method with Laplace noise.");
        return {Allocation(demands, epsilon).PureEvents(epsilon), CalibratedBy::kPure};
    }
    const double mu = GdpMu(epsilon, delta);
    const Allocation allocation(demands, mu * mu);
    const double start = 1 / (mu * std::sqrt(allocation.free()));
    if (full_batch_gaussian)
        return {allocation.Events((1 - 1e-14) / (start * start)), CalibratedBy::kGdp};

    double noise = std::numeric_limits<double>::infinity();
    CalibratedBy by = CalibratedBy::kRdp;
    if (!filtered && epsilon <= kLargestPldEpsilon) {
        noise = SolveByPld(allocation, epsilon, delta, start);
        by = CalibratedBy::kPld;
    }
    if (by != CalibratedBy::kPld || by_rdp_too) {
        // The exponential mechanism's dominating pair is a supremum over randomized responses; its Renyi
        // divergence is taken before the supremum and can be the tighter proof.
        double by_rdp = noise;
        try {
            by_rdp = SolveByRdp(allocation, epsilon, delta, start);
        } catch (const Error&) {  // no order can certify so small an epsilon; the other proof stands
            if (by != CalibratedBy::kPld)
                throw;
        }
        if (by_rdp < noise) {
            noise = by_rdp;
            by = CalibratedBy::kRdp;
        }
    }
    return {allocation.Events(1 / (noise * noise)), by};
}

double ProvenEpsilon(const std::vector<Event>& events, double delta, CalibratedBy* by) {
    CheckEvents(events);
    CalibratedBy ignored;
    if (by == nullptr)
        by = &ignored;
    *by = CalibratedBy::kPure;
    double best = PureEpsilon(events) * (1 + 1e-14);
    auto improve = [&](double epsilon, CalibratedBy proof) {
        if (epsilon < best) {
            best = epsilon;
            *by = proof;
        }
    };
    if (delta == 0 || events.empty())
        return best;
    if (IsGaussianFullBatch(events)) {
        double mu_squared = 0;
        for (const Event& event : events)
            mu_squared += EffectiveMuSquared(event);
        improve(GdpEpsilon(std::sqrt(mu_squared), delta), CalibratedBy::kGdp);
        return best;
    }
    bool by_rdp_too = false;
    for (const Event& event : events)
        by_rdp_too |= KindOf(event).Has(kSharperByRdp);
    if (PldApplies(events))
        improve(PldEpsilon(events, delta), CalibratedBy::kPld);
    if (by_rdp_too || !PldApplies(events) || !(best < kLargestPldEpsilon))
        improve(EventsRdpEpsilon(events, delta).epsilon, CalibratedBy::kRdp);
    return best;
}

}  // namespace dpboost
