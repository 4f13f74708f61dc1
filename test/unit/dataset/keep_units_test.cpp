#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "dataset/dataset.h"

namespace dpboost {
namespace {

constexpr size_t kColumns = 2;
NoInterrupt interrupt;

struct Row {
    uint16_t codes[kColumns];
    float label;
    int64_t unit;
    uint16_t weight;
};

Dataset Build(const std::vector<Row>& rows, bool units, bool weights) {
    DatasetBuilder builder({FeatureSpec::Numeric("narrow", {0, 1}), FeatureSpec::Hashed("wide", 1000)},
                           TargetSpec::Binary(), units, {}, weights);
    for (const Row& row : rows) {
        if (builder.Full())
            builder.Grow();
        for (size_t column = 0; column < kColumns; column++)
            builder.SetCode(column, row.codes[column]);
        builder.AppendRow(row.label, UnitKeyOf(row.unit), row.weight);
    }
    return builder.Finish(interrupt);
}

void ExpectSame(const Dataset& a, const Dataset& b) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.blocks(), b.blocks());
    ASSERT_EQ(a.units(), b.units());
    EXPECT_EQ(a.memory_used(), b.memory_used());
    EXPECT_EQ(a.row_unit(), b.row_unit());
    EXPECT_EQ(a.unit_begin(), b.unit_begin());
    EXPECT_EQ(a.unit_rows(), b.unit_rows());
    for (size_t block = 0; block < a.blocks(); block++)
        for (size_t i = 0; i < kBlockRows; i++) {  // also behind the last row
            ASSERT_EQ(a.Codes8(block, 0)[i], b.Codes8(block, 0)[i]);
            ASSERT_EQ(a.Codes16(block, 1)[i], b.Codes16(block, 1)[i]);
        }
    for (size_t row = 0; row < a.rows(); row++) {
        ASSERT_EQ(a.Label(row), b.Label(row));
        ASSERT_EQ(a.Weight(row), b.Weight(row));
    }
}

// What is left equals a dataset that was built of the kept units' rows alone.
TEST(KeepUnits, LeavesWhatWouldHaveBeenReadAlone) {
    std::mt19937_64 random(5);
    for (bool units : {true, false})
        for (size_t count : {size_t{0}, size_t{1}, kBlockRows, 3 * kBlockRows + 17})
            for (unsigned kept_of_8 : {0u, 1u, 4u, 7u, 8u}) {
                std::vector<Row> rows;
                for (size_t i = 0; i < count; i++)
                    rows.push_back(
                        {{static_cast<uint16_t>(random() % 250), static_cast<uint16_t>(random() % 1000)},
                         static_cast<float>(random() % 2),
                         static_cast<int64_t>(units ? random() % (count / 3 + 1) : i),
                         static_cast<uint16_t>(random() % (kFullWeight + 1))});
                const bool weights = kept_of_8 % 2 == 1;
                Dataset all = Build(rows, units, weights);
                std::vector<bool> keep(all.units());
                for (size_t unit = 0; unit < keep.size(); unit++)
                    keep[unit] = random() % 8 < kept_of_8;
                std::vector<Row> left;
                for (size_t i = 0; i < count; i++)
                    if (keep[all.Unit(i)])
                        left.push_back(rows[i]);
                all.KeepUnits(keep, interrupt);
                ExpectSame(all, Build(left, units, weights));
            }
}

TEST(KeepUnits, KeysComeByTheNumbersOfTheirUnits) {
    DatasetBuilder builder({FeatureSpec::Numeric("x", {0, 1})}, TargetSpec::Binary(), true);
    for (int64_t unit : {7, 3, 7, 9, 3}) {
        if (builder.Full())
            builder.Grow();
        builder.SetCode(0, 0);
        builder.AppendRow(0, UnitKeyOf(unit));
    }
    std::vector<UnitKey> keys;
    const Dataset data = builder.Finish(interrupt, &keys);
    ASSERT_EQ(keys.size(), 3u);
    const int64_t units[] = {7, 3, 7, 9, 3};
    for (size_t row = 0; row < 5; row++)
        EXPECT_TRUE(keys[data.Unit(row)] == UnitKeyOf(units[row]));
}

}  // namespace
}  // namespace dpboost
