// Against the C library's 80-bit functions, in units of the last place of the true result.
#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

double Ulps(double value, long double truth) {
    const double near = static_cast<double>(truth);
    const double ulp = std::nextafter(std::fabs(near), INFINITY) - std::fabs(near);
    return static_cast<double>(std::fabs((static_cast<long double>(value) - truth) / ulp));
}

template <typename Function, typename Truth>
double Worst(double from, double to, const Function& function, const Truth& truth) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
        const double x = from + (to - from) * (random.Next32() / 4294967296.0 + random.Next32() * 0x1p-64);
        worst = std::max(worst, Ulps(function(x), truth(static_cast<long double>(x))));
    }
    return worst;
}

TEST(PortableMath, IsNearTheTruth) {
    for (const auto& [from, to] : {std::pair<double, double>{-1, 1}, {-40, 40}, {-700, 700}})
        EXPECT_LT(Worst(from, to, portable::Exp, [](long double x) { return expl(x); }), 1) << from;
    for (const auto& [from, to] : {std::pair<double, double>{0.5, 2}, {1e-9, 1e-3}, {1, 1e6}, {1e290, 1e300}})
        EXPECT_LT(Worst(from, to, portable::Log, [](long double x) { return logl(x); }), 1) << from;
    for (const double to : {1e-300, 1e-17, 1e-9, 0.01, 1.0, 10.0, 1e9, 1e100})
        EXPECT_LT(Worst(0, to, portable::Log1p, [](long double x) { return log1pl(x); }), 4) << to;
    for (const double to : {1e-300, 1e-17, 1e-9, 0.01, 1.0, 10.0, 40.0, 700.0})
        for (const double from : {0.0, -to})
            EXPECT_LT(
                Worst(from, from < 0 ? 0 : to, portable::Expm1, [](long double x) { return expm1l(x); }), 4)
                << from << " to " << to;
    for (double x = -1000; x < 1000; x += 0.00937)
        EXPECT_NEAR(portable::Cos(x), static_cast<double>(cosl(static_cast<long double>(x))), 1.2e-16) << x;
}

// Rounding x^2 / 2 costs what exp makes of it.
TEST(PortableMath, InverseMillsIsNearTheTruth) {
    const auto truth = [](long double x) {
        return expl(-x * x / 2) / (sqrtl(acosl(-1) / 2) * erfcl(-x / sqrtl(2)));
    };
    for (const auto& [from, to] : {std::pair<double, double>{-37, -8.2},
                                   {-8.2, -4.04},
                                   {-4.04, -1.77},
                                   {-1.77, -1.19},
                                   {-1.19, 1.19},
                                   {1.19, 1.77},
                                   {1.77, 8}}) {
        const double most = std::max(std::fabs(from), std::fabs(to));
        EXPECT_LT(Worst(from, to, portable::InverseMills, truth), 10 + (to > 0 ? most * most : 0)) << from;
    }
}

TEST(PortableMath, PowHasTheErrorOfItsExponent) {
    for (double x = 0.001; x < 1000; x *= 1.0371) {
        for (double y = -5; y < 5; y += 0.0913) {
            const double size = std::fabs(y * std::log(x));
            EXPECT_LE(Ulps(portable::Pow(x, y), powl(x, y)), 2 * size + 2) << x << " " << y;
        }
    }
    EXPECT_EQ(portable::Pow(7, 0), 1);
    EXPECT_EQ(portable::Pow(1, 3.3), 1);
}

TEST(PortableMath, Ends) {
    EXPECT_EQ(portable::Exp(0), 1);
    EXPECT_EQ(portable::Exp(-INFINITY), 0);
    EXPECT_EQ(portable::Exp(710), INFINITY);
    EXPECT_TRUE(std::isnan(portable::Exp(NAN)));
    EXPECT_EQ(portable::Log(1), 0);
    EXPECT_EQ(portable::Log(0), -INFINITY);
    EXPECT_TRUE(std::isnan(portable::Log(-1)));
    EXPECT_TRUE(std::isnan(portable::Log(NAN)));
    EXPECT_EQ(portable::Log(5e-324), std::log(5e-324));
    EXPECT_EQ(portable::Log1p(0), 0);
    EXPECT_EQ(portable::Expm1(0), 0);
    EXPECT_EQ(portable::Expm1(-800), -1);
    EXPECT_EQ(portable::Expm1(710), INFINITY);
    EXPECT_EQ(portable::Cos(0), 1);
    EXPECT_TRUE(std::isnan(portable::InverseMills(NAN)));
}

// Bits that must be the same everywhere: the results of one machine.
TEST(PortableMath, BitsAreTheSameEverywhere) {
    uint64_t hash = 14695981039346656037U;
    const auto add = [&](double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211U;
    };
    for (int i = 1; i < 20000; i++) {
        const double x = i / 1024.0;
        for (const double y : {x, -x}) {
            add(portable::Exp(y));
            add(portable::Cos(y));
            add(portable::InverseMills(y));
        }
        add(portable::Log(x));
        add(portable::Pow(x, 0.14));
    }
    EXPECT_EQ(hash, 2062927354412808105U);
}

}  // namespace
}  // namespace dpboost
