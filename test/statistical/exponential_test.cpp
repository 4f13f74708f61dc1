// The exponential mechanism against its probabilities; false-alarm rate 1e-9 per check.
#include "mechanism/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mechanism/chacha_source.h"
#include "support/draw_key.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

ChiSquareResult TestFit(unsigned char seed, const std::vector<int64_t>& utilities, double drawn,
                        double claimed, int draws) {
    ChaChaSource source(ChaChaSource::Seed{seed});
    Random random(source);
    ExponentialSampler sampler(TestDrawKey::Make(), random, SelectionScale::FromSteps(drawn));
    std::vector<uint64_t> counts(utilities.size());
    std::vector<uint64_t> bars;
    for (int i = 0; i < draws; ++i) {
        ++counts[sampler.Draw(utilities.data(), utilities.size(), &bars)];
    }
    std::vector<double> weights;
    double total = 0;
    for (const int64_t utility : utilities) {
        weights.push_back(std::exp(static_cast<double>(utility) / claimed));
        total += weights.back();
    }
    for (double& weight : weights) {
        weight /= total;
    }
    return ChiSquare(counts, weights);
}

TEST(ExponentialFit, FewCandidates) {
    const std::vector<int64_t> utilities = {0, 1000, -3000, 2000, 2000, 1999, -20000, 500, 1234, -777, 3, 1};
    EXPECT_TRUE(TestFit(1, utilities, 1000, 1000, 200000).Passes());
    EXPECT_TRUE(TestFit(2, utilities, 333.125, 333.125, 200000).Passes());
    EXPECT_TRUE(TestFit(3, {0, 1}, 0.5, 0.5, 200000).Passes());
    EXPECT_TRUE(TestFit(4, {-7, -7, -7, -7, -7}, 2, 2, 200000).Passes());
}

TEST(ExponentialFit, ManyCandidates) {
    std::vector<int64_t> utilities;
    for (int i = 0; i < 2000; ++i) {
        utilities.push_back((i * 7919) % 5000);
    }
    EXPECT_TRUE(TestFit(5, utilities, 800, 800, 4000).Passes());
}

TEST(ExponentialFit, FindsATemperatureWrongByOnePercent) {
    const std::vector<int64_t> utilities = {0, 1000, 3000, 4000, 6000};
    EXPECT_FALSE(TestFit(6, utilities, 1010, 1000, 1000000).Passes());
}

}  // namespace
}  // namespace dpboost
