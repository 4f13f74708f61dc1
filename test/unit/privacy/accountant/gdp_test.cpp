#include "privacy/accountant/gdp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "unit/privacy/reference_table.h"

namespace dpboost {
namespace {

using Row = std::vector<double>;

TEST(Gdp, AgreesWithReferenceTables) {
    ExpectReference("gdp_delta_of_eps.csv", 1e-10, [](const Row& row) { return GdpDelta(row[0], row[1]); });
    ExpectReference("gdp_eps_of_delta.csv", 1e-10, [](const Row& row) { return GdpEpsilon(row[0], row[1]); });
    ExpectReference("gdp_mu_of_eps_delta.csv", 1e-10, [](const Row& row) { return GdpMu(row[0], row[1]); });
}

TEST(Gdp, InversesRoundAgainstTheSpender) {
    for (double epsilon : {1e-3, 0.02, 0.1, 1.0, 7.0, 50.0, 1000.0})
        for (double delta : {1e-12, 5e-8, 1e-5, 0.1}) {
            const double mu = GdpMu(epsilon, delta);
            EXPECT_LE(GdpDelta(mu, epsilon), delta);
            EXPECT_GT(GdpDelta(mu * (1 + 1e-9), epsilon), delta);
            const double back = GdpEpsilon(mu, delta);
            EXPECT_LE(GdpDelta(mu, back), delta);
            EXPECT_NEAR(back / epsilon, 1, 1e-8);
        }
}

TEST(Gdp, BothFormsOfDeltaAgreeWhereTheyMeet) {
    for (double epsilon : {0.0, 0.3, 2.0, 6.0})
        EXPECT_NEAR(GdpDelta(1.0, epsilon) / GdpDelta(1.0 + 1e-12, epsilon), 1, 1e-10);
}

TEST(Gdp, LargeDeltaNeedsNoEpsilon) {
    EXPECT_EQ(GdpEpsilon(0.1, 0.2), 0);
}

TEST(Gdp, RefusesBadInput) {
    EXPECT_ERROR(GdpMu(0, 1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpMu(-1, 1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpMu(NAN, 1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpMu(INFINITY, 1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpMu(1, 0), kInvalidParameter);
    EXPECT_ERROR(GdpMu(1, 1), kInvalidParameter);
    EXPECT_ERROR(GdpMu(1, NAN), kInvalidParameter);
    EXPECT_ERROR(GdpEpsilon(0, 1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpEpsilon(1, -1e-6), kInvalidParameter);
    EXPECT_ERROR(GdpDelta(NAN, 1), kInvalidParameter);
    EXPECT_ERROR(GdpDelta(1, -1), kInvalidParameter);
}

TEST(Gdp, TheQuickEpsilonIsJustAbove) {
    for (double delta : {1e-12, 1e-6, 8e-7, 1e-3})
        for (double mu = 1e-6; mu < 20; mu *= 1.37) {
            const double exact = GdpEpsilon(mu, delta);
            const double quick = GdpEpsilonAbove(mu, delta);
            EXPECT_GE(quick, exact * (1 - 1e-12)) << mu << " " << delta;
            EXPECT_LE(quick, exact * (1 + 3e-12) + 3e-13) << mu << " " << delta;
        }
}

}  // namespace
}  // namespace dpboost
