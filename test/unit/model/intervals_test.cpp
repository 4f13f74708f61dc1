// Intervals from a histogram of residuals: they hold what they say, are wider where noise is large, and stay in the range.
#include "model/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

double NormalBelow(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// Residuals with that distribution function on the label's scale.
Model ModelWith(double (*below)(double), double rows, double sd, const TargetSpec& target, Link link) {
    NumericRange range;
    Model model({FeatureSpec::Numeric("x", range)}, target, link);
    Evidence evidence;
    evidence.residuals.emplace();
    evidence.residuals->lower = -1;
    evidence.residuals->upper = 1;
    ChaChaSource source = TestSource(9);
    Random stream(source);
    PublicRandom random(stream);
    for (int k = 0; k < 64; k++) {
        double noise = -6;
        for (int i = 0; i < 12; i++)
            noise += random.Fraction();
        evidence.residuals->counts.push_back(
            static_cast<float>(rows * (below((k + 1) / 32.0 - 1) - below(k / 32.0 - 1)) + sd * noise));
    }
    evidence.residuals->count_sd = static_cast<float>(sd);
    model.SetEvidence(evidence);
    return model;
}

double Narrow(double x) {
    return NormalBelow(x / 0.15);
}
double Skewed(double x) {
    return x < -0.09375 ? 0 : 1 - std::exp(-(x + 0.09375) / 0.1);  // from the end of a bin
}

TEST(Intervals, HoldWhatTheySayWithoutNoise) {
    for (double (*below)(double) : {&Narrow, &Skewed}) {
        const Intervals intervals(
            ModelWith(below, 10000, 1e-3, TargetSpec::Regression(-1, 1), Link::kIdentity));
        for (const double level : {0.5, 0.8, 0.9, 0.95}) {
            const Intervals::Ends ends = intervals.Around(0, level);
            EXPECT_NEAR(below(ends.upper) - below(ends.lower), level, 0.02);
            EXPECT_NEAR(below(ends.lower), (1 - level) / 2, 0.02);
        }
    }
}

TEST(Intervals, NoiseMakesThemWider) {
    double before = 0;
    for (const double sd : {1.0, 20.0, 100.0}) {
        const Intervals intervals(
            ModelWith(&Narrow, 4000, sd, TargetSpec::Regression(-1, 1), Link::kIdentity));
        const Intervals::Ends ends = intervals.Around(0, 0.9);
        EXPECT_GE(Narrow(ends.upper) - Narrow(ends.lower), 0.89) << sd;
        EXPECT_GT(ends.upper - ends.lower, before) << sd;
        EXPECT_LT(ends.upper - ends.lower, 1.2) << sd;
        before = ends.upper - ends.lower;
    }
}

TEST(Intervals, StayInTheRangeOnTheTargetsScale) {
    const TargetSpec target = TargetSpec::Logarithmic(0, 999);
    const Intervals intervals(ModelWith(&Narrow, 10000, 1, target, Link::kLog));
    const double half = target.LogWidth() / 2;
    const Intervals::Ends middle = intervals.Around(ToFixed(half), 0.9);
    EXPECT_NEAR(std::log1p(middle.upper) / half - 1, 0.15 * 1.645, 0.03);
    EXPECT_NEAR(std::log1p(middle.lower) / half - 1, -0.15 * 1.645, 0.03);
    for (const double score : {-100.0, 0.0, 3.0, 6.9, 100.0}) {
        const Intervals::Ends ends = intervals.Around(ToFixed(score), 0.99);
        EXPECT_GE(ends.lower, 0);
        EXPECT_LE(ends.upper, 999);
        EXPECT_LE(ends.lower, ends.upper);
    }
}

}  // namespace
}  // namespace dpboost
