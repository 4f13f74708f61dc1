// Uniform integers, permutations and Poisson samples against their probabilities; false-alarm rate 1e-9 per
// check.
#include "mechanism/random.h"

#include <gtest/gtest.h>

#include <vector>

#include "mechanism/chacha_source.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

TEST(RandomFit, BelowIsUniform) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    for (const uint64_t n : {uint64_t{2}, uint64_t{3}, uint64_t{10}, uint64_t{255}}) {
        std::vector<uint64_t> counts(n);
        for (int i = 0; i < 1000000; ++i) {
            ++counts[random.Below(n)];
        }
        EXPECT_TRUE(ChiSquare(counts, std::vector<double>(n, 1.0 / static_cast<double>(n))).Passes()) << n;
    }
}

// 3 * 2^62 divides 2^64 worst: without rejection, some thirds would come twice as often.
TEST(RandomFit, BelowIsUniformWhereRejectionMatters) {
    ChaChaSource source(ChaChaSource::Seed{2});
    Random random(source);
    std::vector<uint64_t> counts(3), low(3);
    for (int i = 0; i < 300000; ++i) {
        const uint64_t value = random.Below(uint64_t{3} << 62);
        ++counts[value >> 62];
        ++low[value % 3];
    }
    const std::vector<double> thirds(3, 1.0 / 3);
    EXPECT_TRUE(ChiSquare(counts, thirds).Passes());
    EXPECT_TRUE(ChiSquare(low, thirds).Passes());
}

TEST(RandomFit, BernoulliHasItsProbability) {
    ChaChaSource source(ChaChaSource::Seed{3});
    Random random(source);
    double heads = 0;
    for (int i = 0; i < 1000000; ++i) {
        heads += random.Bernoulli(2, 7);
    }
    EXPECT_LT(std::abs(BinomialZ(heads, 1e6, 2.0 / 7)), kNormalLimit);
}

TEST(RandomFit, PermutationsAreEquallyLikely) {
    ChaChaSource source(ChaChaSource::Seed{4});
    Random random(source);
    std::vector<uint64_t> counts(256);
    for (int i = 0; i < 480000; ++i) {
        uint32_t order[4];
        random.Permutation(order, 4);
        ++counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]];
    }
    std::vector<uint64_t> seen;
    for (const uint64_t count : counts) {
        if (count > 0)
            seen.push_back(count);
    }
    ASSERT_EQ(seen.size(), 24u);
    EXPECT_TRUE(ChiSquare(seen, std::vector<double>(24, 1.0 / 24)).Passes());
}

struct PoissonCounts {
    double total = 0;
    std::vector<uint64_t> by_position = std::vector<uint64_t>(64);
    std::vector<double> together = std::vector<double>(65);  // pairs at this distance
};

PoissonCounts CountSamples(unsigned char seed, double gamma, std::size_t n, int rounds) {
    ChaChaSource source(ChaChaSource::Seed{seed});
    Random random(source);
    const SamplingRate rate = SamplingRate::FromProbability(gamma);
    std::vector<uint32_t> out(n);
    std::vector<char> chosen(n + 64);
    PoissonCounts counts;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t count = random.PoissonSample(rate, n, out.data());
        std::fill(chosen.begin(), chosen.end(), 0);
        counts.total += static_cast<double>(count);
        for (std::size_t i = 0; i < count; ++i) {
            chosen[out[i]] = 1;
            ++counts.by_position[out[i] % 64];
        }
        for (std::size_t i = 0; i < count; ++i) {
            for (const std::size_t distance : {1, 2, 8, 31, 32, 64}) {
                counts.together[distance] += chosen[out[i] + distance];
            }
        }
    }
    return counts;
}

// Rates whose top byte is 0, whose remaining bytes are 0, and ordinary ones. Everything a coin reads is
// covered: with 0.0039 most heads are decided by ties.
TEST(RandomFit, PoissonSampleHasItsRateAndIsIndependent) {
    constexpr std::size_t kUnits = 6400;
    constexpr int kRounds = 800;
    const double n = static_cast<double>(kUnits) * kRounds;
    unsigned char seed = 10;
    for (const double gamma : {0.0005, 1.0 / 256, 0.0039, 0.1, 0.25, 0.9}) {
        const PoissonCounts counts = CountSamples(seed++, gamma, kUnits, kRounds);
        EXPECT_LT(std::abs(BinomialZ(counts.total, n, gamma)), kNormalLimit) << gamma;
        EXPECT_TRUE(ChiSquare(counts.by_position, std::vector<double>(64, 1.0 / 64)).Passes()) << gamma;
        for (const int distance : {1, 2, 8, 31, 32, 64}) {
            const double pairs = n - static_cast<double>(distance) * kRounds;
            const double p = gamma * gamma;
            // Variance of the number of pairs, with the covariance of pairs that share a unit.
            const double variance = pairs * (p * (1 - p) + 2 * p * gamma * (1 - gamma));
            const double deviation = counts.together[distance] - pairs * p;
            // Few pairs are judged as rare events, for which a normal limit would be wrong.
            const bool plausible = pairs * p < 100
                                       ? IsPlausibleRareCount(counts.together[distance], pairs * p)
                                       : deviation * deviation < kNormalLimit * kNormalLimit * variance;
            EXPECT_TRUE(plausible) << gamma << " at distance " << distance << ": " << deviation;
        }
    }
}

// The lowest bits of the rate matter: 2^-24 + 2^-25 (heads need a tie and 24 further bits).
TEST(RandomFit, PoissonSampleOfATinyRate) {
    const double gamma = std::ldexp(3.0, -25);
    const PoissonCounts counts = CountSamples(30, gamma, 64000, 1600);
    EXPECT_TRUE(IsPlausibleRareCount(counts.total, 64000 * 1600 * gamma)) << counts.total;
    EXPECT_GT(counts.total, 0);
}

}  // namespace
}  // namespace dpboost
