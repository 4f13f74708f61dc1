// Private bounds: the range that is found holds the bulk of the values, costs what the plan says whatever the
// number of columns, counts a unit once, and recoding keeps values, labels and units.
#include "training/private_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/current_interrupt.h"
#include "dataset/encoder.h"
#include "mechanism/chacha_source.h"
#include "support/json.h"
#include "support/zero_noise.h"
#include "unit/training/column.h"

namespace dpboost {
namespace {

Plan BoundsPlan(size_t columns, double epsilon = 1) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = 1e-6;
    request.mechanisms.push_back(PrivateBoundsRequest(columns));
    return Plan::Calibrate(request);
}

struct Row {
    std::vector<double> values;
    int64_t unit = 0;
};

Dataset MakeDataset(size_t columns, const std::vector<Row>& rows, bool has_units) {
    std::vector<FeatureSpec> features;
    std::vector<Encoder> encoders;
    for (size_t i = 0; i < columns; i++) {
        features.push_back(AnyNumberSpec("f" + std::to_string(i + 1)));
        encoders.emplace_back(features.back());
    }
    DatasetBuilder builder(features, TargetSpec::Binary(), has_units);
    for (const Row& row : rows) {
        if (builder.Full())
            builder.Grow();
        for (size_t i = 0; i < columns; i++)
            builder.SetCode(i, encoders[i].Number(row.values[i]));
        builder.AppendRow(row.unit % 2 == 0 ? 1.0f : 0.0f, UnitKeyOf(row.unit));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

std::vector<Row> OneColumn(const std::vector<std::pair<double, int>>& values_and_counts) {
    std::vector<Row> rows;
    for (const auto& [value, count] : values_and_counts)
        for (int i = 0; i < count; i++)
            rows.push_back({{value}, static_cast<int64_t>(rows.size())});
    return rows;
}

Bounds FindOne(const std::vector<Row>& rows, NoiseSource& noise, bool has_units = false) {
    const Dataset dataset = MakeDataset(1, rows, has_units);
    Plan plan = BoundsPlan(1);
    NoInterrupt interrupt;
    Releaser releaser(plan, noise);
    const Bounds bounds = FindBounds(dataset, {0}, releaser, interrupt)[0];
    EXPECT_TRUE(plan.Finished());
    return bounds;
}

TEST(PrivateBoundsTest, PowersOfTwoAroundTheBulk) {
    ZeroNoise noise;
    Bounds bounds = FindOne(OneColumn({{17, 3000}, {40, 3000}, {89, 3000}}), noise);
    EXPECT_EQ(bounds.lower, 16);
    EXPECT_EQ(bounds.upper, 128);
    bounds = FindOne(OneColumn({{-300, 3000}, {0, 3000}, {0.3, 3000}}), noise);
    EXPECT_EQ(bounds.lower, -512);
    EXPECT_EQ(bounds.upper, 0.5);
    bounds = FindOne(OneColumn({{0, 3000}, {1e6, 3000}}), noise);
    EXPECT_EQ(bounds.lower, 0);
    EXPECT_EQ(bounds.upper, 1 << 20);
}

TEST(PrivateBoundsTest, AFewOutliersDoNotStandOut) {
    ZeroNoise noise;
    const Bounds bounds = FindOne(OneColumn({{10, 5000}, {1e15, 3}, {-1e15, 3}}), noise);
    EXPECT_EQ(bounds.lower, 8);
    EXPECT_EQ(bounds.upper, 16);
}

TEST(PrivateBoundsTest, NothingToSee) {
    ZeroNoise noise;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& rows : {std::vector<Row>{}, OneColumn({{nan, 5000}}), OneColumn({{0, 5000}})}) {
        const Bounds bounds = FindOne(rows, noise);
        EXPECT_EQ(bounds.lower, -1);
        EXPECT_EQ(bounds.upper, 1);
    }
}

TEST(PrivateBoundsTest, AUnitCountsOnce) {
    std::vector<Row> rows = OneColumn({{10, 5000}});
    for (Row& row : rows)
        row.unit += 1000;
    for (int i = 0; i < 50000; i++)  // one person with very many rows
        rows.push_back({{1e9}, 7});
    ZeroNoise noise;
    EXPECT_EQ(FindOne(rows, noise, true).upper, 16);
    EXPECT_GT(FindOne(rows, noise, false).upper, 1e9);
}

TEST(PrivateBoundsTest, NoiseGrowsWithTheRootOfTheColumns) {
    const Plan one = BoundsPlan(1), many = BoundsPlan(16);
    const double steps_one = one.ScaleInSteps(one.Find(kPrivateBoundsMechanism), 0);
    const double steps_many = many.ScaleInSteps(many.Find(kPrivateBoundsMechanism), 0);
    EXPECT_NEAR(steps_many / steps_one, 4, 1e-6);
    // Whatever its L2 sensitivity, it is one Gaussian event at the multiplier that (1, 1e-6) allows.
    EXPECT_NEAR(one.NoiseMultiplier(0), many.NoiseMultiplier(0), 1e-6);
}

TEST(PrivateBoundsTest, RealNoiseFindsARangeOfALargeTable) {
    ChaChaSource source(ChaChaSource::Seed{1, 2, 3});
    Random random(source);
    ExactNoise noise(random);
    const Bounds bounds = FindOne(OneColumn({{17, 2000}, {40, 2000}, {89, 2000}}), noise);
    EXPECT_EQ(bounds.lower, 16);
    EXPECT_EQ(bounds.upper, 128);
}

TEST(PrivateBoundsTest, RecodingKeepsValuesLabelsAndUnits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Row> rows = {{{3, 17}, 5}, {{nan, 64}, 6}, {{-9, 1e30}, 5}, {{0, nan}, 8}};
    Dataset dataset = MakeDataset(2, rows, true);
    std::vector<FeatureSpec> features = dataset.features();
    NumericRange range;
    range.lower = 16;
    range.upper = 128;
    range.scale = Scale::kLinear;
    range.bins = 7;
    features[1] = FeatureSpec::Numeric("f2", range);
    const std::vector<uint16_t> untouched = {dataset.Code(0, 0), dataset.Code(1, 0), dataset.Code(2, 0)};
    NoInterrupt interrupt;
    const Dataset recoded = Recode(std::move(dataset), features, {1}, {}, interrupt);
    ASSERT_EQ(recoded.rows(), 4u);
    for (size_t row = 0; row < 3; row++)
        EXPECT_EQ(recoded.Code(row, 0), untouched[row]);
    EXPECT_EQ(recoded.Code(0, 1), 0);
    EXPECT_NEAR(recoded.Code(1, 1), 2.5,
                0.6);                  // 64 is an edge; the fine cell around it may lie on either side
    EXPECT_EQ(recoded.Code(2, 1), 6);  // clamped
    EXPECT_EQ(recoded.Code(3, 1), features[1].missing());
    EXPECT_EQ(recoded.units(), 3u);
    EXPECT_EQ(recoded.Unit(0), recoded.Unit(2));
    EXPECT_NE(recoded.Unit(0), recoded.Unit(1));
    EXPECT_EQ(recoded.Label(1), 1.0f);
    EXPECT_EQ(recoded.Label(0), 0.0f);
}

TEST(PrivateBoundsTest, FineGridTellsMagnitudesApart) {
    const FeatureSpec spec = AnyNumberSpec("x");
    const Encoder encoder(spec);
    for (double value : {1e-6, 0.01, 1.0, 37.0, 12345.678, 9.9e12, 3e17}) {
        EXPECT_NEAR(spec.CellCenter(encoder.Number(value)) / value, 1, 0.01) << value;
        EXPECT_NEAR(spec.CellCenter(encoder.Number(-value)) / value, -1, 0.01) << value;
    }
}

// Making the edges of a column takes milliseconds, and there may be hundreds: a cancel is heard between them.
TEST(PrivateBoundsTest, ACancelIsHeardBeforeRowsAreRead) {
    struct Count final : Interrupt {
        void Poll() override { polls++; }
        int polls = 0;
    } interrupt;
    const InterruptScope scope(interrupt);
    const std::vector<PublicColumn> columns = {Column("a", ValueKind::kFloat8),
                                               Column("b", ValueKind::kFloat8)};
    const TrainingOptions options = ParseOptions(*Json("{\"epsilon\": 1, \"bounds\": \"private\"}"), {});
    EncodeFeatures(columns, options, false, "target");
    EXPECT_GE(interrupt.polls, 2);
}

}  // namespace
}  // namespace dpboost
