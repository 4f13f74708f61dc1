#include "dataset/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"

namespace dpboost {
namespace {

// The bin of a value, by definition.
size_t BinOf(const Grid& grid, double value) {
    size_t below = 0;
    for (double edge : grid.edges)
        below += edge < value;
    return below;
}

NumericRange Range(double lower, double upper, Scale scale, bool integer = false,
                   uint32_t bins = kDefaultBins) {
    return {lower, upper, scale, bins, integer};
}

TEST(Grid, LinearBinsAreEquallyWide) {
    Grid grid = MakeGrid(Range(0, 1, Scale::kLinear, false, 64));
    ASSERT_EQ(grid.bins(), 64u);
    EXPECT_TRUE(grid.uniform);
    for (size_t j = 0; j < grid.edges.size(); j++)
        EXPECT_DOUBLE_EQ(grid.edges[j], static_cast<double>(j + 1) / 64);
}

TEST(Grid, FewIntegersGetABinEach) {
    for (Scale scale : {Scale::kAuto, Scale::kLinear, Scale::kLog}) {
        Grid grid = MakeGrid(Range(17, 90, scale, true));
        ASSERT_EQ(grid.bins(), 74u);
        for (int value = 17; value <= 90; value++)
            EXPECT_EQ(BinOf(grid, value), static_cast<size_t>(value - 17));
    }
}

TEST(Grid, ManyIntegersNeverShareAnEdge) {
    for (double upper : {300.0, 1000.0, 99999.0, 1e9}) {
        for (Scale scale : {Scale::kAuto, Scale::kLinear, Scale::kLog}) {
            Grid grid = MakeGrid(Range(0, upper, scale, true));
            ASSERT_EQ(grid.bins(), kDefaultBins);
            for (size_t j = 0; j < grid.edges.size(); j++) {
                EXPECT_EQ(grid.edges[j], std::floor(grid.edges[j]) + 0.5);
                EXPECT_GT(grid.edges[j], j == 0 ? 0 : grid.edges[j - 1]);
                EXPECT_LT(grid.edges[j], upper);
            }
        }
    }
}

TEST(Grid, AutoKeepsNarrowRangesLinear) {
    EXPECT_TRUE(MakeGrid(Range(0, 1, Scale::kAuto)).uniform);
    EXPECT_TRUE(MakeGrid(Range(0, 3, Scale::kAuto)).uniform);
    EXPECT_TRUE(MakeGrid(Range(17, 90, Scale::kAuto)).uniform);
    EXPECT_TRUE(MakeGrid(Range(36.5, 42, Scale::kAuto)).uniform);
}

TEST(Grid, AutoResolvesSmallValuesOfWideRanges) {
    // Percentages as in Spambase: 0 alone, and each of the small decades in several bins, while the top half
    // of the range keeps nearly a quarter of all bins.
    Grid grid = MakeGrid(Range(0, 100, Scale::kAuto));
    EXPECT_EQ(BinOf(grid, 0), 0u);
    EXPECT_GT(BinOf(grid, 1e-9), 0u);
    EXPECT_GT(BinOf(grid, 0.1) - BinOf(grid, 0.01), 20u);
    EXPECT_GT(BinOf(grid, 1) - BinOf(grid, 0.1), 25u);
    EXPECT_GT(BinOf(grid, 10) - BinOf(grid, 1), 35u);
    EXPECT_GT(BinOf(grid, 100) - BinOf(grid, 50), 55u);
    // Capital gains as in Adult.
    grid = MakeGrid(Range(0, 99999, Scale::kAuto, true));
    EXPECT_EQ(BinOf(grid, 0), 0u);
    EXPECT_EQ(BinOf(grid, 1), 1u);
    EXPECT_GT(BinOf(grid, 10000) - BinOf(grid, 1000), 30u);
    // Run lengths from 1 on: the smallest value alone.
    grid = MakeGrid(Range(1, 10000, Scale::kAuto));
    EXPECT_EQ(BinOf(grid, 1), 0u);
    EXPECT_EQ(BinOf(grid, 1.0001), 1u);
}

TEST(Grid, LogFollowsMagnitudes) {
    Grid grid = MakeGrid(Range(1, 10000, Scale::kLog, false, 41));
    EXPECT_EQ(grid.edges[0], 1);
    for (int decade = 0; decade < 4; decade++)
        EXPECT_NEAR(
            static_cast<double>(BinOf(grid, std::pow(10, decade + 1)) - BinOf(grid, std::pow(10, decade))),
            10, 1);
    grid = MakeGrid(Range(0, 100, Scale::kLog, false, 128));
    EXPECT_EQ(BinOf(grid, 0), 0u);
    EXPECT_NEAR(static_cast<double>(BinOf(grid, 100) - BinOf(grid, 10)), 127 / 4.0, 2);
}

TEST(Grid, ZeroInsideARangeHasABinOfItsOwn) {
    for (Scale scale : {Scale::kAuto, Scale::kLog}) {
        Grid grid = MakeGrid(Range(-5000, 99999, scale));
        ASSERT_EQ(grid.bins(), kDefaultBins);
        EXPECT_LT(BinOf(grid, -1e-300), BinOf(grid, 0));
        EXPECT_LT(BinOf(grid, 0), BinOf(grid, 1e-300));
        EXPECT_EQ(BinOf(grid, -0.0), BinOf(grid, 0.0));
        EXPECT_LT(BinOf(grid, -100), BinOf(grid, -10));
    }
    Grid grid = MakeGrid(Range(-100, 0, Scale::kAuto));
    EXPECT_EQ(BinOf(grid, 0), grid.bins() - 1);
    EXPECT_LT(BinOf(grid, -1e-300), grid.bins() - 1);
}

TEST(Grid, AnyLegalRangeGivesOrderedEdgesWithinIt) {
    const double values[] = {-8e307, -1e9, -5000, -1, -1e-300, 0, 5e-324, 1e-300, 0.1, 1, 100, 1e9, 8e307};
    for (double lower : values) {
        for (double upper : values) {
            for (Scale scale : {Scale::kLinear, Scale::kLog, Scale::kAuto}) {
                for (uint32_t bins : {1u, 2u, 3u, 5u, 254u}) {
                    for (bool integer : {false, true}) {
                        if (lower > upper)
                            continue;
                        Grid grid = MakeGrid(Range(lower, upper, scale, integer, bins));
                        ASSERT_LE(grid.bins(), bins);
                        if (!integer && lower < upper) {
                            ASSERT_EQ(grid.bins(), bins);
                        }
                        ASSERT_TRUE(std::is_sorted(grid.edges.begin(), grid.edges.end()));
                        for (double edge : grid.edges)
                            ASSERT_TRUE(edge >= lower && edge <= upper)
                                << lower << " " << upper << " " << edge;
                    }
                }
            }
        }
    }
}

TEST(Grid, RefusesWhatIsNoRange) {
    auto code_of = [](const NumericRange& range) {
        try {
            MakeGrid(range);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::kInternal;
    };
    EXPECT_EQ(code_of(Range(1, 0, Scale::kAuto)), ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(Range(NAN, 0, Scale::kAuto)), ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(Range(0, INFINITY, Scale::kAuto)), ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(Range(-DBL_MAX, DBL_MAX, Scale::kAuto)), ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(Range(0, 1, Scale::kAuto, false, 0)), ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(Range(0, 1, Scale::kAuto, false, kMaxBins + 1)), ErrorCode::kInvalidParameter);
    NumericRange range;
    range.decades = NAN;
    EXPECT_EQ(code_of(range), ErrorCode::kInvalidParameter);
}

}  // namespace
}  // namespace dpboost
