// The exactly rounded Laplace against its probabilities; false-alarm rate 1e-9 per check.
#include "mechanism/laplace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mechanism/chacha_source.h"
#include "support/draw_key.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

struct LaplaceDraws {
    std::vector<int64_t> values;

    LaplaceDraws(unsigned char seed, double b, std::size_t n) : values(n) {
        ChaChaSource source(ChaChaSource::Seed{seed});
        Random random(source);
        LaplaceSampler(TestDrawKey::Make(), random, LaplaceScale::FromSteps(b)).AddTo(values.data(), n);
    }
};

// P(|L| > x), halved on each side.
double UpperTail(double x, double b) {
    return 0.5 * std::exp(-x / b);
}

// Bins of `width` (odd) centred at its multiples, up to 12 b; the last ones hold the tails.
ChiSquareResult TestFit(const std::vector<int64_t>& values, double b) {
    const int64_t width = 2 * static_cast<int64_t>(b / 16) + 1;
    const int64_t half_bins = static_cast<int64_t>(12 * b / static_cast<double>(width)) + 1;
    std::vector<uint64_t> counts(static_cast<std::size_t>(2 * half_bins + 1));
    for (const int64_t value : values) {
        const int64_t shifted = value + width * half_bins + width / 2;
        const int64_t bin = shifted < 0 ? 0 : std::min(shifted / width, 2 * half_bins);
        ++counts[static_cast<std::size_t>(bin)];
    }
    std::vector<double> probabilities;
    for (int64_t bin = -half_bins; bin <= half_bins; ++bin) {
        const double from = (static_cast<double>(std::abs(bin)) - 0.5) * static_cast<double>(width);
        const double to = std::abs(bin) == half_bins ? INFINITY : from + static_cast<double>(width);
        probabilities.push_back(bin == 0 ? 1 - 2 * UpperTail(to, b) : UpperTail(from, b) - UpperTail(to, b));
    }
    return ChiSquare(counts, probabilities);
}

TEST(LaplaceFit, AtEveryScale) {
    unsigned char seed = 1;
    for (const double b : {0.40625, 1.0, 3.6875, 65536.25, 1073741824.5}) {
        const LaplaceDraws draws(seed++, b, 400000);
        const ChiSquareResult result = TestFit(draws.values, b);
        EXPECT_TRUE(result.Passes()) << "b " << b << ": " << result.statistic << " > " << result.limit;
    }
}

TEST(LaplaceFit, FindsAScaleWrongByOnePercent) {
    const LaplaceDraws draws(9, 65536 * 1.01, 2000000);
    EXPECT_FALSE(TestFit(draws.values, 65536).Passes());
    EXPECT_TRUE(TestFit(draws.values, 65536 * 1.01).Passes());
}

TEST(LaplaceFit, NoBiasRightVarianceNoCorrelation) {
    const LaplaceDraws draws(10, 65536, 1000000);
    double sum = 0, squares = 0, lagged = 0, signs = 0;
    double before = 0;
    for (const int64_t value : draws.values) {
        const double x = static_cast<double>(value) / 65536;  // variance 2, fourth moment 24
        sum += x;
        squares += x * x;
        lagged += x * before;
        signs += (x > 0) == (before > 0) ? 1 : -1;
        before = x;
    }
    const double n = static_cast<double>(draws.values.size());
    EXPECT_LT(std::abs(sum) / std::sqrt(2 * n), kNormalLimit);
    EXPECT_LT(std::abs(squares - 2 * n) / std::sqrt(20 * n), kNormalLimit);
    EXPECT_LT(std::abs(lagged) / std::sqrt(4 * n), kNormalLimit);
    EXPECT_LT(std::abs(signs) / std::sqrt(n), kNormalLimit);
}

TEST(LaplaceFit, BernoulliExpHasItsProbability) {
    ChaChaSource source(ChaChaSource::Seed{11});
    Random random(source);
    for (const uint64_t numerator : {1, 3, 7}) {
        double heads = 0;
        for (int i = 0; i < 500000; ++i) {
            heads += BernoulliExp(random, numerator, 7);
        }
        EXPECT_LT(std::abs(BinomialZ(heads, 500000, std::exp(-static_cast<double>(numerator) / 7))),
                  kNormalLimit);
    }
}

}  // namespace
}  // namespace dpboost
