// Rows reach the dataset as they were put into the buffer, and trainings share the memory limit.
#include "training/row_buffer.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/thrown.h"

namespace dpboost {
namespace {

FeatureSpec Number(const char* name) {
    NumericRange range;
    range.lower = 0;
    range.upper = 99;
    range.integer = true;
    return FeatureSpec::Numeric(name, range);
}

TEST(RowBufferTest, ColumnsLieOneBehindTheOther) {
    const RowBuffer buffer({Number("a"), FeatureSpec::Boolean("b"), Number("c"), FeatureSpec::Hashed("d")},
                           true);
    EXPECT_EQ(buffer.columns[0].numbers, buffer.numbers.data());
    EXPECT_EQ(buffer.columns[2].numbers, buffer.numbers.data() + RowBuffer::kRows);
    EXPECT_EQ(buffer.columns[1].codes, buffer.codes.data());
    EXPECT_EQ(buffer.columns[3].codes, buffer.codes.data() + RowBuffer::kRows);
    EXPECT_EQ(buffer.columns[0].codes, nullptr);
    EXPECT_EQ(buffer.columns[1].numbers, nullptr);
    EXPECT_EQ(buffer.bytes(), RowBuffer::kRows * (2 * 8 + 2 * 2 + 4 + sizeof(UnitKey)));
    EXPECT_TRUE(RowBuffer({Number("a")}, false).units.empty());
}

TEST(RowBufferTest, AppendsPartsOfItself) {
    const std::vector<FeatureSpec> features = {Number("a"), FeatureSpec::Boolean("b")};
    const std::vector<Encoder> encoders = {Encoder(features[0]), Encoder(features[1])};
    RowBuffer buffer(features, true);
    for (size_t row = 0; row < RowBuffer::kRows; row++) {
        buffer.columns[0].numbers[row] =
            row == 7 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(row);
        buffer.columns[1].codes[row] = static_cast<uint16_t>(row % 3);  // 2 is missing
        buffer.labels[row] = static_cast<float>(row % 2);
        buffer.units[row] = UnitKeyOf(static_cast<int64_t>(row / 2));
    }
    DatasetBuilder builder(features, TargetSpec::Binary(), true);
    builder.Grow();
    buffer.Append(encoders, 5, 10, builder);
    buffer.Append(encoders, 90, 20, builder);
    NoInterrupt interrupt;
    const Dataset dataset = builder.Finish(interrupt);
    ASSERT_EQ(dataset.rows(), 30u);
    for (size_t i = 0; i < 30; i++) {
        const size_t row = i < 10 ? 5 + i : 80 + i;
        EXPECT_EQ(dataset.Code(i, 0), row == 7 ? 100 : std::min<size_t>(row, 99)) << row;
        EXPECT_EQ(dataset.Code(i, 1), row % 3);
        EXPECT_EQ(dataset.Label(i), static_cast<float>(row % 2));
    }
    EXPECT_EQ(dataset.Unit(1), dataset.Unit(2));
    EXPECT_NE(dataset.Unit(0), dataset.Unit(1));
}

TEST(HeldMemoryTest, TrainingsOfAProcessShareTheLimit) {
    const std::string refused =
        "the trainings of this query need more than dpboost.max_memory | Each group trains a model of its "
        "own, and their rows "
        "are held at the same time. | Ask a superuser to raise \"dpboost.max_memory\", or train fewer groups "
        "at a time.";
    HeldMemory first(100, false);
    first.Count(60);
    {
        HeldMemory second(100, false);
        second.Count(40);
        EXPECT_EQ(Thrown([&] { second.Count(41); }), refused);
        EXPECT_EQ(CodeOf([&] { second.Count(41); }), ErrorCode::kOutOfMemory);
        EXPECT_EQ(Thrown([&] { first.Count(61); }), refused);
        second.Count(30);  // what was refused was not counted
        first.Count(70);
    }
    EXPECT_EQ(Thrown([&] { first.Count(100); }), "no error");  // the second is gone
    EXPECT_EQ(Thrown([&] { first.Count(101); }), refused);
}

// Or the caller could fill the memory with rows of his own and learn how many others there are.
TEST(HeldMemoryTest, ATrainingOnUnseenRowsHasTheLimitForItself) {
    HeldMemory own(100, false), unseen(100, true);
    own.Count(90);
    unseen.Count(100);
    EXPECT_EQ(CodeOf([&] { unseen.Count(101); }), ErrorCode::kOutOfMemory);
    EXPECT_EQ(CodeOf([&] { own.Count(91); }), ErrorCode::kOutOfMemory);  // seen ones count all
}

}  // namespace
}  // namespace dpboost
