#include "dataset/target.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {
namespace {

TEST(Target, FixedPointRoundsAndSaturates) {
    EXPECT_EQ(ToFixed(1), 1 << kFixedBits);
    EXPECT_EQ(ToFixed(-1), -(1 << kFixedBits));
    EXPECT_EQ(ToFixed(0.4 / kFixedScale), 0);
    EXPECT_EQ(ToFixed(0.5 / kFixedScale), 1);
    EXPECT_EQ(ToFixed(-0.5 / kFixedScale), -1);
    EXPECT_EQ(ToFixed(1e300), std::numeric_limits<int32_t>::max());
    EXPECT_EQ(ToFixed(-INFINITY), std::numeric_limits<int32_t>::min());
    EXPECT_EQ(ToFixed(NAN), 0);
    EXPECT_EQ(ToFixed(FromFixed(-123456789)), -123456789);
}

TEST(Target, RegressionScalesAndClamps) {
    TargetSpec rings = TargetSpec::Regression(1, 29);
    float label = 9;
    ASSERT_TRUE(rings.Label(1, &label));
    EXPECT_EQ(label, -1);
    ASSERT_TRUE(rings.Label(29, &label));
    EXPECT_EQ(label, 1);
    ASSERT_TRUE(rings.Label(15, &label));
    EXPECT_EQ(label, 0);
    ASSERT_TRUE(rings.Label(-1e308, &label));
    EXPECT_EQ(label, -1);
    ASSERT_TRUE(rings.Label(1e308, &label));
    EXPECT_EQ(label, 1);
    for (double value = 1; value <= 29; value += 0.01) {
        ASSERT_TRUE(rings.Label(value, &label));
        double fixed = static_cast<double>(label) * kFixedScale;
        ASSERT_EQ(fixed, std::round(fixed));
        ASSERT_NEAR(rings.Unscale(label), value, 28 / kFixedScale);
    }
}

TEST(Target, LogarithmsScaleAndComeBack) {
    const TargetSpec amount = TargetSpec::Logarithmic(-5, 999994);
    float label = 9;
    ASSERT_TRUE(amount.Label(-5, &label));
    EXPECT_EQ(label, -1);
    ASSERT_TRUE(amount.Label(1e7, &label));
    EXPECT_EQ(label, 1);
    ASSERT_TRUE(amount.Label(994, &label));  // 1 + 994 + 5 is the root of the width
    EXPECT_NEAR(label, 0, 1e-6);
    for (double value = -5; value < 999994; value = value * 1.1 + 6) {
        ASSERT_TRUE(amount.Label(value, &label));
        ASSERT_NEAR(amount.Unscale(label), value, 14 / kFixedScale * (value + 6));
        ASSERT_NEAR(amount.LinearLabel(label), 2 * (value + 5) / 999999 - 1, 14 / kFixedScale * 2);
    }
    EXPECT_EQ(amount.Unscale(2), 999994);
    EXPECT_EQ(TargetSpec::Regression(1, 29).LinearLabel(0.25), 0.25);
    ByteWriter out;
    amount.Write(out);
    const std::string bytes = out.Take();
    ByteReader in(bytes);
    EXPECT_TRUE(TargetSpec::Read(in, 2) == amount);
    ByteReader old(bytes);
    EXPECT_THROW(TargetSpec::Read(old, 1), Error);
    EXPECT_FALSE(amount == TargetSpec::Regression(-5, 999994));
}

TEST(Target, OddTargetsSkipTheRow) {
    float label = 0;
    for (const TargetSpec& target : {TargetSpec::Regression(0, 1), TargetSpec::Binary()})
        for (double odd : {static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL})
            EXPECT_FALSE(target.Label(odd, &label));
}

TEST(Target, BinaryIsZeroOrOne) {
    float label = 9;
    for (double value : {-5.0, 0.0, 0.5, 0.51, 1.0, 7.0}) {
        ASSERT_TRUE(TargetSpec::Binary().Label(value, &label));
        EXPECT_EQ(label, value > 0.5 ? 1 : 0);
    }
}

TEST(Target, ClassesAreNumbered) {
    const TargetSpec species = TargetSpec::Classes({"setosa", "versicolor", "virginica"});
    EXPECT_EQ(species.classes().size(), 3u);
    float label = 9;
    for (double value : {0.0, 1.0, 2.0}) {
        ASSERT_TRUE(species.Label(value, &label));
        EXPECT_EQ(label, value);
    }
    for (double value : {-1.0, 0.5, 3.0, static_cast<double>(NAN)})
        EXPECT_FALSE(species.Label(value, &label));
    EXPECT_FALSE(species == TargetSpec::Classes({"setosa", "versicolor", "other"}));
    EXPECT_EQ(TargetSpec::Binary("no", "yes").classes()[1], "yes");
    EXPECT_FALSE(TargetSpec::Binary("no", "yes") == TargetSpec::Binary());
    EXPECT_THROW(TargetSpec::Classes({"a", "b"}), Error);
    EXPECT_THROW(TargetSpec::Classes({"a", "b", "a"}), Error);
    EXPECT_THROW(TargetSpec::Classes(std::vector<std::string>(65, "a")), Error);
    EXPECT_THROW(TargetSpec::Binary("yes", "yes"), Error);
}

TEST(Target, PredictionsStayInTheRange) {
    TargetSpec rings = TargetSpec::Regression(1, 29);
    EXPECT_EQ(rings.Unscale(-7), 1);
    EXPECT_EQ(rings.Unscale(7), 29);
    EXPECT_EQ(rings.Unscale(0), 15);
    EXPECT_EQ(rings.Unscale(NAN), 1);
}

TEST(Target, RefusesRangesThatAreNone) {
    EXPECT_THROW(TargetSpec::Regression(1, 1), Error);
    EXPECT_THROW(TargetSpec::Regression(2, 1), Error);
    EXPECT_THROW(TargetSpec::Regression(NAN, 1), Error);
    EXPECT_THROW(TargetSpec::Regression(0, INFINITY), Error);
    EXPECT_THROW(TargetSpec::Regression(-1.7e308, 1.7e308), Error);
}

}  // namespace
}  // namespace dpboost
