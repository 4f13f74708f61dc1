#include "privacy/filter/unit_filter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "privacy/accountant/gdp.h"

namespace dpboost {
namespace {

using Wide = unsigned __int128;

// Of a limit of pure privacy, which no Gaussian noise has: what sizes tell is that but for this chance.
constexpr double kRoomsDelta = 1e-12;

// ceil(rho / whole 2^bits), also over the rounding of the quotient.
uint64_t CeilPart(double rho, double whole, int bits) {
    return static_cast<uint64_t>(std::ceil(std::ldexp(rho / whole * (1 + 1e-15), bits)));
}

}  // namespace

UnitLimit::UnitLimit(double epsilon, double delta, uint32_t order)
    : epsilon_(epsilon), delta_(delta), order_(order) {
    CheckEpsilonDelta(epsilon, delta);
    RdpCurve().At(order);  // throws if it is not an order of ours
    if ((delta == 0) != (order == kInfiniteOrder))
        throw Error(ErrorCode::kInvalidParameter,
                    "a limit of pure privacy has the order infinity, and no other has");
    whole_ = EpsilonToRdp(order, epsilon, delta);
    if (!(whole_ > 0))
        throw Error(ErrorCode::kInvalidParameter, "epsilon is too small for a budget at this delta");
    rho_ = PerRelease().Room(false).rho;
}

// A Gaussian count has alpha / (2 sigma^2) at alpha ([SBDT] Thm 14); several add up.
double UnitLimit::RoomsSigma(int counts) const {
    const double part = (whole_ - rho_) * (1 - 1e-9);  // which is far more than what was rounded
    return delta_ == 0 ? std::sqrt(counts) / GdpMu(part, kRoomsDelta)
                       : std::sqrt(0.5 * counts * order_ / part) * (1 + 1e-9);
}

uint32_t UnitLimit::Price(double rho) const {
    if (rho <= 0)
        return 0;
    if (!(rho <= rho_))
        return kUnitWhole + 1;
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(CeilPart(rho, rho_, 31), 1, kUnitWhole));  // at most B costs at most B
}

Budget UnitLimit::PerRelease() const {
    return Budget::Restore(epsilon_, delta_, order_, BudgetSpent::ByUnit());
}

double UnitLimit::EpsilonOf(uint32_t spent) const {
    if (spent >= kUnitWhole)
        return epsilon_;
    const double part = std::ldexp(static_cast<double>(spent), -31);
    if (delta_ == 0)
        return part * epsilon_;
    BudgetSpent others = BudgetSpent::ByUnit();  // so much is left of a limit from which the rest is taken
    others.rho = rho_ * (1 - part);
    return std::min(epsilon_, Budget::Restore(epsilon_, delta_, order_, others).RoomEpsilon(false, delta_));
}

uint32_t UnitLimit::StartAfter(const BudgetSpent& spent) const {
    if (spent.releases == 0)
        return 0;
    const double left = Budget::Restore(epsilon_, delta_, order_, spent).Room(false).rho;
    return Price(whole_ - left);
}

double UnitLimit::EpsilonLeft(uint32_t spent) const {
    const uint32_t left = UnitLeft(spent);
    if (left == 0 || left == kUnitWhole)
        return left == 0 ? 0 : epsilon_;
    const double part = std::ldexp(static_cast<double>(left - 1), -31);  // so that rounding up is paid, too
    if (delta_ == 0)
        return part * epsilon_;
    return std::min(epsilon_, GdpEpsilon(std::sqrt(2 * part * rho_ / order_), delta_) * (1 - 1e-11));
}

UnitCharge UnitCharge::Whole(const UnitLimit& limit, const Cost& cost) {
    UnitCharge charge;
    charge.most_ = std::max<uint32_t>(1, limit.Price(cost.curve.At(limit.order())));
    return charge;
}

UnitCharge UnitCharge::ByRounds(const UnitLimit& limit, const Cost& cost, std::size_t event) {
    CheckInternal(event < cost.events.size(), "the cost has no such event");
    if (limit.Price(cost.curve.At(limit.order())) > kUnitWhole)
        return Whole(limit, cost);
    std::vector<Event> fixed = cost.events;
    fixed.erase(fixed.begin() + static_cast<std::ptrdiff_t>(event));
    Event round = cost.events[event];
    const uint64_t rounds = round.count;
    round.count = 1;
    UnitCharge charge;
    charge.fixed_ = fixed.empty() ? 0 : limit.Price(EventsRdp(fixed, limit.order()));
    charge.round_price_ =
        std::max<uint64_t>(1, CeilPart(EventsRdp({round}, limit.order()), limit.rho(), 31 + kPriceBits));
    const Wide all = (Wide{charge.round_price_} * rounds + ((Wide{1} << kPriceBits) - 1)) >> kPriceBits;
    charge.most_ = static_cast<uint32_t>(std::min<Wide>(all + charge.fixed_, kUnitWhole));
    return charge;
}

uint32_t UnitCharge::Allowed(uint32_t reserved, uint32_t limit, int bits) const {
    CheckInternal(by_rounds(), "a charge without rounds allows none");
    if (reserved <= fixed_)
        return 0;
    return static_cast<uint32_t>(
        std::min<Wide>((Wide{reserved - fixed_} << (kPriceBits + bits)) / round_price_, limit));
}

uint32_t UnitCharge::Used(uint32_t used, int bits) const {
    CheckInternal(by_rounds(), "a charge without rounds has none to count");
    const int shift = kPriceBits + bits;
    const Wide price = (Wide{round_price_} * used + ((Wide{1} << shift) - 1)) >> shift;
    return fixed_ + static_cast<uint32_t>(price);
}

}  // namespace dpboost
