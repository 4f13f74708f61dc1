// Renyi divergences event by event, each under the theorem it implements. All sums are of positive terms, so
// that nothing cancels, and every result is rounded up by more than its numerical error.
#include "privacy/accountant/rdp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/numeric.h"

namespace dpboost {

const std::array<uint32_t, kOrderCount> kOrders = {
    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,   16,   18,
    21,   23,   27,   30,   34,   39,   44,   50,   57,   65,   74,   84,   95,   108,  123,  139,
    158,  180,  204,  232,  263,  299,  340,  386,  438,  498,  565,  642,  729,  828,  941,  1068,
    1213, 1378, 1565, 1778, 2019, 2293, 2605, 2958, 3360, 3816, 4334, 4923, 5591, 6350, 7213, 8192};

namespace {

constexpr uint32_t kMaxOrder = 8192;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rounds a divergence up by more than its numerical error, which is below 1e-13 (long double logarithms of
// factorials up to 8192! have an error of 4e-15, five of them are added, and exp keeps it).
double RoundUp(double rho) {
    return rho * (1 + 5e-13);
}

// log(n!) for n = 0..8192.
const std::array<long double, kMaxOrder + 1>& LogFactorials() {
    static const std::array<long double, kMaxOrder + 1> table = [] {
        std::array<long double, kMaxOrder + 1> values{};
        for (uint32_t n = 2; n <= kMaxOrder; ++n) {
            int sign;
            values[n] = lgammal_r(static_cast<long double>(n) + 1, &sign);
        }
        return values;
    }();
    return table;
}

void CheckOrder(double order, double smallest) {
    if (!(order >= smallest && order <= kMaxOrder))
        throw Error(ErrorCode::kInvalidParameter, "Renyi order out of range");
}

// log(sinh(y) / y), in long double because it is used in differences that cancel up to a factor of the order.
long double LogSinhc(long double y) {
    if (y > 0.5L)
        return y + log1pl(-expl(-2 * y)) - logl(2 * y);
    const long double square = y * y;
    long double term = 1;
    long double sum = 0;  // sinh(y)/y - 1
    for (int n = 1; n < 14; ++n) {
        term *= square / ((2 * n) * (2 * n + 1));
        sum += term;
    }
    return log1pl(sum);
}

}  // namespace

RdpCurve& RdpCurve::operator+=(const RdpCurve& other) {
    for (std::size_t i = 0; i < kOrderCount; ++i)
        rho[i] += other.rho[i];
    pure_epsilon += other.pure_epsilon;
    return *this;
}

double RdpCurve::At(uint32_t order) const {
    if (order == kInfiniteOrder)
        return pure_epsilon;
    const auto found = std::lower_bound(kOrders.begin(), kOrders.end(), order);
    if (found == kOrders.end() || *found != order)
        throw Error(ErrorCode::kInvalidParameter, "Renyi order is not one of the 64 that curves are kept at");
    return rho[static_cast<std::size_t>(found - kOrders.begin())];
}

// [SBDT] Thm 14 with rho'(l) = l / (2 s^2) (Thm 16: also for non-spherical noise, s = sigma_leaf/sqrt(D)).
// Neighbours: add or remove one unit; tight in both directions. Written as log1p(S)/(alpha-1),
//     S = sum over l = 2..alpha of C(alpha,l) (1-g)^(alpha-l) g^l expm1(l(l-1)/(2 s^2)),
// which is the theorem's sum minus the binomial weights' total of 1: all terms are positive, so nothing
// cancels when S is tiny (a plain log-sum-exp of the theorem loses 1e-6 there and can fall below the truth).
double SubsampledGaussianRdp(uint32_t order, double noise_multiplier, double gamma) {
    CheckEvent(Event::Gaussian(noise_multiplier, 1, gamma));
    CheckOrder(order, 2);
    // Exponents up to 1e5 meet logarithms of the same size and cancel, so that a double's digits would not
    // do.
    const long double inverse = 1 / (2 * static_cast<long double>(noise_multiplier) * noise_multiplier);
    if (gamma == 1)
        return RoundUp(static_cast<double>(order * inverse));
    const auto& log_factorial = LogFactorials();
    const long double log_gamma = logl(gamma);
    const long double log_rest = log1pl(-static_cast<long double>(gamma));
    long double largest = -std::numeric_limits<long double>::infinity();
    double sum = 0;  // of exp(term - largest)
    for (uint32_t l = 2; l <= order; ++l) {
        const long double exponent = static_cast<long double>(l) * (l - 1) * inverse;
        const long double log_growth =
            exponent < 30 ? static_cast<long double>(std::log(std::expm1(static_cast<double>(exponent))))
                          : exponent + std::log1p(-std::exp(-static_cast<double>(exponent)));
        const long double term = log_factorial[order] - log_factorial[l] - log_factorial[order - l] +
                                 l * log_gamma + (order - l) * log_rest + log_growth;
        if (term > largest) {
            sum = sum * std::exp(static_cast<double>(largest - term)) + 1;
            largest = term;
        } else {
            sum += std::exp(static_cast<double>(term - largest));
        }
    }
    const double log_s = static_cast<double>(largest) + std::log(sum);
    return RoundUp(Log1pExp(log_s) / (order - 1));
}

// [SBDT] Thm 18's f. Neighbours: add or remove one unit; epsilon = L1 sensitivity / scale. The linear terms
// of its two exponentials cancel, so what is added is exp(x) - 1 - x of each, both positive.
double LaplaceRdp(double order, double epsilon) {
    CheckEvent(Event::Laplace(epsilon, 1));
    CheckOrder(order, 1 + 1e-9);
    const double up = (order - 1) * epsilon;
    const double down = order * epsilon;
    if (up > 600)  // the second exponential is below exp(-600) of the first
        return RoundUp(epsilon + std::log(order / (2 * order - 1)) / (order - 1));
    const double s = (order * Expm1MinusX(up) + (order - 1) * Expm1MinusX(-down)) / (2 * order - 1);
    return std::min(epsilon, RoundUp(std::log1p(s) / (order - 1)));
}

// [DPXGB] Thm 1 with its supremum over t solved: with L(y) = log(sinh(y)/y),
//     rho = [alpha L(alpha e/2) - (alpha-1) L((alpha-1) e/2) - L(e/2)] / (alpha-1).
// Neighbours: add or remove one unit. For every epsilon-bounded-range mechanism; the exponential mechanism
// with weights exp(epsilon u / (2 Delta)) is one. Never to be amplified by Thm 14.
double ExponentialMechanismRdp(double order, double epsilon) {
    CheckEvent(Event::Exponential(epsilon, 1));
    CheckOrder(order, 1);
    const long double e = epsilon;
    if (order == 1) {
        // The theorem's case alpha = 1: x - 1 - log x with x = e/(exp(e)-1) = exp(-e/2) / sinhc(e/2).
        const long double log_x = -e / 2 - LogSinhc(e / 2);
        return std::min(epsilon, RoundUp(Expm1MinusX(static_cast<double>(log_x))));
    }
    const long double a = order;
    const long double sum = a * LogSinhc(a * e / 2) - (a - 1) * LogSinhc((a - 1) * e / 2) - LogSinhc(e / 2);
    return std::min(epsilon, RoundUp(static_cast<double>(sum / (a - 1))));
}

// Randomized response dominates every epsilon-DP mechanism ([KOV15]). Its sum is
// 1 + exp(e) (exp((alpha-1) e) - 1) (1 - exp(-alpha e)) / (1 + exp(e)), without cancellation.
double PureRdp(double order, double epsilon) {
    CheckEvent(Event::Pure(epsilon, 1));
    CheckOrder(order, 1 + 1e-9);
    const double log_s =
        -Log1pExp(-epsilon) + LogExpm1((order - 1) * epsilon) + std::log(-std::expm1(-order * epsilon));
    return std::min(epsilon, RoundUp(Log1pExp(log_s) / (order - 1)));
}

double GdpRdp(double order, double mu) {
    return RoundUp(0.5 * order * mu * mu);
}

double EventsRdp(const std::vector<Event>& events, uint32_t order) {
    CheckEvents(events);
    if (order == kInfiniteOrder)
        return PureEpsilon(events) * (1 + 1e-15 * static_cast<double>(events.size()));
    double sum = 0;
    for (const Event& event : events)
        sum += KindOf(event).rdp(event, order) * static_cast<double>(event.count);
    return sum;
}

RdpCurve EventsCurve(const std::vector<Event>& events) {
    RdpCurve curve;
    for (std::size_t i = 0; i < kOrderCount; ++i)
        curve.rho[i] = EventsRdp(events, kOrders[i]);
    curve.pure_epsilon = EventsRdp(events, kInfiniteOrder);
    return curve;
}

// [SBDT] Cor 6: epsilon = rho + log((alpha-1)/alpha) - (log(delta) + log(alpha))/(alpha-1).
double RdpToEpsilon(uint32_t order, double rho, double delta) {
    if (order == kInfiniteOrder)
        return rho;
    CheckOrder(order, 2);
    if (!(delta > 0))
        return kInfinity;
    const double alpha = order;
    return std::max(0.0, rho + std::log1p(-1 / alpha) - (std::log(delta) + std::log(alpha)) / (alpha - 1));
}

double EpsilonToRdp(uint32_t order, double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    if (order == kInfiniteOrder)
        return epsilon;
    CheckOrder(order, 2);
    if (!(delta > 0))
        return -kInfinity;
    const double alpha = order;
    return (epsilon - std::log1p(-1 / alpha) + (std::log(delta) + std::log(alpha)) / (alpha - 1)) -
           1e-13 * epsilon;
}

RdpEpsilon CurveToEpsilon(const RdpCurve& curve, double delta) {
    RdpEpsilon best{curve.pure_epsilon, kInfiniteOrder};
    for (std::size_t i = 0; i < kOrderCount; ++i) {
        const double epsilon = RdpToEpsilon(kOrders[i], curve.rho[i], delta);
        if (epsilon < best.epsilon)
            best = {epsilon, kOrders[i]};
    }
    return best;
}

// Every order is sound; the search only decides how good the result is. It climbs the 64 orders until epsilon
// has risen three times in a row, then looks for the best integer between the neighbours of the best.
RdpEpsilon EventsRdpEpsilon(const std::vector<Event>& events, double delta) {
    RdpEpsilon best{EventsRdp(events, kInfiniteOrder), kInfiniteOrder};
    if (delta == 0)
        return best;
    auto at = [&](uint32_t order) {
        const double epsilon = RdpToEpsilon(order, EventsRdp(events, order), delta);
        if (epsilon < best.epsilon)
            best = {epsilon, order};
        return epsilon;
    };
    double previous = kInfinity;
    std::size_t best_index = 0;
    int rising = 0;
    for (std::size_t i = 0; i < kOrderCount && rising < 3; ++i) {
        const double epsilon = at(kOrders[i]);
        rising = epsilon > previous ? rising + 1 : 0;
        previous = epsilon;
        if (best.order == kOrders[i])
            best_index = i;
    }
    uint32_t low = kOrders[best_index == 0 ? 0 : best_index - 1];
    uint32_t high = kOrders[std::min(best_index + 1, kOrderCount - 1)];
    while (high - low > 2) {
        const uint32_t middle = low + (high - low) / 2;
        if (at(middle) <= at(middle + 1))
            high = middle + 1;
        else
            low = middle;
    }
    if (low + 1 < high)
        at(low + 1);
    return best;
}

}  // namespace dpboost
