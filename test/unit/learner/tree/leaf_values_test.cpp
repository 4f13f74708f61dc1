// Leaf values from noisy sums: the posterior mean against numerical integration, finite and bounded values
// whatever the noise did, and the paper's plain Newton step where noise is small.
#include "learner/tree/leaf_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dataset/target.h"

namespace dpboost {
namespace {

// E[w | w + N(0, sigma^2) = noisy], w exponential, by the trapezoid rule around the posterior's mode.
double Integrated(double noisy, double sigma, double mean) {
    const double center = noisy - sigma * sigma / mean;
    const double low = std::max(0.0, center - 12 * sigma);
    // Far left of zero the posterior falls off like exp(-w |center| / sigma^2).
    const double width = center > -sigma ? 24 * sigma : std::min(24 * sigma, 60 * sigma * sigma / -center);
    const double mode = std::max(0.0, center);
    double mass = 0, moment = 0;
    const int steps = 200000;
    for (int i = 0; i <= steps; i++) {
        const double w = low + width * i / steps;
        const double exponent =
            ((mode - center) * (mode - center) - (w - center) * (w - center)) / (2 * sigma * sigma);
        const double p = std::exp(exponent) * (i == 0 || i == steps ? 0.5 : 1.0);
        mass += p;
        moment += p * w;
    }
    return moment / mass;
}

TEST(LeafValue, PosteriorMeanIsRight) {
    for (const double sigma : {0.5, 3.0, 100.0}) {
        for (const double mean : {0.1, 1.0, 50.0}) {
            for (const double noisy : {-30.0, -8.0, -1.0, 0.0, 0.3, 2.0, 10.0, 40.0}) {
                const double expected = Integrated(noisy * sigma, sigma, mean);
                const double got = PosteriorMean(noisy * sigma, sigma, mean);
                EXPECT_NEAR(got / expected, 1, 1e-4) << noisy << " " << sigma << " " << mean;
                EXPECT_GT(got, 0);
            }
        }
    }
}

// Released sums of one tree's leaves, with noise of the same deviation in both.
NoisySides Released(std::vector<int64_t> gradients, std::vector<int64_t> hessians, double sigma,
                    GradientUnits units) {
    return NoisySides({{std::move(hessians), sigma}, {std::move(gradients), sigma}}, units);
}

TEST(LeafValue, LittleNoiseGivesTheNewtonStep) {
    LeafValues values({LeafPart::kNewton, 0.1, 2.0, 1.0, 0, false});
    const std::vector<int32_t> leaves =
        values.Next(Released({100, -3000}, {4000, 40}, 1e-3, {0.25, 0.5}).All());
    EXPECT_NEAR(FromFixed(leaves[0]), 0.1 * 50.0 / (1000.0 + 2.0), 1e-6);
    EXPECT_NEAR(FromFixed(leaves[1]), -0.1, 1e-6);  // clipped: -1500 / 12 is far below -1
}

TEST(LeafValue, ExtremeSumsGiveBoundedValues) {
    for (const bool shrink : {false, true}) {
        LeafValues values({LeafPart::kNewton, 0.3, 0.0, 2.0, 0, shrink});
        const int64_t big = INT64_MAX;
        for (const int64_t hessian : {-big, int64_t{-1000000}, int64_t{0}, int64_t{1}, big}) {
            for (int tree = 0; tree < 3; tree++) {
                const std::vector<int32_t> leaves = values.Next(
                    Released({big, -big, 0, 12345}, {hessian, hessian, hessian, 0}, 1e6, {1e-5, 1e-5}).All());
                for (const int32_t leaf : leaves)
                    EXPECT_LE(std::fabs(FromFixed(leaf)), 0.6 + 1e-6);
                EXPECT_EQ(leaves[2], 0);
            }
        }
    }
}

TEST(LeafValue, AveragingIsTheMeanLabelOfALeaf) {
    LeafValues values({LeafPart::kAveraging, 0.25, 0, 2, 0.5, true});
    // 3 of 4 rows are positive: the sum of y - 1/2 is 1.
    EXPECT_EQ(values.Next({{1, 4, 0, 0}, {-2, 4, 0, 0}}),
              (std::vector<int32_t>{ToFixed(0.75 / 4), ToFixed(0)}));
}

TEST(LeafValue, NewtonStepIsTheQuotientOfTheSums) {
    const LeafValueOptions options{LeafPart::kNewton, 0.5, 1, 2, 0.5, true};
    EXPECT_EQ(LeafValues(options).Next({{6, 3, 0, 0}, {-3, 2, 0, 0}, {90, 3, 0, 0}}),
              (std::vector<int32_t>{ToFixed(0.5 * 1.5), ToFixed(-0.5), ToFixed(0.5 * 2)}));
    // With noise the step is drawn to zero: v = 12, 12 / (3 * 4) = 1 more in the denominator.
    EXPECT_EQ(LeafValues(options).Next({{6, 3, 12, 0}})[0], ToFixed(0.5 * 6 / 5));
}

}  // namespace
}  // namespace dpboost
