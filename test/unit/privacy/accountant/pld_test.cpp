#include "privacy/accountant/pld.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "privacy/accountant/fft.h"
#include "privacy/accountant/gdp.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/loss_grid.h"
#include "privacy/accountant/rdp.h"
#include "unit/privacy/reference_table.h"

namespace dpboost {
namespace {

// An upper bound of the larger direction, at most 1e-4 above it.
void CheckRow(const std::vector<double>& row) {
    const double exact = std::max(row[4], row[5]);
    const double epsilon =
        PldEpsilon({Event::Gaussian(row[3], static_cast<uint64_t>(row[1]), row[0])}, row[2]);
    EXPECT_GE(epsilon, exact) << row[0] << " " << row[1] << " " << row[3];
    EXPECT_LE(epsilon, exact * (1 + 1e-4)) << row[0] << " " << row[1] << " " << row[3];
}

TEST(Pld, AgreesWithReferenceTable) {
    const ReferenceRows rows = LoadReference("pld_subsampled_gaussian.csv");
    for (const auto& row : rows)
        CheckRow(row);
}

TEST(Pld, GaussiansGiveTheClosedForm) {
    for (double mu : {0.01, 0.2, 1.0, 4.0})
        for (double delta : {1e-10, 1e-6, 1e-3}) {
            const double exact = GdpEpsilon(mu, delta);
            const double epsilon =
                PldEpsilon({Event::Gaussian(2 / mu, 2), Event::Gdp(mu / std::sqrt(2), 1)}, delta);
            EXPECT_GE(epsilon, exact * (1 - 1e-11));
            EXPECT_LE(epsilon, exact * (1 + 2e-4)) << mu << " " << delta;
        }
}

// delta(x) = 1 - exp((x - e)/2) for Laplace, (1 - exp((x - e)/2))^2 / (1 - exp(-e)) for the dominating pair
// of bounded range, (exp(e) - exp(x))/(1 + exp(e)) for randomized response.
TEST(Pld, SingleMechanismsGiveTheirHockeyStickCurves) {
    for (double e : {0.05, 1.0, 3.0})
        for (double x : {0.2 * e, 0.7 * e}) {
            const double u = std::exp((x - e) / 2);
            const double laplace = 1 - u;
            const double range = (1 - u) * (1 - u) / -std::expm1(-e);
            const double pure = (std::exp(e) - std::exp(x)) / (1 + std::exp(e));
            EXPECT_GE(PldDelta({Event::Laplace(e, 1)}, x), laplace);
            EXPECT_LE(PldDelta({Event::Laplace(e, 1)}, x), laplace * 1.001);
            EXPECT_GE(PldDelta({Event::Exponential(e, 1)}, x), range);
            EXPECT_LE(PldDelta({Event::Exponential(e, 1)}, x), range * 1.001);
            EXPECT_GE(PldDelta({Event::Pure(e, 1)}, x), pure);
            EXPECT_LE(PldDelta({Event::Pure(e, 1)}, x), pure * 1.001);
        }
}

// The dominating pair of bounded range lies above every generalised randomized response RR(e, t) ([DPXGB]
// Lemma 2), two of them composed included.
TEST(Pld, BoundedRangePairDominatesRandomizedResponses) {
    const double e = 0.8;
    for (double t : {0.1, 0.4, 0.7})
        for (double x : {0.05, 0.3, 0.9}) {
            const double q = (std::exp(-t) - std::exp(-e)) / -std::expm1(-e);
            const double p = std::exp(t) * q;
            double once = std::max(0.0, p - std::exp(x) * q) + std::max(0.0, (1 - p) - std::exp(x) * (1 - q));
            double twice = 0;
            for (int a = 0; a < 2; ++a)
                for (int b = 0; b < 2; ++b) {
                    const double first = (a ? p : 1 - p) * (b ? p : 1 - p);
                    const double second = (a ? q : 1 - q) * (b ? q : 1 - q);
                    twice += std::max(0.0, first - std::exp(x) * second);
                }
            EXPECT_GE(PldDelta({Event::Exponential(e, 1)}, x), once);
            EXPECT_GE(PldDelta({Event::Exponential(e, 2)}, x), twice);
        }
}

// One use of a sampled Gaussian has a closed form: with y where the loss is x, delta = P(y) - exp(x) Q(y),
// and likewise with P and Q exchanged for adding a unit.
TEST(Pld, OneSampledGaussianIsExact) {
    auto tail = [](double y) { return 0.5 * std::erfc(y / std::sqrt(2.0)); };
    int checked = 0;
    for (double s : {0.05, 0.3, 0.8, 2.0, 10.0, 300.0})
        for (double gamma : {1e-4, 0.01, 0.3, 0.9})
            for (double x : {0.003, 0.05, 0.5, 3.0, 20.0}) {
                auto p_tail = [&](double y) { return (1 - gamma) * tail(y) + gamma * tail(y - 1 / s); };
                auto loss_at = [&](double loss) {
                    return s * (std::log1p(std::expm1(loss) / gamma) + 1 / (2 * s * s));
                };
                const double y = loss_at(x);
                double exact = p_tail(y) - std::exp(x) * tail(y);
                if (-x > std::log1p(-gamma)) {
                    const double z = loss_at(-x);
                    exact = std::max(exact, tail(-z) - std::exp(x) * (1 - p_tail(z)));
                }
                if (!(exact > 1e-13))
                    continue;
                const double delta = PldDelta({Event::Gaussian(s, 1, gamma)}, x);
                EXPECT_GE(delta, exact * (1 - 1e-9)) << s << " " << gamma << " " << x;
                EXPECT_LE(delta, exact * 1.02 + 1e-16) << s << " " << gamma << " " << x;
                ++checked;
            }
    EXPECT_GT(checked, 40);
}

// A sampling rate so close to 1 that it is taken as 1, but composed by FFT like any other: the closed form of
// the Gaussian tells how good the composition is.
TEST(Pld, CompositionOfGaussiansGivesTheClosedForm) {
    for (uint64_t count : {2, 37, 1000, 20000})
        for (double mu : {0.03, 0.3, 2.0})
            for (double delta : {1e-10, 1e-5}) {
                const double s = std::sqrt(static_cast<double>(count)) / mu;
                const double exact = GdpEpsilon(mu, delta);
                const double epsilon = PldEpsilon({Event::Gaussian(s, count, 0.9995)}, delta);
                EXPECT_GE(epsilon, exact * (1 - 1e-10)) << count << " " << mu;
                EXPECT_LE(epsilon, exact * (1 + 1e-4)) << count << " " << mu;
            }
}

// Two uses of randomized response: losses 2e, 0, -2e.
TEST(Pld, ComposesExactly) {
    const double e = 0.5;
    const double p = 1 / (1 + std::exp(-e));
    for (double x : {0.1, 0.6}) {
        const double exact = p * p * -std::expm1(x - 2 * e);
        const double delta = PldDelta({Event::Pure(e, 1), Event::Pure(e, 1)}, x);
        EXPECT_GE(delta, exact);
        EXPECT_LE(delta, exact * 1.0001);
    }
}

// plan.h: a change spread over several sums with Laplace noise loses no more than one sum that changes by the
// L1 norm, at every epsilon and every order.
TEST(Pld, OneLaplaceCoversAChangeSpreadOverSums) {
    for (double e : {0.1, 1.0, 3.0})
        for (double part : {0.1, 0.5}) {
            const std::vector<Event> spread = {Event::Laplace(part * e, 1),
                                               Event::Laplace((1 - part) * e, 1)};
            for (double x : {0.02 * e, 0.3 * e, 0.8 * e, 0.95 * e})
                EXPECT_LE(PldDelta(spread, x), (1 - std::exp((x - e) / 2)) * 1.001) << e << " " << x;
            for (uint32_t order : {2, 16, 1068})
                EXPECT_LE(EventsRdp(spread, order), EventsRdp({Event::Laplace(e, 1)}, order) * (1 + 1e-12));
        }
}

// delta(x) of `count` randomized responses, exactly: k of them tell against the truth.
double RandomizedResponseDelta(double e, int count, double x) {
    const double p = 1 / (1 + std::exp(-e));
    double delta = 0;
    for (int k = 0; k <= count; ++k) {
        const double loss = (count - 2 * k) * e;
        const double mass =
            std::exp(std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1) +
                     (count - k) * std::log(p) - k * e + k * std::log(p));
        if (loss > x)
            delta += mass * -std::expm1(x - loss);
    }
    return delta;
}

// Few uses have bounded losses, and the guess of epsilon may lie above all of them: then the tilt is as
// strong as it gets, and masses far below overflow.
TEST(Pld, FewPureMechanismsKeepTheirEpsilon) {
    for (double e : {0.5, 0.1, 0.01})
        for (int count : {1, 2, 3, 5, 10})
            for (double delta : {1e-3, 1e-6, 1e-10}) {
                const double epsilon = PldEpsilon({Event::Pure(e, static_cast<uint64_t>(count))}, delta);
                EXPECT_LE(RandomizedResponseDelta(e, count, epsilon), delta * (1 + 1e-9))
                    << e << " " << count << " " << delta << " " << epsilon;
                EXPECT_LE(epsilon, 1.02 * e * count) << e << " " << count << " " << delta;
            }
}

TEST(Pld, HeterogeneousEventsAreComposedJointly) {
    const std::vector<Event> trees = {Event::Gaussian(50, 150, 0.1)};
    std::vector<Event> all = trees;
    all.push_back(Event::Laplace(0.01, 1));
    all.push_back(Event::Gaussian(80, 1));
    const double delta = 5e-8;
    const double jointly = PldEpsilon(all, delta);
    const double separately = PldEpsilon(trees, delta / 2) + 0.01 + GdpEpsilon(1 / 80.0, delta / 2);
    EXPECT_GT(jointly, PldEpsilon(trees, delta));
    EXPECT_LT(jointly, 0.9 * separately);
    EXPECT_LT(jointly, EventsRdpEpsilon(all, delta).epsilon);
}

TEST(Pld, IsNeverAboveRenyiForGaussiansAndMonotone) {
    double last = 0;
    for (uint64_t count : {1, 10, 100, 3000}) {
        const std::vector<Event> events = {Event::Gaussian(5, count, 0.02)};
        const double epsilon = PldEpsilon(events, 1e-6);
        EXPECT_GT(epsilon, last);
        EXPECT_LE(epsilon, EventsRdpEpsilon(events, 1e-6).epsilon);
        last = epsilon;
    }
    EXPECT_LT(PldEpsilon({Event::Gaussian(5.1, 100, 0.02)}, 1e-6),
              PldEpsilon({Event::Gaussian(5, 100, 0.02)}, 1e-6));
    EXPECT_LT(PldEpsilon({Event::Gaussian(5, 100, 0.02)}, 1e-5),
              PldEpsilon({Event::Gaussian(5, 100, 0.02)}, 1e-6));
}

TEST(Pld, CoarseGridsAreStillUpperBounds) {
    for (double error : {1e-1, 1e-2, 1e-3}) {
        const double epsilon = PldEpsilon({Event::Gaussian(6.09388, 150, 0.1)}, 5e-8, PldPrecision{error});
        EXPECT_GE(epsilon, 0.9999989384875286);
        EXPECT_LE(epsilon, 1 + 2 * error);
    }
}

TEST(Pld, RefusesFiltersAndBadInput) {
    Event filtered = Event::Gaussian(5, 100, 0.1);
    filtered.filtered = true;
    EXPECT_ERROR(PldEpsilon({filtered}, 1e-6), kUnsupported);
    EXPECT_ERROR(PldEpsilon({Event::Gaussian(5, 100, 0.1)}, 0), kInvalidParameter);
    EXPECT_ERROR(PldEpsilon({Event::Gaussian(5, 100, 0.1)}, 1), kInvalidParameter);
    EXPECT_ERROR(PldEpsilon({Event::Gaussian(5, 0, 0.1)}, 1e-6), kInvalidParameter);
    EXPECT_ERROR(PldDelta({Event::Gaussian(5, 1, 0.1)}, -1), kInvalidParameter);
    EXPECT_ERROR(PldDelta({Event::Gaussian(5, 1, 0.1)}, NAN), kInvalidParameter);
}

// Both directions keep total mass, and each point's Q-mass is exp(-loss) of its P-mass.
TEST(LossGrid, KeepsMass) {
    const GridOptions options{1e-3, 1.0, 1e-6, 10};
    for (const Event& event : {Event::Gaussian(1.2, 1, 0.05), Event::Gaussian(2, 1), Event::Laplace(0.7, 1),
                               Event::Exponential(0.7, 1), Event::Pure(0.7, 1), Event::Gdp(0.4, 1)}) {
        const LossGridPair pair = KindOf(event).discretise(event, options);
        for (const LossGrid* grid : {&pair.remove, &pair.add}) {
            double mass = grid->infinite_mass;
            double q_mass = 0;
            for (std::size_t i = 0; i < grid->mass.size(); ++i) {
                EXPECT_GE(grid->mass[i], 0);
                mass += grid->mass[i];
                q_mass += grid->mass[i] * std::exp(-grid->Loss(i));
            }
            EXPECT_NEAR(mass, 1, 1e-11);
            EXPECT_NEAR(q_mass, 1, 1e-6);
        }
    }
}

TEST(Fft, MatchesTheDefinitionWithinItsBound) {
    constexpr std::size_t kSize = 64;
    const Fft fft(kSize);
    Spectrum data(kSize);
    uint32_t state = 7;
    for (std::size_t i = 0; i < kSize; ++i) {
        state = state * 1664525u + 1013904223u;
        data.re[i] = state / 4294967296.0;
    }
    const std::vector<double> input = data.re;
    fft.Forward(data);
    double error = 0;
    double norm = 0;
    for (std::size_t k = 0; k < kSize; ++k) {
        std::size_t reversed = 0;
        for (std::size_t bit = 0; bit < 6; ++bit)
            reversed |= ((k >> bit) & 1) << (5 - bit);
        long double re = 0;
        long double im = 0;
        for (std::size_t i = 0; i < kSize; ++i) {
            const long double angle = -2 * acosl(-1) * static_cast<long double>(i * reversed % kSize) / kSize;
            re += input[i] * cosl(angle);
            im += input[i] * sinl(angle);
        }
        error += std::pow(static_cast<double>(data.re[k] - re), 2) +
                 std::pow(static_cast<double>(data.im[k] - im), 2);
        norm += static_cast<double>(re * re + im * im);
    }
    EXPECT_LE(std::sqrt(error / norm), fft.RelativeError());
    fft.Inverse(data);
    for (std::size_t i = 0; i < kSize; ++i)
        EXPECT_NEAR(data.re[i] / kSize, input[i], 1e-15);
    EXPECT_ERROR(Fft(48), kInternal);
}

}  // namespace
}  // namespace dpboost
