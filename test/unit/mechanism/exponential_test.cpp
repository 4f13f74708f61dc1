#include "mechanism/exponential.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "support/draw_key.h"
#include "support/scripted_source.h"

namespace dpboost {
namespace {

class ExponentialTest : public testing::Test {
  protected:
    std::size_t Draw(const std::vector<int64_t>& utilities, SelectionScale temperature) {
        return ExponentialSampler(TestDrawKey::Make(), random_, temperature)
            .Draw(utilities.data(), utilities.size(), &bars_);
    }

    ChaChaSource source_{ChaChaSource::Seed{1}};
    Random random_{source_};
    std::vector<uint64_t> bars_;
};

TEST_F(ExponentialTest, OneCandidateIsChosen) {
    EXPECT_EQ(Draw({-5}, SelectionScale::FromSteps(1)), 0u);
}

TEST_F(ExponentialTest, ExtremeUtilitiesChooseTheBest) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(Draw({INT64_MIN, INT64_MAX, 0}, SelectionScale::FromUnits(1)), 1u);
        EXPECT_EQ(Draw({INT64_MIN, 3, INT64_MIN}, SelectionScale::FromUnits(SelectionScale::kMaxUnits)), 1u);
    }
}

TEST_F(ExponentialTest, RefusesBadCounts) {
    EXPECT_THROW(Draw({}, SelectionScale::FromSteps(1)), Error);
    const std::vector<int64_t> many(ExponentialSampler::kMaxCandidates + 1);
    EXPECT_THROW(Draw(many, SelectionScale::FromSteps(1)), Error);
}

TEST_F(ExponentialTest, LargestCount) {
    const std::vector<int64_t> many(ExponentialSampler::kMaxCandidates);
    EXPECT_LT(Draw(many, SelectionScale::FromSteps(1)), many.size());
}

// Two candidates, T = 1, gap 1: bars of 2^40 + 1 and ceil(2^40 / e) units. The unit of the second bar that
// contains 1 / e is decided by the digits of v, and by as many limbs as it takes.
TEST_F(ExponentialTest, DecidesPointsNextToTheWeight) {
    // 1/e = 5e2d58d8b3 . bcdf1abadec7829054f90dda9805aab56c77333024b9d0... times 2^-40 (hexadecimal)
    const uint64_t level = 0x5e2d58d8b3;
    const uint64_t bar = (uint64_t{1} << 40) + 1;
    const uint64_t total = bar + level + 1;
    // Below(total) = point for the word ceil(point 2^64 / total) + 1.
    const uint64_t point = bar + level;
    const uint64_t word = static_cast<uint64_t>((static_cast<unsigned __int128>(point) << 64) / total) + 2;
    const uint64_t first = 0xbcdf1abadec78290;
    const uint64_t second = 0x54f90dda9805aab5;
    const auto draw = [&](uint64_t digits) {
        // The difference shows with 148 bits, so v gets four limbs. After a rejection the last word chooses
        // 0.
        ScriptedSource source({word, first, digits, 0, 0, uint64_t{1} << 62});
        Random random(source);
        const int64_t utilities[] = {1, 0};
        return ExponentialSampler(TestDrawKey::Make(), random, SelectionScale::FromSteps(1))
            .Draw(utilities, 2, &bars_);
    };
    EXPECT_EQ(draw(second - (uint64_t{1} << 20)), 1u);
    EXPECT_EQ(draw(second + (uint64_t{1} << 20)), 0u);
}

}  // namespace
}  // namespace dpboost
