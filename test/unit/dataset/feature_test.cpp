#include "dataset/feature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "dataset/encoder.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

std::vector<FeatureSpec> Examples() {
    NumericRange age{17, 90, Scale::kAuto, kDefaultBins, true};
    NumericRange gain{0, 99999, Scale::kAuto, kDefaultBins, true};
    NumericRange balance{-5000, 1e6, Scale::kLog, 300};
    NumericRange one{3, 3};
    return {FeatureSpec::Numeric("age", age),         FeatureSpec::Numeric("gain", gain),
            FeatureSpec::Numeric("balance", balance), FeatureSpec::Numeric("one", one),
            FeatureSpec::Numeric("length", {0, 1}),   FeatureSpec::Levels("sex", {"F", "I", "M"}),
            FeatureSpec::Boolean("smoker"),           FeatureSpec::Hashed("city", 500)};
}

TEST(Feature, BytesRoundTrip) {
    for (const FeatureSpec& spec : Examples()) {
        ByteWriter out;
        spec.Write(out);
        ByteReader in(out.bytes());
        FeatureSpec again = FeatureSpec::Read(in);
        EXPECT_EQ(in.left(), 0u);
        EXPECT_TRUE(again == spec) << spec.name();
        EXPECT_EQ(again.grid().edges, spec.grid().edges);
    }
}

TEST(Feature, TruncatedBytesAreCorrupted) {
    for (const FeatureSpec& spec : Examples()) {
        ByteWriter out;
        spec.Write(out);
        for (size_t size = 0; size < out.bytes().size(); size++) {
            EXPECT_EQ(CodeOf([&] {
                          ByteReader in(std::string_view(out.bytes()).substr(0, size));
                          FeatureSpec::Read(in);
                      }),
                      ErrorCode::kCorrupted);
        }
    }
}

TEST(Feature, CellsAreBinsAndMissing) {
    FeatureSpec spec = Examples()[0];
    EXPECT_EQ(spec.bins(), 74u);
    EXPECT_EQ(spec.cells(), 75u);
    EXPECT_EQ(spec.missing(), 74);
    EXPECT_FALSE(spec.wide());
    EXPECT_TRUE(FeatureSpec::Hashed("x", 256).wide());
    EXPECT_FALSE(FeatureSpec::Hashed("x", 255).wide());
    EXPECT_FALSE(FeatureSpec::Numeric("x", {0, 100}).wide());
}

TEST(Feature, CentersLieInTheirCellsAndEncodeToThem) {
    for (const FeatureSpec& spec : Examples()) {
        if (!spec.ordered())
            continue;
        Encoder encoder(spec);
        for (uint32_t code = 0; code < spec.bins(); code++) {
            double center = spec.CellCenter(code);
            EXPECT_EQ(encoder.Number(center), code) << spec.name() << " " << center;
            EXPECT_LE(spec.CellLower(code), center);
            EXPECT_GE(spec.CellUpper(code), center);
        }
        EXPECT_EQ(spec.CellCenter(spec.missing()), (spec.lower() + spec.upper()) / 2);
        EXPECT_EQ(spec.CellLower(0), spec.lower());
        EXPECT_EQ(spec.CellUpper(spec.bins() - 1), spec.upper());
    }
}

TEST(Feature, CentersOfIntegersAreIntegersWhereBinsAreSingle) {
    FeatureSpec age = Examples()[0], gain = Examples()[1];
    for (uint32_t code = 0; code < age.bins(); code++)
        EXPECT_EQ(age.CellCenter(code), 17 + code);
    EXPECT_EQ(gain.CellCenter(0), 0);
    EXPECT_EQ(gain.CellCenter(1), 1);
}

TEST(Feature, CentersOfLevelsAreFinite) {
    FeatureSpec spec = Examples()[5];
    for (uint32_t code = 0; code < spec.cells() + 3; code++)
        EXPECT_EQ(spec.CellCenter(code), 0);
}

TEST(Feature, RefusesWrongDeclarations) {
    EXPECT_EQ(CodeOf([] { FeatureSpec::Levels("x", {}); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([] { FeatureSpec::Levels("x", {"a", "b", "a"}); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([] { FeatureSpec::Levels("x", std::vector<std::string>(kMaxBins + 1)); }),
              ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([] { FeatureSpec::Hashed("x", 0); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([] { FeatureSpec::Hashed("x", kMaxBins + 1); }), ErrorCode::kInvalidParameter);
    try {
        FeatureSpec::Numeric("age", {90, 17});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "invalid domain of feature \"age\"");
        EXPECT_EQ(error.detail(), "Lower bound must not be greater than upper bound.");
    }
}

}  // namespace
}  // namespace dpboost
