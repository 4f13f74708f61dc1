// Many rows at once give what each row gives by itself, in every vector form; and the pairs that look strongest on some rows
// are the strongest.
#include "model/explain/forest/forest_shapley.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/explain/explain.h"
#include "model/explain/forest/forest_pairs.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

std::vector<Model> Forests() {
    std::vector<Model> forests;
    for (uint64_t seed = 0; seed < 4; seed++) {
        forests.push_back(RandomModel(SmallFeatures(), 30, 9, seed));
        forests.push_back(RandomClassModel(SmallFeatures(), 3, 10, 6, seed));
        if (seed % 2 == 0)
            for (size_t i = 0; i < 2; i++)
                forests[2 * seed + i].SetEvidence(RandomEvidence(forests[2 * seed + i], seed));
    }
    return forests;
}

TEST(ForestShapley, ManyRowsAreThatManyTimesOneRow) {
    NoInterrupt interrupt;
    for (const Model& model : Forests()) {
        const ReferenceMasses masses(model);
        TreeShapley trees(model, masses, interrupt, nullptr);
        const size_t features = model.features().size(), outputs = model.outputs();
        std::vector<uint16_t> rows = masses.DrawEvenly(model, kRowsAtOnce, interrupt);
        for (size_t f = 0; f < features; f++)
            rows[3 * features + f] = 65535;  // missing, which the reference may not have
        const std::vector<float> many = ForestShapley(model, trees, rows.data(), interrupt);
        EXPECT_EQ(many, ForestShapley(model, trees, rows.data(), interrupt, Simd::kPortable));
        std::vector<double> values(features * outputs), variances(values.size());
        for (size_t row = 0; row < kRowsAtOnce; row++) {
            std::fill(values.begin(), values.end(), 0.0);
            trees.Add(rows.data() + row * features, interrupt, values.data(), variances.data());
            for (size_t at = 0; at < values.size(); at++)
                ASSERT_NEAR(static_cast<double>(many[at * kRowsAtOnce + row]), values[at], 100)
                    << "row " << row;  // of sums of millions, in single precision
        }
    }
}

// The means of a feature's codes are those of the reference, however few rows are drawn.
TEST(ForestShapley, RowsAreSpreadEvenly) {
    NoInterrupt interrupt;
    Model model = RandomModel(SmallFeatures(), 1, 1, 5);
    const ReferenceMasses masses(model);
    const std::vector<uint16_t> rows = masses.DrawEvenly(model, 64, interrupt);
    for (size_t f = 0; f < 3; f++) {
        std::vector<double> counts(model.features()[f].cells(), 0.0);
        for (size_t row = 0; row < 64; row++)
            counts[rows[row * 4 + f]]++;
        for (size_t code = 0; code < counts.size(); code++)
            EXPECT_NEAR(counts[code], 64 * masses.of(f)[code], 1) << f;
    }
}

TEST(ForestPairs, LikelyPairsHoldTheStrongest) {
    NoInterrupt interrupt;
    for (const Model& model : Forests()) {
        const ReferenceMasses masses(model);
        const std::vector<FeaturePair> all = PairsOf({0, 1, 2, 3});
        ASSERT_EQ(all.size(), 6u);
        std::vector<CodeParts> parts;
        for (uint16_t feature = 0; feature < 4; feature++)
            parts.push_back(PartsOf(model, masses, feature));
        const std::vector<FeaturePair> likely = LikelyPairs(model, masses, all, parts, 4, interrupt);
        ASSERT_EQ(likely.size(), 4u);
        EXPECT_EQ(LikelyPairs(model, masses, all, parts, 6, interrupt), all);
        if (model.outputs() > 1)
            continue;
        const PairEffect strongest = StrongestPairs(model, masses, all, parts, 1, interrupt)[0][0];
        const PairEffect found = StrongestPairs(model, masses, likely, parts, 1, interrupt)[0][0];
        EXPECT_GE(found.size, 0.8 * strongest.size);
    }
}

// Measured on the way or later: the same pictures.
TEST(ForestPairs, AskedForBeforeOrAfter) {
    NoInterrupt interrupt;
    for (const Model& model : Forests()) {
        Explainer later(model, interrupt), before(model, interrupt, true);
        ASSERT_TRUE(later.is_forest());
        for (size_t output = 0; output < model.outputs(); output++) {
            const std::vector<Interaction> a = later.Interactions(output), b = before.Interactions(output);
            ASSERT_EQ(a.size(), b.size());
            for (size_t i = 0; i < a.size(); i++) {
                EXPECT_EQ(a[i].features, b[i].features);
                EXPECT_EQ(a[i].contributions, b[i].contributions);
            }
        }
    }
}

}  // namespace
}  // namespace dpboost
