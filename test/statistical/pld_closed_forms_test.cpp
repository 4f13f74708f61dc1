// The privacy loss distribution against closed forms in long double, at random parameters: single events of every kind,
// and each together with a full-batch Gaussian, by quadrature. What the accountant says may be above the truth by little
// and never below.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "base/error.h"
#include "privacy/accountant/pld.h"
#include "support/audit/audit.h"

namespace dpboost {
namespace {

using Real = long double;

Real UpperTail(Real x) {
    return 0.5L * erfcl(x / sqrtl(2.0L));
}

Real Density(Real x) {
    return expl(-x * x / 2) / sqrtl(2 * acosl(-1.0L));
}

// delta(epsilon) of mu-Gaussian-DP, for any real epsilon.
Real GaussianDelta(Real mu, Real epsilon) {
    const Real far = UpperTail(epsilon / mu + mu / 2);
    return UpperTail(epsilon / mu - mu / 2) - (far > 0 ? expl(epsilon + logl(far)) : 0);
}

// The point at which the loss of the sampled Gaussian equals epsilon, in standard deviations; false if it never does.
bool PointOfLoss(Real s, Real rate, Real epsilon, Real* point) {
    const Real x = expm1l(epsilon) / rate;
    if (x <= -1)
        return false;
    *point = s * (log1pl(x) + 1 / (2 * s * s));
    return true;
}

Real SampledDelta(Real s, Real rate, Real epsilon) {
    Real y, removed = -expm1l(epsilon), added = 0;
    if (PointOfLoss(s, rate, epsilon, &y))
        removed = (1 - rate) * UpperTail(y) + rate * UpperTail(y - 1 / s) - expl(epsilon) * UpperTail(y);
    if (PointOfLoss(s, rate, -epsilon, &y))
        added = UpperTail(-y) - expl(epsilon) * ((1 - rate) * UpperTail(-y) + rate * UpperTail(1 / s - y));
    return std::max(removed, added);
}

// Two-point Gauss-Legendre on many pieces.
Real Integrate(Real from, Real to, int pieces, const std::function<Real(Real)>& f) {
    const Real width = (to - from) / pieces, offset = width / 2 / sqrtl(3.0L);
    Real sum = 0;
    for (int i = 0; i < pieces; i++) {
        const Real middle = from + (i + 0.5L) * width;
        sum += (f(middle - offset) + f(middle + offset)) * width / 2;
    }
    return sum;
}

class RandomNumbers {
  public:
    RandomNumbers() : source_(AuditSource(77, 2)), random_(source_) {}
    double Uniform() { return static_cast<double>(random_.Next64() >> 11) * 0x1.0p-53; }
    double PowerOfTen(double from, double to) { return std::pow(10, from + (to - from) * Uniform()); }

  private:
    ChaChaSource source_;
    Random random_;
};

// Below 1e-25 or near 1 nothing can be compared in this precision.
void ExpectAbove(const std::vector<Event>& events, double epsilon, Real exact, const char* what,
                 int* compared) {
    if (!(exact > 1e-25L && exact < 0.9L) || !(epsilon > 1e-7) || epsilon > 50)
        return;
    double ours;
    try {
        ours = PldDelta(events, epsilon);
    } catch (const Error&) {  // no grid for it: a refusal claims nothing, and the counts below keep them rare
        return;
    }
    const auto excess = static_cast<double>(ours / exact - 1);
    EXPECT_GE(excess, -1e-9) << what << ", epsilon " << epsilon << ", parameter " << events[0].parameter
                             << ", rate " << events[0].sampling_rate;
    ++*compared;
}

int Points() {
    const char* more = std::getenv("DPBOOST_AUDIT_POINTS");
    return more != nullptr ? std::atoi(more) : 25;
}

TEST(PldClosedForms, SingleEventsAreNeverBelow) {
    RandomNumbers random;
    int compared = 0;
    for (int i = 0; i < 4 * Points(); i++) {
        const double s = random.PowerOfTen(-1, 2.5);
        const double rate = random.Uniform() < 0.7 ? random.PowerOfTen(-5, 0) : 1 - random.PowerOfTen(-5, -1);
        const double spread = rate * std::min(5.0, std::sqrt(std::expm1(std::min(20.0, 1 / (s * s)))));
        const double epsilon = spread * random.PowerOfTen(-1, 1);
        ExpectAbove({Event::Gaussian(s, 1, rate)}, epsilon, SampledDelta(s, rate, epsilon), "sampled",
                    &compared);
        const double mu = random.PowerOfTen(-2, 0.5), beyond = mu * random.PowerOfTen(-0.5, 0.7);
        ExpectAbove({Event::Gdp(mu, 1)}, beyond, GaussianDelta(mu, beyond), "Gaussian", &compared);
        const double e = random.PowerOfTen(-2, 0.5), within = e * (0.99 * random.Uniform());
        const Real gap = (static_cast<Real>(within) - e) / 2;
        ExpectAbove({Event::Laplace(e, 1)}, within, -expm1l(gap), "Laplace", &compared);
        ExpectAbove({Event::Exponential(e, 1)}, within,
                    expm1l(gap) * expm1l(gap) / -expm1l(-static_cast<Real>(e)), "exponential", &compared);
        const Real p = 1 / (1 + expl(-static_cast<Real>(e)));
        ExpectAbove({Event::Pure(e, 1)}, within, p - expl(within) * (1 - p), "pure", &compared);
    }
    EXPECT_GT(compared, 12 * Points());
}

TEST(PldClosedForms, PairsWithAGaussianAreNeverBelow) {
    RandomNumbers random;
    int compared = 0;
    for (int i = 0; i < Points(); i++) {
        const double mu = random.PowerOfTen(-2, 0.5), e = random.PowerOfTen(-2, 0.5);
        const double epsilon = (e + mu) * (0.2 + random.Uniform());
        const auto rest = [&](Real loss) { return GaussianDelta(mu, epsilon - loss); };
        const Event gaussian = Event::Gaussian(1 / mu, 1);
        const Real laplace =
            0.5L * rest(e) + 0.5L * expl(-static_cast<Real>(e)) * rest(-e) +
            Integrate(-e, e, 2000, [&](Real l) { return 0.25L * expl((l - e) / 2) * rest(l); });
        ExpectAbove({Event::Laplace(e, 1), gaussian}, epsilon, laplace, "Laplace and Gaussian", &compared);
        const Real exponential = Integrate(-e, e, 2000, [&](Real l) {
            return expl((l - e) / 2) / (2 * -expm1l(-static_cast<Real>(e))) * rest(l);
        });
        ExpectAbove({Event::Exponential(e, 1), gaussian}, epsilon, exponential, "exponential and Gaussian",
                    &compared);
        const double s = random.PowerOfTen(-0.7, 2), rate = random.PowerOfTen(-3, 0);
        const auto loss = [&](Real y) {
            return log1pl(rate * expm1l(y / s - 1 / (2 * static_cast<Real>(s) * s)));
        };
        const Real removed = Integrate(-14, 14 + 1 / s, 4000, [&](Real y) {
            return ((1 - rate) * Density(y) + rate * Density(y - 1 / static_cast<Real>(s))) * rest(loss(y));
        });
        const Real added =
            Integrate(-14, 14 + 1 / s, 4000, [&](Real y) { return Density(y) * rest(-loss(y)); });
        ExpectAbove({Event::Gaussian(s, 1, rate), gaussian}, epsilon, std::max(removed, added),
                    "sampled and Gaussian", &compared);
    }
    EXPECT_GT(compared, Points());
}

}  // namespace
}  // namespace dpboost
