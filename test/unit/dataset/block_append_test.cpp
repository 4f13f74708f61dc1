// Encoding and appending many rows at once gives what one value and one row at a time give.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dataset/dataset.h"
#include "dataset/encoder.h"

namespace dpboost {
namespace {

std::vector<FeatureSpec> Specs() {
    const double ranges[][2] = {{0, 1}, {17, 90}, {-5, 3}, {0, 1e6}, {-1e300, 1e300}, {1e-9, 2e-9}};
    std::vector<FeatureSpec> specs;
    for (const auto& range : ranges)
        for (Scale scale : {Scale::kLinear, Scale::kLog, Scale::kAuto})
            for (uint32_t bins : {1u, 2u, 254u, 1000u})
                for (bool integer : {false, true})
                    specs.push_back(FeatureSpec::Numeric("x", {range[0], range[1], scale, bins, integer, 4}));
    return specs;
}

// Values around every edge and bound of the spec, and those that are no numbers.
std::vector<double> Values(const FeatureSpec& spec) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> values = {0,     -0.0,   infinity, -infinity,    std::nan(""),
                                  1e308, -1e308, 5e-324,   spec.lower(), spec.upper()};
    for (double edge : spec.grid().edges) {
        values.push_back(edge);
        values.push_back(std::nextafter(edge, infinity));
        values.push_back(std::nextafter(edge, -infinity));
    }
    return values;
}

TEST(BlockAppendTest, NumbersAreNumberByNumber) {
    for (const FeatureSpec& spec : Specs()) {
        const Encoder encoder(spec);
        const std::vector<double> values = Values(spec);
        std::vector<uint16_t> codes(values.size());
        encoder.Numbers(values.data(), values.size(), codes.data());
        for (size_t i = 0; i < values.size(); i++)
            ASSERT_EQ(codes[i], encoder.Number(values[i]))
                << values[i] << " in [" << spec.lower() << ", " << spec.upper() << "]";
    }
}

TEST(BlockAppendTest, BlocksAreRowByRow) {
    NumericRange wide;
    wide.bins = 1000;
    const std::vector<FeatureSpec> features = {FeatureSpec::Numeric("a", {}), FeatureSpec::Numeric("b", wide),
                                               FeatureSpec::Boolean("c")};
    DatasetBuilder by_row(features, TargetSpec::Binary(), true),
        by_block(features, TargetSpec::Binary(), true);
    constexpr size_t kRows = 2 * kBlockRows + 77, kStep = 100;  // steps that end in the middle of a block
    std::vector<uint16_t> codes[3];
    std::vector<float> labels;
    std::vector<UnitKey> units;
    for (size_t row = 0; row < kRows; row++) {
        if (by_row.Full())
            by_row.Grow();
        const uint16_t row_codes[] = {static_cast<uint16_t>(row % 300), static_cast<uint16_t>(row % 1100),
                                      static_cast<uint16_t>(row % 4)};  // some beyond the features' cells
        for (size_t i = 0; i < 3; i++) {
            by_row.SetCode(i, row_codes[i]);
            codes[i].push_back(row_codes[i]);
        }
        labels.push_back(row % 3 == 0 ? 1.0f : 0.0f);
        units.push_back(UnitKeyOf(static_cast<int64_t>(row / 5)));
        by_row.AppendRow(labels.back(), units.back());
    }
    for (size_t done = 0; done < kRows;) {
        if (by_block.Full())
            by_block.Grow();
        const size_t count = std::min({kStep, kRows - done, by_block.room()});
        for (size_t i = 0; i < 3; i++)
            by_block.SetCodes(i, codes[i].data() + done, count);
        by_block.AppendRows(labels.data() + done, units.data() + done, count);
        done += count;
    }
    NoInterrupt interrupt;
    const Dataset a = by_row.Finish(interrupt), b = by_block.Finish(interrupt);
    ASSERT_EQ(a.rows(), kRows);
    ASSERT_EQ(b.rows(), kRows);
    ASSERT_EQ(a.units(), b.units());
    for (size_t row = 0; row < kRows; row++) {
        for (size_t i = 0; i < 3; i++)
            ASSERT_EQ(a.Code(row, i), b.Code(row, i));
        ASSERT_EQ(a.Label(row), b.Label(row));
        ASSERT_EQ(a.Unit(row), b.Unit(row));
    }
}

}  // namespace
}  // namespace dpboost
