// Rows that go from builder to builder as bytes arrive as the same rows, whatever the sizes; and no bytes, damaged or
// forged, lead to a code, a label or a length that a learner could trip over.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "dataset/dataset.h"
#include "support/xorshift.h"

namespace dpboost {
namespace {

std::vector<FeatureSpec> Features() {
    NumericRange narrow, wide;
    narrow.bins = 40;
    wide.bins = 1000;
    return {FeatureSpec::Numeric("a", narrow), FeatureSpec::Numeric("b", wide),
            FeatureSpec::Levels("c", {"x", "y", "z"})};
}

// With units also weights.
DatasetBuilder Builder(const TargetSpec& target, bool units) {
    return DatasetBuilder(Features(), target, units, {}, units);
}

void Fill(DatasetBuilder* builder, size_t rows, uint64_t seed, size_t classes) {
    Xorshift random{88172645463325252U + seed};
    for (size_t row = 0; row < rows; row++) {
        if (builder->Full())
            builder->Grow();
        for (size_t column = 0; column < 3; column++)
            builder->SetCode(column,
                             static_cast<uint16_t>(random.Below(builder->features()[column].missing() + 1U)));
        builder->AppendRow(static_cast<float>(random.Below(static_cast<uint32_t>(classes))),
                           UnitKeyOf(static_cast<int64_t>(random.Below(50))),
                           static_cast<uint16_t>(random.Below(kFullWeight + 1U)));
    }
}

std::string BytesOf(DatasetBuilder* builder) {
    std::string bytes(builder->PartialBytes(), '\0');
    builder->WritePartial(bytes.data());
    return bytes;
}

using Row = std::tuple<std::vector<uint16_t>, float, uint64_t, uint16_t>;

// All rows with their persons, sorted: the order in which parts arrive does not matter.
std::vector<Row> RowsOf(DatasetBuilder* builder) {
    NoInterrupt interrupt;
    std::vector<UnitKey> keys;
    const Dataset dataset = builder->Finish(interrupt, &keys);
    std::vector<Row> rows;
    for (size_t row = 0; row < dataset.rows(); row++) {
        std::vector<uint16_t> codes(dataset.columns());
        dataset.CopyRow(row, codes.data());
        rows.emplace_back(codes, dataset.Label(row), dataset.has_units() ? keys[dataset.Unit(row)].low : 0,
                          dataset.Weight(row));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

void Append(DatasetBuilder* builder, const std::string& bytes) {
    NoInterrupt interrupt;
    builder->AppendPartial(bytes, interrupt, [] {});
}

TEST(PartialRows, PartsGiveTheRowsOfTheWhole) {
    for (const bool units : {false, true}) {
        const TargetSpec target = TargetSpec::Classes({"r", "s", "t", "u"});
        DatasetBuilder whole = Builder(target, units), merged = Builder(target, units);
        uint64_t seed = 1;
        for (const size_t rows :
             {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{9000}, size_t{3}}) {
            DatasetBuilder part = Builder(target, units);
            Fill(&part, rows, seed, 4);
            Fill(&whole, rows, seed, 4);
            Append(&merged, BytesOf(&part));
            EXPECT_EQ(part.memory_used(), 0U);
            seed++;
        }
        EXPECT_EQ(RowsOf(&merged), RowsOf(&whole)) << (units ? "units" : "rows");
    }
}

TEST(PartialRows, DamagedBytesAreRefused) {
    const TargetSpec target = TargetSpec::Classes({"r", "s", "t", "u"});
    DatasetBuilder part = Builder(target, true);
    Fill(&part, 5000, 7, 4);
    const std::string good = BytesOf(&part);
    for (const size_t size : {size_t{0}, size_t{7}, size_t{15}, good.size() / 2, good.size() - 1}) {
        DatasetBuilder merged = Builder(target, true);
        EXPECT_THROW(Append(&merged, good.substr(0, size)), Error) << size;
    }
    DatasetBuilder longer = Builder(target, true);
    EXPECT_THROW(Append(&longer, good + "x"), Error);
    DatasetBuilder other = Builder(target, false);
    EXPECT_THROW(Append(&other, good), Error);
}

// Whether every code, label (one of four classes) and weight is one that a row can have.
bool AreWithinBounds(DatasetBuilder* builder) {
    NoInterrupt interrupt;
    const std::vector<FeatureSpec> features = Features();
    const Dataset dataset = builder->Finish(interrupt);
    std::vector<uint16_t> codes(dataset.columns());
    bool within = true;
    for (size_t row = 0; row < dataset.rows(); row++) {
        dataset.CopyRow(row, codes.data());
        for (size_t column = 0; column < codes.size(); column++)
            within &= codes[column] <= features[column].missing();
        const float label = dataset.Label(row);
        within &= label == 0 || label == 1 || label == 2 || label == 3;
        within &= dataset.Weight(row) <= kFullWeight;
    }
    return within;
}

// Bytes changed at random: either refused, or rows that are within all bounds.
TEST(PartialRows, ForgedBytesStayWithinBounds) {
    const TargetSpec target = TargetSpec::Classes({"r", "s", "t", "u"});
    DatasetBuilder part = Builder(target, true);
    Fill(&part, 4100, 7, 4);
    const std::string good = BytesOf(&part);
    Xorshift random;
    int refused = 0;
    for (int trial = 0; trial < 2000; trial++) {
        std::string bytes = good;
        for (int i = 0; i < 3; i++)
            bytes[random.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(random.Below(256));
        DatasetBuilder merged = Builder(target, true);
        try {
            Append(&merged, bytes);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kCorrupted);
            refused++;
            continue;
        }
        ASSERT_TRUE(AreWithinBounds(&merged)) << trial;
    }
    EXPECT_GT(refused, 500);  // nearly every change to a label, most of those to codes
}

}  // namespace
}  // namespace dpboost
