// The exactly rounded Gaussian against its probabilities. Every check has a false-alarm rate of 1e-9
// (statistics.h); the last ones show that a scale wrong by 1 % and a missing tail are found.
#include "mechanism/gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanism/chacha_source.h"
#include "support/draw_key.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

constexpr std::size_t kChunk = 1 << 16;

template <int kFirstDigits, typename Take>
void DrawMany(unsigned char seed, double sigma, std::size_t chunks, Take take) {
    ChaChaSource source(ChaChaSource::Seed{seed});
    Random random(source);
    GaussianSampler<kFirstDigits> sampler(TestDrawKey::Make(), random, GaussianScale::FromSteps(sigma));
    std::vector<int64_t> values(kChunk);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        std::fill(values.begin(), values.end(), 0);
        sampler.AddTo(values.data(), values.size());
        take(values);
    }
}

// Integers in bins of `width` (odd, centred at multiples of it), from -half_bins to half_bins; the last ones
// hold the tails. P(k) = Phi((k + 1/2) / sigma) - Phi((k - 1/2) / sigma).
struct Bins {
    int64_t width;
    int64_t half_bins;
    double per_value;
    std::vector<uint64_t> counts;

    Bins(double sigma, double reach, double per_sigma)
        : width(std::max<int64_t>(1, 2 * static_cast<int64_t>(sigma / per_sigma / 2) + 1)),
          half_bins(static_cast<int64_t>(std::ceil(reach * sigma / static_cast<double>(width)))),
          per_value(1 / static_cast<double>(width)),
          counts(static_cast<std::size_t>(2 * half_bins + 1)) {}

    void Count(int64_t value) {
        const int64_t shifted = value + width * half_bins + width / 2;
        // The half keeps the quotient away from whole numbers by more than the product rounds.
        const int64_t bin = static_cast<int64_t>((static_cast<double>(shifted) + 0.5) * per_value);
        ++counts[static_cast<std::size_t>(std::max<int64_t>(0, std::min(bin, 2 * half_bins)))];
    }

    std::vector<double> Probabilities(double sigma) const {
        std::vector<double> probabilities;
        for (int64_t bin = -half_bins; bin <= half_bins; ++bin) {
            // By symmetry from the upper tail, which is accurate where it is small.
            const double from =
                (static_cast<double>(std::abs(bin)) - 0.5) * static_cast<double>(width) / sigma;
            const double to = from + static_cast<double>(width) / sigma;
            const bool last = std::abs(bin) == half_bins;
            probabilities.push_back(NormalUpperTail(from) - (last ? 0 : NormalUpperTail(to)));
        }
        return probabilities;
    }
};

template <int kFirstDigits>
ChiSquareResult TestFit(unsigned char seed, double drawn_sigma, double claimed_sigma, std::size_t chunks) {
    Bins bins(claimed_sigma, 5, 20);
    DrawMany<kFirstDigits>(seed, drawn_sigma, chunks, [&](const std::vector<int64_t>& values) {
        for (const int64_t value : values) {
            bins.Count(value);
        }
    });
    return ChiSquare(bins.counts, bins.Probabilities(claimed_sigma));
}

TEST(GaussianFit, AtEveryScale) {
    unsigned char seed = 1;
    for (const double sigma : {0.3, 0.5, 1.0, 12.6875, 1000.0, 1048577.375, 1099511627776.0}) {
        const ChiSquareResult result = TestFit<51>(seed++, sigma, sigma, 32);  // 2.1 million draws each
        EXPECT_TRUE(result.Passes()) << "sigma " << sigma << ": " << result.statistic << " > "
                                     << result.limit;
    }
}

// With 4 first digits nearly every draw takes the exact path behind the fast one, at every scale.
TEST(GaussianFit, OfTheExactPathAlone) {
    unsigned char seed = 21;
    for (const double sigma : {0.3, 1.0, 12.6875, 1048577.375, 1099511627776.0}) {
        const ChiSquareResult result = TestFit<4>(seed++, sigma, sigma, 12);
        EXPECT_TRUE(result.Passes()) << "sigma " << sigma << ": " << result.statistic << " > "
                                     << result.limit;
    }
}

// 50 million draws at one scale: the body, the tail that begins at 3.16 sigma in fine bins, and what is
// beyond.
TEST(GaussianFit, OfTheTails) {
    constexpr int64_t kSigma = 1048576;
    constexpr std::size_t kChunks = 768;
    Bins bins(kSigma, 5.2, 40);
    uint64_t beyond5 = 0;
    uint64_t beyond6 = 0;
    DrawMany<51>(31, kSigma, kChunks, [&](const std::vector<int64_t>& values) {
        for (const int64_t value : values) {
            bins.Count(value);
            const int64_t size = std::abs(value);
            beyond5 += size > 5 * kSigma;
            beyond6 += size > 6 * kSigma;
        }
    });
    const ChiSquareResult result = ChiSquare(bins.counts, bins.Probabilities(kSigma));
    EXPECT_TRUE(result.Passes()) << result.statistic << " > " << result.limit;
    const double n = kChunks * kChunk;
    EXPECT_TRUE(IsPlausibleRareCount(static_cast<double>(beyond5), 2 * n * NormalUpperTail(5))) << beyond5;
    EXPECT_TRUE(IsPlausibleRareCount(static_cast<double>(beyond6), 2 * n * NormalUpperTail(6))) << beyond6;
}

TEST(GaussianFit, NoBiasRightVarianceNoCorrelation) {
    constexpr double kSigma = 65536;
    constexpr std::size_t kChunks = 64;
    double sum = 0, squares = 0, fourth = 0;
    std::vector<double> lagged(5), lagged_squares(5);
    DrawMany<51>(41, kSigma, kChunks, [&](const std::vector<int64_t>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double x = static_cast<double>(values[i]) / kSigma;
            sum += x;
            squares += x * x;
            fourth += x * x * x * x;
            for (std::size_t lag = 1; lag < lagged.size() && lag <= i; ++lag) {
                const double before = static_cast<double>(values[i - lag]) / kSigma;
                lagged[lag] += x * before;
                lagged_squares[lag] += (x * x - 1) * (before * before - 1);
            }
        }
    });
    const double n = kChunks * kChunk;
    const double root = std::sqrt(n);
    EXPECT_LT(std::abs(sum / root), kNormalLimit);
    EXPECT_LT(std::abs((squares - n) / root) / std::sqrt(2.0), kNormalLimit);
    EXPECT_LT(std::abs((fourth - 3 * n) / root) / std::sqrt(96.0), kNormalLimit);
    for (std::size_t lag = 1; lag < lagged.size(); ++lag) {
        EXPECT_LT(std::abs(lagged[lag] / root), kNormalLimit) << lag;
        EXPECT_LT(std::abs(lagged_squares[lag] / root) / 2, kNormalLimit) << lag;
    }
}

// At a large scale the lowest digits are uniform, whatever the cell: a lattice coarser than claimed would
// show here.
TEST(GaussianFit, LowDigitsAreUniform) {
    std::vector<uint64_t> counts(1024);
    DrawMany<51>(51, 1099511627776.0, 32, [&](const std::vector<int64_t>& values) {
        for (const int64_t value : values) {
            ++counts[static_cast<uint64_t>(value) & 1023];
        }
    });
    EXPECT_TRUE(ChiSquare(counts, std::vector<double>(1024, 1.0 / 1024)).Passes());
}

TEST(GaussianFit, FindsAScaleWrongByOnePercent) {
    for (const double sigma : {1.0, 1048576.0}) {
        EXPECT_FALSE(TestFit<51>(61, sigma * 1.01, sigma, 48).Passes()) << sigma;
        EXPECT_FALSE(TestFit<51>(62, sigma * 0.99, sigma, 48).Passes()) << sigma;
    }
}

TEST(GaussianFit, FindsAMissingTail) {
    const double mean = 2 * 768 * double{kChunk} * NormalUpperTail(5);
    EXPECT_FALSE(IsPlausibleRareCount(0, mean));
    EXPECT_FALSE(IsPlausibleRareCount(4 * mean, mean));
}

}  // namespace
}  // namespace dpboost
