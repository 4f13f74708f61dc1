#include "dataset/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace dpboost {
namespace {

struct TestRandom {
    uint64_t state = 88172645463325252u;
    uint64_t Next() {
        state ^= state << 13;
        state ^= state >> 7;
        return state ^= state << 17;
    }
    double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
};

uint16_t CodeByDefinition(const FeatureSpec& spec, double value) {
    uint16_t below = 0;
    value = std::min(std::max(value, spec.lower()), spec.upper());
    for (double edge : spec.grid().edges)
        below = static_cast<uint16_t>(below + (edge < value));
    return below;
}

std::vector<FeatureSpec> NumericSpecs() {
    std::vector<FeatureSpec> specs;
    const double bounds[][2] = {{0, 1},           {17, 90}, {0, 99999},     {-5000, 99999},   {-100, 0},
                                {-1e6, -10},      {1, 1e4}, {1e6, 1e6 + 1}, {-8e307, 8e307},  {0, 5e-324},
                                {-1e-300, 1e300}, {5, 5},   {0, 1e-310},    {1e15, 1e15 + 4}, {0.1, 0.3}};
    for (const auto& bound : bounds)
        for (Scale scale : {Scale::kLinear, Scale::kLog, Scale::kAuto})
            for (uint32_t bins : {1u, 2u, 7u, 254u, 1000u})
                for (bool integer : {false, true}) {
                    NumericRange range;
                    range.lower = bound[0];
                    range.upper = bound[1];
                    range.scale = scale;
                    range.bins = bins;
                    range.integer = integer;
                    specs.push_back(FeatureSpec::Numeric("x", range));
                }
    return specs;
}

// Values where a fast search could go wrong: at and next to every edge and bound, and across magnitudes.
std::vector<double> HardValues(const FeatureSpec& spec) {
    std::vector<double> values = {0.0,     -0.0,    DBL_MIN,  -DBL_MIN, 5e-324,
                                  -5e-324, DBL_MAX, -DBL_MAX, 1e308,    -1e308};
    std::vector<double> near = {spec.lower(), spec.upper()};
    size_t stride = std::max<size_t>(1, spec.grid().edges.size() / 50);
    for (size_t j = 0; j < spec.grid().edges.size(); j += stride)
        near.push_back(spec.grid().edges[j]);
    for (double value : near) {
        values.push_back(value);
        values.push_back(std::nextafter(value, INFINITY));
        values.push_back(std::nextafter(value, -INFINITY));
    }
    TestRandom random;
    for (int i = 0; i < 100; i++) {
        values.push_back(spec.lower() + (spec.upper() - spec.lower()) * random.Uniform());
        values.push_back(std::ldexp(random.Uniform() - 0.5, static_cast<int>(random.Next() % 120) - 60));
    }
    return values;
}

TEST(Encoder, NumbersFallIntoTheBinOfTheEdgesExactly) {
    for (const FeatureSpec& spec : NumericSpecs()) {
        Encoder encoder(spec);
        for (double value : HardValues(spec))
            ASSERT_EQ(encoder.Number(value), CodeByDefinition(spec, value))
                << value << " in " << spec.lower() << ".." << spec.upper() << ", " << spec.bins() << " bins";
    }
}

TEST(Encoder, WidestGridIsExactToo) {
    NumericRange range;
    range.bins = kMaxBins;
    for (Scale scale : {Scale::kLinear, Scale::kLog}) {
        range.scale = scale;
        FeatureSpec spec = FeatureSpec::Numeric("x", range);
        Encoder encoder(spec);
        EXPECT_TRUE(spec.wide());
        for (double value : HardValues(spec))
            ASSERT_EQ(encoder.Number(value), CodeByDefinition(spec, value));
    }
}

TEST(Encoder, OddNumbersAreMissing) {
    for (const FeatureSpec& spec : NumericSpecs()) {
        Encoder encoder(spec);
        for (double odd : {static_cast<double>(NAN), -static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL})
            ASSERT_EQ(encoder.Number(odd), spec.missing());
        ASSERT_EQ(encoder.Number(DBL_MAX), encoder.Number(spec.upper()));
        ASSERT_EQ(encoder.Number(-DBL_MAX), 0);
        ASSERT_EQ(encoder.Text("1", 1), spec.missing());
    }
}

TEST(Encoder, LevelsAreFoundAndUnknownTextsAreMissing) {
    std::vector<std::string> levels;
    for (int i = 0; i < 3000; i++)
        levels.push_back(std::string(static_cast<size_t>(i % 23), 'a') + std::to_string(i));
    levels.push_back("");
    levels.push_back(std::string("a\0b", 3));
    FeatureSpec spec = FeatureSpec::Levels("x", levels);
    Encoder encoder(spec);
    for (size_t i = 0; i < levels.size(); i++)
        ASSERT_EQ(encoder.Text(levels[i].data(), levels[i].size()), i);
    EXPECT_EQ(encoder.Text("unknown", 7), spec.missing());
    EXPECT_EQ(encoder.Text("a", 1), spec.missing());
    EXPECT_EQ(encoder.Text("a\0c", 3), spec.missing());
    EXPECT_EQ(encoder.Number(1), spec.missing());
    EXPECT_EQ(encoder.Number(NAN), spec.missing());
}

TEST(Encoder, BooleansAreTheirCodes) {
    Encoder encoder(FeatureSpec::Boolean("x"));
    EXPECT_EQ(encoder.Text("false", 5), 0);
    EXPECT_EQ(encoder.Text("true", 4), 1);
    EXPECT_EQ(encoder.Missing(), 2);
}

TEST(Encoder, HashedTextsSpreadOverAllBuckets) {
    FeatureSpec spec = FeatureSpec::Hashed("x", 64);
    Encoder encoder(spec);
    std::vector<int> counts(64);
    for (int i = 0; i < 64000; i++) {
        std::string text = "value " + std::to_string(i);
        uint16_t code = encoder.Text(text.data(), text.size());
        ASSERT_LT(code, spec.missing());
        counts[code]++;
    }
    for (int count : counts)
        EXPECT_NEAR(count, 1000, 200);  // more than six standard deviations
    EXPECT_EQ(encoder.Number(1), spec.missing());
}

// Stored models depend on these values: they may never change.
TEST(Encoder, HashOfTextIsStable) {
    auto hash = [](const std::string& text) { return HashText(text.data(), text.size()); };
    EXPECT_EQ(hash(""), 7317737457471698532u);
    EXPECT_EQ(hash("a"), 2024801686718026759u);
    EXPECT_EQ(hash("abc"), 6382533046907842469u);
    EXPECT_EQ(hash("abcdefg"), 7215177902308044023u);
    EXPECT_EQ(hash("Married-civ-spouse"), 3956681267423720423u);
}

// Every length, also those that are read by overlapping words, depends on every byte.
TEST(Encoder, HashDependsOnEveryByte) {
    for (size_t size = 1; size < 40; size++) {
        std::string text(size, 'x');
        uint64_t plain = HashText(text.data(), size);
        for (size_t i = 0; i < size; i++) {
            std::string other = text;
            other[i] = 'y';
            ASSERT_NE(HashText(other.data(), size), plain);
        }
        ASSERT_NE(HashText(text.data(), size - 1), plain);
    }
}

}  // namespace
}  // namespace dpboost
