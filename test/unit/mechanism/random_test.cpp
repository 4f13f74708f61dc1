#include "mechanism/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "support/scripted_source.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

TEST(SamplingRate, RoundsUpToTheGrid) {
    const double grid = std::ldexp(1.0, -32);
    EXPECT_EQ(SamplingRate::FromProbability(0.25).numerator(), uint64_t{1} << 30);
    EXPECT_EQ(SamplingRate::FromProbability(1e-300).numerator(), 1u);
    EXPECT_EQ(SamplingRate::FromProbability(grid).numerator(), 1u);
    EXPECT_EQ(SamplingRate::FromProbability(grid * 1.0000001).numerator(), 2u);
    EXPECT_TRUE(SamplingRate::FromProbability(1.0).IsAll());
    EXPECT_TRUE(SamplingRate::FromProbability(1 - 1e-15).IsAll());
    EXPECT_GE(SamplingRate::FromProbability(0.1).value(), 0.1);
    EXPECT_LT(SamplingRate::FromProbability(0.1).value(), 0.1 + grid);
}

TEST(SamplingRate, RefusesWhatIsNoRate) {
    for (const double bad : {0.0, -0.1, 1.0000001, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(CodeOf([&] { SamplingRate::FromProbability(bad); }), ErrorCode::kInvalidParameter) << bad;
    }
}

TEST(Random, RefusesBadArguments) {
    ScriptedSource source({});
    Random random(source);
    EXPECT_EQ(CodeOf([&] { random.Below(0); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { random.Bernoulli(1, 0); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { random.Bernoulli(3, 2); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { random.PoissonSample(SamplingRate::All(), size_t{1} << 32, nullptr); }),
              ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { random.Permutation(nullptr, size_t{1} << 32); }), ErrorCode::kInvalidParameter);
}

TEST(Random, BelowStaysBelowAndReachesTheEnds) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    for (const uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{10}}) {
        std::vector<int> seen(n);
        for (int i = 0; i < 1000; ++i) {
            const uint64_t value = random.Below(n);
            ASSERT_LT(value, n);
            seen[value] = 1;
        }
        EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), static_cast<int>(n));
    }
    EXPECT_LT(random.Below(UINT64_MAX), UINT64_MAX);
}

TEST(Random, BelowRejectsTheSurplusWords) {
    // n = 2^63 + 1: 2^64 mod n = 2^63 - 1 words are surplus. Word 0 has low half 0 < surplus, so it is
    // rejected; word UINT64_MAX has low half 2^64 - n, not below the surplus: accepted.
    const uint64_t n = (uint64_t{1} << 63) + 1;
    ScriptedSource source({0, UINT64_MAX});
    Random random(source);
    EXPECT_EQ(random.Below(n), n - 1);
}

TEST(Random, BernoulliIsCertainAtTheEnds) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(random.Bernoulli(0, 7));
        EXPECT_TRUE(random.Bernoulli(7, 7));
    }
}

TEST(Random, PermutationIsOne) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    for (const size_t n : {0, 1, 2, 1000}) {
        std::vector<uint32_t> order(n);
        random.Permutation(order.data(), n);
        std::sort(order.begin(), order.end());
        for (size_t i = 0; i < n; ++i) {
            EXPECT_EQ(order[i], i);
        }
    }
}

// The definition, one unit at a time, over the same bytes: a block of 32 first bytes, then 4 bytes for each
// tie.
std::vector<uint32_t> PoissonByDefinition(Random& random, SamplingRate rate, size_t n) {
    std::vector<uint32_t> chosen;
    for (size_t base = 0; base < n; base += 32) {
        std::array<uint64_t, 4> words;
        for (uint64_t& word : words) {
            word = random.Next64();
        }
        unsigned char bytes[32];
        std::memcpy(bytes, words.data(), 32);
        for (size_t i = 0; i < 32 && base + i < n; ++i) {
            uint64_t draw = uint64_t{bytes[i]} << 24;
            if (bytes[i] == rate.numerator() >> 24 && (rate.numerator() & 0xffffff) != 0)
                draw |= random.Next32() >> 8;
            if (draw < rate.numerator())
                chosen.push_back(static_cast<uint32_t>(base + i));
        }
    }
    return chosen;
}

TEST(Random, PoissonSampleIsTheSameByEveryKernel) {
    constexpr uint32_t kCanary = 0xdeadbeef;
    for (const double gamma : {1e-9, 0.001, 1.0 / 256, 0.0039, 0.1, 0.5, 0.7, 0.999, 1.0}) {
        const SamplingRate rate = SamplingRate::FromProbability(gamma);
        for (const size_t n : {0, 1, 7, 31, 32, 33, 64, 95, 1000, 5000}) {
            ChaChaSource a(ChaChaSource::Seed{3});
            ChaChaSource b(ChaChaSource::Seed{3});
            Random fast(a);
            Random portable(b);
            std::vector<uint32_t> fast_out(n + 8, kCanary);
            std::vector<uint32_t> portable_out(n + 8, kCanary);
            for (int round = 0; round < 5; ++round) {
                const size_t count = fast.PoissonSample(rate, n, fast_out.data());
                ASSERT_EQ(count, portable.PoissonSamplePortable(rate, n, portable_out.data()));
                ASSERT_TRUE(std::equal(fast_out.begin(), fast_out.begin() + count, portable_out.begin()));
                for (size_t i = n; i < n + 8; ++i) {
                    ASSERT_EQ(fast_out[i], kCanary) << "wrote past the end";
                }
            }
            EXPECT_EQ(fast.Next64(), portable.Next64()) << "read different bytes";
        }
    }
}

TEST(Random, PoissonSampleMatchesItsDefinition) {
    for (const double gamma : {1e-9, 0.0039, 0.1, 0.5, 0.999}) {
        const SamplingRate rate = SamplingRate::FromProbability(gamma);
        ChaChaSource a(ChaChaSource::Seed{4});
        ChaChaSource b(ChaChaSource::Seed{4});
        Random random(a);
        Random definition(b);
        // 960 units use at most one buffer, so both readers refill at the same place.
        std::vector<uint32_t> out(960);
        out.resize(random.PoissonSample(rate, 960, out.data()));
        EXPECT_EQ(out, PoissonByDefinition(definition, rate, 960)) << gamma;
    }
}

TEST(Random, PoissonSampleOfAllIsAll) {
    ScriptedSource source({});
    Random random(source);
    std::vector<uint32_t> out(100);
    EXPECT_EQ(random.PoissonSample(SamplingRate::All(), 100, out.data()), 100u);
    EXPECT_EQ(out[99], 99u);
}

}  // namespace
}  // namespace dpboost
