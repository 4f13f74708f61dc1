#include "mechanism/laplace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mechanism/chacha_source.h"
#include "support/draw_key.h"

namespace dpboost {
namespace {

TEST(Laplace, BernoulliExpOfZeroIsCertain) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(BernoulliExp(random, 0, 5));
    }
}

TEST(Laplace, TinyAndLargestScales) {
    ChaChaSource source(ChaChaSource::Seed{2});
    Random random(source);
    std::vector<int64_t> values(1000, 0);
    LaplaceSampler(TestDrawKey::Make(), random, LaplaceScale::FromUnits(1)).AddTo(values.data(), 1000);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0), 1000);
    LaplaceSampler(TestDrawKey::Make(), random, LaplaceScale::FromUnits(LaplaceScale::kMaxUnits))
        .AddTo(values.data(), 1000);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GT(*least, -(int64_t{1} << 46));
    EXPECT_LT(*most, int64_t{1} << 46);
    EXPECT_LT(*least, 0);
    EXPECT_GT(*most, 0);
}

TEST(Laplace, SaturatesInsteadOfOverflowing) {
    ChaChaSource source(ChaChaSource::Seed{3});
    Random random(source);
    std::vector<int64_t> values(64, INT64_MAX);
    LaplaceSampler(TestDrawKey::Make(), random, LaplaceScale::FromSteps(1e9)).AddTo(values.data(), 64);
    for (const int64_t value : values) {
        EXPECT_GT(value, INT64_MAX - 1000000000000);
    }
}

}  // namespace
}  // namespace dpboost
