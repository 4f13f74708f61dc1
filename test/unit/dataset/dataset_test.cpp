#include "dataset/dataset.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"

namespace dpboost {
namespace {

std::vector<FeatureSpec> Features() {
    return {FeatureSpec::Numeric("narrow", {0, 1}), FeatureSpec::Hashed("wide", 1000),
            FeatureSpec::Levels("level", {"a", "b"})};
}

uint16_t Code(size_t row, size_t column) {
    const uint32_t cells[] = {255, 1001, 3};
    return static_cast<uint16_t>((row * 7 + column * 13) % cells[column]);
}

Dataset Build(size_t rows, bool units, const std::vector<UnitKey>& keys = {}) {
    DatasetBuilder builder(Features(), TargetSpec::Binary(), units);
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t column = 0; column < 3; column++)
            builder.SetCode(column, Code(row, column));
        builder.AppendRow(static_cast<float>(row % 2), units ? keys[row] : UnitKey{});
    }
    NoInterrupt no_interrupt;
    return builder.Finish(no_interrupt);
}

TEST(Dataset, KeepsEveryCodeAndLabel) {
    for (size_t rows :
         {size_t{0}, size_t{1}, kBlockRows - 1, kBlockRows, kBlockRows + 1, 3 * kBlockRows + 5}) {
        Dataset data = Build(rows, false);
        ASSERT_EQ(data.rows(), rows);
        ASSERT_EQ(data.units(), rows);
        ASSERT_EQ(data.blocks(), (rows + kBlockRows - 1) / kBlockRows);
        size_t counted = 0;
        for (size_t block = 0; block < data.blocks(); block++)
            counted += data.block_rows(block);
        ASSERT_EQ(counted, rows);
        for (size_t row = 0; row < rows; row++) {
            uint16_t codes[3];
            data.CopyRow(row, codes);
            for (size_t column = 0; column < 3; column++) {
                ASSERT_EQ(data.Code(row, column), Code(row, column));
                ASSERT_EQ(codes[column], Code(row, column));
            }
            ASSERT_EQ(data.Label(row), static_cast<float>(row % 2));
            ASSERT_EQ(data.Unit(row), row);
        }
    }
}

TEST(Dataset, ColumnsAreAlignedAndPaddedWithZeros) {
    Dataset data = Build(kBlockRows + 3, false);
    for (size_t block = 0; block < data.blocks(); block++) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data.Codes8(block, 0)) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data.Codes16(block, 1)) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data.Codes8(block, 2)) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data.Labels(block)) % 64, 0u);
    }
    EXPECT_FALSE(data.wide(0));
    EXPECT_TRUE(data.wide(1));
    for (size_t i = 3; i < kBlockRows; i++) {
        ASSERT_EQ(data.Codes8(1, 0)[i], 0);
        ASSERT_EQ(data.Codes16(1, 1)[i], 0);
        ASSERT_EQ(data.Labels(1)[i], 0);
    }
}

TEST(Dataset, SkippedRowsLeaveNothing) {
    DatasetBuilder builder(Features(), TargetSpec::Binary(), false);
    builder.Grow();
    for (uint16_t code : {uint16_t{1}, uint16_t{2}, uint16_t{0}}) {
        for (size_t column = 0; column < 3; column++)
            builder.SetCode(column, code);
        if (code != 2)
            builder.AppendRow(1);
    }
    for (size_t column = 0; column < 3; column++)
        builder.SetCode(column, 2);  // a last row that is skipped
    NoInterrupt no_interrupt;
    Dataset data = builder.Finish(no_interrupt);
    ASSERT_EQ(data.rows(), 2u);
    EXPECT_EQ(data.Code(0, 1), 1);
    EXPECT_EQ(data.Code(1, 1), 0);
    for (size_t column : {0, 2})
        EXPECT_EQ(data.Codes8(0, column)[2], 0);
    EXPECT_EQ(data.Codes16(0, 1)[2], 0);
}

TEST(Dataset, CodesBeyondTheCellsAreMissing) {
    DatasetBuilder builder(Features(), TargetSpec::Binary(), false);
    builder.Grow();
    for (size_t column = 0; column < 3; column++)
        builder.SetCode(column, 65535);
    builder.AppendRow(0);
    NoInterrupt no_interrupt;
    Dataset data = builder.Finish(no_interrupt);
    for (size_t column = 0; column < 3; column++)
        EXPECT_EQ(data.Code(0, column), data.features()[column].missing());
}

TEST(Dataset, RowsAreGroupedByUnit) {
    size_t rows = 2 * kBlockRows + 100;
    std::vector<UnitKey> keys;
    std::map<std::string, std::vector<uint32_t>> expected;
    for (size_t row = 0; row < rows; row++) {
        int64_t person = static_cast<int64_t>((row * row) % 997);
        keys.push_back(UnitKeyOf(person));
        expected[std::to_string(person)].push_back(static_cast<uint32_t>(row));
    }
    Dataset data = Build(rows, true, keys);
    ASSERT_TRUE(data.has_units());
    ASSERT_EQ(data.units(), expected.size());
    ASSERT_EQ(data.unit_rows().size(), rows);
    for (const auto& [name, members] : expected) {
        uint32_t unit = data.Unit(members[0]);
        std::vector<uint32_t> found(data.unit_rows().begin() + data.unit_begin()[unit],
                                    data.unit_rows().begin() + data.unit_begin()[unit + 1]);
        ASSERT_EQ(found, members);
        for (uint32_t row : members)
            ASSERT_EQ(data.Unit(row), unit);
    }
}

TEST(Dataset, UnitsWithoutRows) {
    Dataset data = Build(0, true);
    EXPECT_EQ(data.units(), 0u);
    EXPECT_EQ(data.rows(), 0u);
}

TEST(Dataset, RefusesToOutgrowTheMemoryLimit) {
    for (bool units : {false, true}) {
        DatasetLimits limits;
        limits.memory = 1 << 20;
        DatasetBuilder builder(Features(), TargetSpec::Binary(), units, limits);
        size_t blocks = 0;
        try {
            for (; blocks < 1000; blocks++)
                builder.Grow();
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
            EXPECT_NE(error.hint().find("dpboost.max_memory"), std::string::npos);
            EXPECT_EQ(error.detail(), "The limit is 1024 kB.");
        }
        EXPECT_GT(blocks, 2u);
        EXPECT_LE(builder.memory_used(), limits.memory);
    }
}

TEST(Dataset, LearnersAskForTheirMemory) {
    DatasetLimits limits;
    limits.memory = 1 << 20;
    DatasetBuilder builder(Features(), TargetSpec::Binary(), false, limits);
    builder.Grow();
    NoInterrupt no_interrupt;
    Dataset data = builder.Finish(no_interrupt);
    EXPECT_NO_THROW(data.RequireMemory(1000));
    EXPECT_NO_THROW(data.RequireMemory(limits.memory - data.memory_used()));
    EXPECT_THROW(data.RequireMemory(limits.memory - data.memory_used() + 1), Error);
    EXPECT_THROW(data.RequireMemory(SIZE_MAX), Error);
}

// Two bytes per value and 32 per row, with 16 of them for the learner's state.
TEST(Dataset, MemoryStaysWithinThePromise) {
    std::vector<FeatureSpec> features;
    for (int i = 0; i < 10; i++)
        features.push_back(FeatureSpec::Numeric("f" + std::to_string(i), {0, 1}));
    size_t rows = 4 * kBlockRows;
    DatasetLimits limits;
    limits.memory = rows * (2 * features.size() + 32);
    DatasetBuilder builder(features, TargetSpec::Binary(), true, limits);
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        builder.AppendRow(0, UnitKeyOf(static_cast<int64_t>(row)));
    }
    NoInterrupt no_interrupt;
    Dataset data = builder.Finish(no_interrupt);
    EXPECT_LE(data.memory_used() + 16 * rows, limits.memory);
}

class CancelAtOnce final : public Interrupt {
  public:
    void Poll() override { throw Error(ErrorCode::kCanceled, "canceled"); }
};

TEST(Dataset, NumberingUnitsCanBeCanceled) {
    DatasetBuilder builder(Features(), TargetSpec::Binary(), true);
    builder.Grow();
    builder.AppendRow(0, UnitKeyOf(int64_t{1}));
    CancelAtOnce cancel;
    EXPECT_THROW(builder.Finish(cancel), Error);
}

}  // namespace
}  // namespace dpboost
