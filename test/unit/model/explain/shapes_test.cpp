// Explanations of whole models against plain computations: main effects and interactions against sums over all rows that
// there can be, importances and bands by hand, and how cells are called.
#include "model/explain/explain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model/labels/cell_label.h"
#include "unit/model/explain/small_models.h"

namespace dpboost {
namespace {

TEST(Explain, ShapesAreMainEffects) {
    for (const bool classes : {false, true}) {
        const Model model = ManyTrees(2, classes);
        NoInterrupt interrupt;
        Explainer explainer(model, interrupt);
        const size_t output = model.outputs() - 1;
        const std::vector<uint16_t> nobody(4, 0);
        const double mean = MeanGiven(model, explainer.masses(), nobody, 0, output);
        for (size_t f = 0; f < 4; f++) {
            const std::vector<ShapeCell> shape = explainer.Shape(f, output);
            ASSERT_EQ(shape.size(), model.features()[f].cells());
            for (const ShapeCell& cell : shape) {
                std::vector<uint16_t> row(4, 0);
                row[f] = static_cast<uint16_t>(cell.code);
                const double given = MeanGiven(model, explainer.masses(), row, 1U << f, output);
                EXPECT_NEAR(cell.contribution, (given - mean) * explainer.unit(), 2 * explainer.unit());
            }
        }
    }
}

// Also where the reference has no rows: with declared ranges nothing is missing, and yet missing has a shape. Parts of codes
// without mass are such values as well.
TEST(Explain, ShapesAndPairsWithoutMass) {
    const Model model = RandomModel(FewCells(), 40, 6, 7);
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    ASSERT_TRUE(explainer.is_forest());
    const double mean = MeanGiven(model, explainer.masses(), {0, 0, 0, 0}, 0, 0);
    const auto given = [&](std::vector<uint16_t> row, unsigned subset) {
        return (MeanGiven(model, explainer.masses(), row, subset, 0) - mean) * explainer.unit();
    };
    for (size_t f = 0; f < 4; f++) {
        const uint16_t missing = model.features()[f].missing();
        ASSERT_EQ(explainer.masses().of(f)[missing], 0);
        const std::vector<uint16_t> row(4, missing);
        EXPECT_NEAR(explainer.Shape(f)[missing].contribution, given(row, 1U << f), 2 * explainer.unit());
    }
    for (const Interaction& pair : explainer.Interactions()) {
        std::vector<uint16_t> row;
        for (const FeatureSpec& feature : model.features())
            row.push_back(feature.missing());
        const size_t a = pair.features[0], b = pair.features[1];
        EXPECT_NEAR(pair.contributions.back(),
                    given(row, 1U << a | 1U << b) - given(row, 1U << a) - given(row, 1U << b),
                    5 * explainer.unit());
    }
}

// A model whose figures can be done by hand: tables of two features, known histograms and bands.
Model HandMade() {
    Model model(
        {FeatureSpec::Numeric("age", {0, 40, Scale::kLinear, 4}), FeatureSpec::Levels("sex", {"F", "M"})},
        TargetSpec::Regression(10, 30), Link::kIdentity);
    const int32_t one = ToFixed(1);
    model.AddTable(0, {-one / 4, 0, one / 4, one / 2, 0});
    model.AddTable(1, {one / 8, -one / 8, 0});
    model.AddToBase(one / 2);
    Evidence evidence;
    evidence.reference.emplace();
    evidence.reference->rows = 100;
    evidence.reference->rows_sd = 5;
    evidence.reference->marginals = {{{1, 3, 4}, {80, 10, 10}, 6}, {{0, 1, 2}, {50, 50, 0}, 6}};
    evidence.bands = {{0.1F, 0.2F, 0.3F, 0.4F, 0}, {0, 0, 0}};
    model.SetEvidence(evidence);
    return model;
}

TEST(Explain, ShapesTellRowsBandsAndEnough) {
    const Model model = HandMade();
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    EXPECT_STREQ(explainer.reference_name(), "noisy histograms");
    EXPECT_EQ(explainer.offset(), 20);
    EXPECT_EQ(explainer.InUnits(ToFixed(1)), 10);
    // Masses .4 .4 .05 .05 .1: the mean is -.0625.
    const std::vector<ShapeCell> age = explainer.Shape(0);
    EXPECT_DOUBLE_EQ(age[0].contribution, -1.875);
    EXPECT_DOUBLE_EQ(age[3].contribution, 5.625);
    EXPECT_EQ(age[0].rows, 40);
    EXPECT_EQ(age[3].rows, 5);
    EXPECT_TRUE(age[0].enough_rows);
    EXPECT_FALSE(age[3].enough_rows);
    EXPECT_NEAR(age[3].sd, 4, 1e-6);
    EXPECT_EQ(age[0].label, "[0, 10]");
    EXPECT_EQ(age[3].label, "(30, 40]");
    EXPECT_EQ(age[3].upper, 40);
    EXPECT_EQ(age[4].label, "null");
    EXPECT_TRUE(std::isnan(age[4].lower));
    EXPECT_EQ(explainer.Shape(1)[1].label, "M");
    EXPECT_EQ(explainer.base_value(), ToFixed(0.5) - ToFixed(0.0625));
}

TEST(Explain, ImportanceIsTheMeanAbsoluteContribution) {
    const Model model = HandMade();
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    const std::vector<Importance> importances = explainer.Importances();
    ASSERT_EQ(importances.size(), 2U);
    EXPECT_EQ(importances[0].features, std::vector<size_t>{0});
    EXPECT_NEAR(importances[0].importance,
                10 * (.4 * .1875 + .4 * .0625 + .05 * .3125 + .05 * .5625 + .1 * .0625), 1e-6);
    EXPECT_NEAR(importances[0].noise, 10 * std::sqrt(2 / M_PI) * (.4 * .1 + .4 * .2 + .05 * .3 + .05 * .4),
                1e-6);
    EXPECT_NEAR(importances[1].importance, 1.25, 1e-6);
    EXPECT_NEAR(importances[0].share + importances[1].share, 1, 1e-12);
    EXPECT_TRUE(explainer.Interactions().empty());
}

TEST(Explain, WithoutHistogramsDeclaredRangesStandIn) {
    Model model = HandMade();
    model.SetEvidence({});
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    EXPECT_STREQ(explainer.reference_name(), "declared ranges");
    const std::vector<ShapeCell> age = explainer.Shape(0);
    EXPECT_DOUBLE_EQ(age[0].contribution, 10 * (-.25 - .125));
    EXPECT_TRUE(std::isnan(age[0].sd));
    EXPECT_TRUE(std::isnan(age[0].rows));
    for (const Importance& importance : explainer.Importances())
        EXPECT_TRUE(std::isnan(importance.noise));
}

// Trees on two features in a model with tables: their group is what main effects do not say.
Model WithPairs(uint64_t seed) {
    Xorshift random;
    random.state ^= seed;
    Model model(FewCells(), TargetSpec::Binary(), Link::kLogistic);
    model.AddTable(0, {1000, 2000, -3000, 500, 0});
    for (int i = 0; i < 6; i++) {
        Tree tree = RandomTree({FewCells()[0], FewCells()[1]}, 4, &random);
        tree.leaf_sds.assign(tree.leaves.size(), 0.125F);
        model.AddTree(tree);
    }
    model.SetEvidence(RandomEvidence(model, seed));
    Evidence evidence = model.evidence();
    evidence.bands[0].assign(model.features()[0].cells(), 0.5F);
    model.SetEvidence(evidence);
    return model;
}

TEST(Explain, InteractionsArePure) {
    const Model model = WithPairs(3);
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    const std::vector<Interaction> interactions = explainer.Interactions();
    ASSERT_EQ(interactions.size(), 1U);
    const Interaction& pair = interactions[0];
    EXPECT_EQ(pair.features, (std::vector<size_t>{0, 1}));
    ASSERT_EQ(pair.parts[0].size(), 5U);  // few bins: each is a part
    ASSERT_EQ(pair.parts[1].size(), 4U);
    EXPECT_EQ(pair.parts[1][2], "M");
    ASSERT_EQ(pair.contributions.size(), 20U);
    const std::vector<ShapeCell> a = explainer.Shape(0), b = explainer.Shape(1);
    const double base = FromFixed(explainer.base_value());
    double absolute = 0, rows = 0;
    for (size_t i = 0; i < 5; i++) {
        double mean = 0;
        for (size_t j = 0; j < 4; j++) {
            const uint16_t row[] = {static_cast<uint16_t>(i), static_cast<uint16_t>(j), 0, 0};
            const double pure = pair.contributions[i * 4 + j];
            EXPECT_NEAR(pure, FromFixed(model.Score(row)) - base - a[i].contribution - b[j].contribution,
                        1e-5);
            mean += explainer.masses().of(1)[j] * pure;
            absolute += explainer.masses().of(0)[i] * explainer.masses().of(1)[j] * std::fabs(pure);
            rows += pair.rows[i * 4 + j];
        }
        EXPECT_NEAR(mean, 0, 1e-9);
    }
    EXPECT_NEAR(rows, model.evidence().reference->rows, 1e-3);
    for (const Importance& importance : explainer.Importances()) {
        if (importance.features.size() == 2) {
            EXPECT_NEAR(importance.importance, absolute, 0.1 * absolute);  // over drawn rows
        }
    }
}

// The noise of leaves reaches a row's contributions as their values do.
TEST(Explain, NoiseOfLeavesIsThatOfManyModels) {
    const Model model = WithPairs(5);
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    const uint16_t row[] = {2, 1, 0, 0};
    int64_t contributions[4];
    double sds[4];
    explainer.Explain(row, contributions, sds);
    const double shape_sd = explainer.Shape(0)[2].sd;
    double squares = 0, shape_squares = 0;
    constexpr int kModels = 400;
    Xorshift random;
    for (int m = 0; m < kModels; m++) {
        Model noisy(model.features(), model.target(), model.link());
        noisy.AddTable(0, model.table(0));
        for (Tree tree : model.trees()) {
            for (int32_t& leaf : tree.leaves) {
                double normal = -6;
                for (int i = 0; i < 12; i++)
                    normal += random.Below(1000000) / 1e6;
                leaf += ToFixed(0.125 * normal);
            }
            noisy.AddTree(tree);
        }
        noisy.SetEvidence(model.evidence());
        Explainer other(noisy, interrupt);
        int64_t moved[4];
        other.Explain(row, moved, nullptr);
        squares += std::pow(FromFixed(moved[0] - contributions[0]), 2) / kModels;
        shape_squares +=
            std::pow(other.Shape(0)[2].contribution - explainer.Shape(0)[2].contribution, 2) / kModels;
    }
    // Beside the table's own noise of 0.5. False alarms: 4 sds of a mean of 400 squares.
    EXPECT_NEAR(squares, sds[0] * sds[0] - 0.25, 0.3 * squares);
    EXPECT_NEAR(shape_squares, shape_sd * shape_sd - 0.25, 0.3 * shape_squares);
    EXPECT_TRUE(std::isnan(sds[3]) == model.evidence().bands[3].empty());
}

TEST(Explain, ForestsAreMeasuredByDrawnRows) {
    const Model model = RandomModel(FewCells(), 30, 6, 4);
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    const std::vector<Importance> importances = explainer.Importances();
    ASSERT_EQ(importances.size(), 4U);
    Explainer again(model, interrupt);
    std::vector<double> plain(4, 0.0);
    std::vector<int64_t> contributions(4);
    ForEachRow(model, explainer.masses(), [&](const std::vector<uint16_t>& codes, double probability) {
        explainer.Explain(codes.data(), contributions.data(), nullptr);
        for (size_t f = 0; f < 4; f++)
            plain[f] += probability * std::fabs(explainer.InUnits(contributions[f]));
    });
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EQ(importances[i].importance, again.Importances()[i].importance);
        const double exact = plain[importances[i].features[0]];
        EXPECT_NEAR(importances[i].importance, exact, 0.2 * exact);
    }
}

// A pair of a forest: what the mean of rows with both values is beyond what each gives by itself.
TEST(Explain, PairsOfForestsArePure) {
    Model model = RandomModel(FewCells(), 30, 6, 4);
    model.SetEvidence(RandomEvidence(model, 4));
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    const std::vector<Interaction> pairs = explainer.Interactions();
    ASSERT_EQ(pairs.size(), 6U);  // of four features
    double before = std::numeric_limits<double>::infinity();
    for (const Interaction& pair : pairs) {
        const size_t a = pair.features[0], b = pair.features[1], width = pair.parts[1].size();
        const std::vector<ShapeCell> shape_a = explainer.Shape(a), shape_b = explainer.Shape(b);
        ASSERT_EQ(pair.parts[0].size(), shape_a.size());
        const double mean = MeanGiven(model, explainer.masses(), {0, 0, 0, 0}, 0, 0);
        double size = 0;
        for (size_t i = 0; i < shape_a.size(); i++) {
            for (size_t j = 0; j < width; j++) {
                std::vector<uint16_t> row(4, 0);
                row[a] = static_cast<uint16_t>(i);
                row[b] = static_cast<uint16_t>(j);
                const double given = MeanGiven(model, explainer.masses(), row, 1U << a | 1U << b, 0);
                EXPECT_NEAR(
                    pair.contributions[i * width + j],
                    (given - mean) * explainer.unit() - shape_a[i].contribution - shape_b[j].contribution,
                    5 * explainer.unit());
                size += explainer.masses().of(a)[i] * explainer.masses().of(b)[j] *
                        std::fabs(pair.contributions[i * width + j]);
            }
        }
        EXPECT_LE(size, before);
        before = size;
    }
}

TEST(Explain, DrawnRowsFollowTheReference) {
    Model model = HandMade();
    NoInterrupt interrupt;
    const ReferenceMasses masses(model);
    const std::vector<uint16_t> rows = masses.Draw(model, 4000, interrupt);
    EXPECT_EQ(rows, masses.Draw(model, 4000, interrupt));
    std::vector<double> counts(5, 0.0);
    for (size_t i = 0; i < 4000; i++)
        counts[rows[2 * i]] += 1.0 / 4000;
    for (size_t code = 0; code < 5; code++)
        EXPECT_NEAR(counts[code], masses.of(0)[code], 5 * std::sqrt(0.25 / 4000));
    model.AddToBase(1);
    EXPECT_NE(rows, masses.Draw(model, 4000, interrupt));  // another model, other rows
}

TEST(Explain, ManyLevelsAreShownByTheMostFrequent) {
    Model model({FeatureSpec::Hashed("city", 70), FeatureSpec::Numeric("age", {0, 100, Scale::kLinear, 100})},
                TargetSpec::Binary(), Link::kLogistic);
    const ReferenceMasses masses(model);
    const CodeParts city = PartsOf(model, masses, 0), age = PartsOf(model, masses, 1);
    EXPECT_EQ(city.labels.size(), 16U);
    EXPECT_EQ(city.labels[14], "others");
    EXPECT_EQ(age.labels.size(), 13U);
    EXPECT_EQ(age.labels[0], "[0, 8]");
    EXPECT_EQ(age.labels[12], "null");
    for (const CodeParts& parts : {city, age})
        EXPECT_NEAR(std::accumulate(parts.masses.begin(), parts.masses.end(), 0.0), 1, 1e-12);
}

TEST(CellLabel, SaysWhatIsInACell) {
    NumericRange whole{0, 9, Scale::kLinear, 5};
    whole.integer = true;
    const FeatureSpec counts = FeatureSpec::Numeric("n", whole);
    EXPECT_EQ(CellLabel(counts, 0).substr(0, 1), "0");
    EXPECT_EQ(CellLabel(counts, counts.missing()), "null");
    const FeatureSpec fine = FeatureSpec::Numeric("x", {0, 1, Scale::kLinear, 4});
    EXPECT_EQ(CellLabel(fine, 0), "[0, 0.25]");
    EXPECT_EQ(CellLabel(fine, 3), "(0.75, 1]");
    EXPECT_EQ(RangeLabel(fine, 1, 2), "(0.25, 0.75]");
    EXPECT_EQ(CellLabel(FeatureSpec::Levels("sex", {"F", "M"}), 1), "M");
    EXPECT_EQ(CellLabel(FeatureSpec::Hashed("city", 8), 3), "bucket 3");
}

}  // namespace
}  // namespace dpboost
