#include "mechanism/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {
namespace {

TEST(NoiseScale, RoundsUpToItsUnit) {
    const double unit = std::ldexp(1.0, -20);
    EXPECT_EQ(GaussianScale::FromSteps(1).units(), uint64_t{1} << 20);
    EXPECT_EQ(GaussianScale::FromSteps(unit).units(), 1u);
    EXPECT_EQ(GaussianScale::FromSteps(1 + unit / 1000).units(), (uint64_t{1} << 20) + 1);
    EXPECT_EQ(GaussianScale::FromSteps(5e-324).units(), 1u);
    EXPECT_EQ(GaussianScale::FromSteps(std::ldexp(1.0, 40)).units(), GaussianScale::kMaxUnits);
    EXPECT_GE(LaplaceScale::FromSteps(0.1).steps(), 0.1);
    EXPECT_LT(LaplaceScale::FromSteps(0.1).steps(), 0.1 + unit);
}

template <typename Scale>
void ExpectRefused(double steps) {
    try {
        Scale::FromSteps(steps);
        ADD_FAILURE() << steps << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
    }
}

TEST(NoiseScale, RefusesWhatIsNoScale) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double too_large = std::nextafter(std::ldexp(1.0, 40), infinity);
    for (const double bad :
         {0.0, -0.0, -1.0, too_large, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        ExpectRefused<GaussianScale>(bad);
        ExpectRefused<LaplaceScale>(bad);
        ExpectRefused<SelectionScale>(bad);
    }
    EXPECT_THROW(GaussianScale::FromUnits(0), Error);
    EXPECT_THROW(GaussianScale::FromUnits(GaussianScale::kMaxUnits + 1), Error);
    EXPECT_EQ(GaussianScale::FromUnits(GaussianScale::kMaxUnits).units(), GaussianScale::kMaxUnits);
}

}  // namespace
}  // namespace dpboost
