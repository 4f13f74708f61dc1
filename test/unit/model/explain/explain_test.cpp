// Explanations of single rows against plain computations: exact sums for every method, Shapley values against all subsets.
#include "model/explain/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner/methods.h"
#include "support/training_call.h"
#include "unit/model/explain/small_models.h"

namespace dpboost {
namespace {

std::vector<uint16_t> RandomRow(const Model& model, Xorshift& random) {
    std::vector<uint16_t> codes;
    for (const FeatureSpec& feature : model.features()) {
        const uint32_t dice = random.Below(10);
        codes.push_back(static_cast<uint16_t>(dice == 0   ? feature.missing()
                                              : dice == 1 ? 65535
                                                          : random.Below(feature.cells())));
    }
    return codes;
}

void ExpectExactSums(const Model& model, int rows, const std::string& what) {
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    Xorshift random;
    const size_t outputs = model.outputs(), features = model.features().size();
    std::vector<int64_t> contributions(features * outputs);
    std::vector<double> sds(features * outputs);
    for (int row = 0; row < rows; row++) {
        const std::vector<uint16_t> codes = RandomRow(model, random);
        explainer.Explain(codes.data(), contributions.data(), row % 2 == 0 ? sds.data() : nullptr);
        for (size_t k = 0; k < outputs; k++) {
            double sum = FromFixed(explainer.base_value(k));
            for (size_t f = 0; f < features; f++)
                sum += FromFixed(contributions[f * outputs + k]);
            // In floating point, and yet exact.
            ASSERT_EQ(sum, FromFixed(model.Score(codes.data(), k))) << what << ", row " << row;
        }
        if (row % 1000 == 998) {  // what was said before does not matter
            Explainer fresh(model, interrupt);
            std::vector<int64_t> again(contributions.size());
            std::vector<double> sds_again(sds.size());
            fresh.Explain(codes.data(), again.data(), sds_again.data());
            ASSERT_EQ(again, contributions) << what << ", row " << row;
            for (size_t i = 0; i < sds.size(); i++)
                ASSERT_TRUE(sds[i] == sds_again[i] || (std::isnan(sds[i]) && std::isnan(sds_again[i])));
        }
    }
}

TEST(Explain, ContributionsAddUpToTheScore) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        Model model = seed % 2 == 0
                          ? RandomModel(SmallFeatures(), 2 * static_cast<unsigned>(seed), 5, seed)
                          : RandomClassModel(SmallFeatures(), 4, static_cast<unsigned>(seed), 4, seed);
        if (seed % 3 != 0)
            model.SetEvidence(RandomEvidence(model, seed));
        ExpectExactSums(model, 10000, "seed " + std::to_string(seed));
    }
}

TEST(Explain, ContributionsAddUpForEveryMethod) {
    for (const MethodInfo* method : AllMethods()) {
        const bool has_trees = method->options.Find("trees") != nullptr;
        TrainingCall call("{\"epsilon\": 2, \"method\": \"" + std::string(method->name) + "\"" +
                          (has_trees ? ", \"trees\": 6}" : "}"));
        call.schema().target.kind = ValueKind::kBoolean;
        call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
        call.Feature("y", ValueKind::kFloat8, Domain::Range("", -5, 5));
        call.Feature("z", ValueKind::kFloat8, Domain::Range("", 0, 100));
        const auto training = call.Begin();
        training->Calibrate({});
        for (int i = 0; i < 2000; i++)
            AppendRow(*training, (i * 7919 % 1000 > 500) == (i % 10 > 5),
                      {i * 7919 % 1000 / 1000.0, i % 10 - 5.0, i % 97 == 0 ? NAN : i % 97});
        ZeroNoise noise;
        ExpectExactSums(TrainWithoutNoise(*training, noise), 10000, method->name);
    }
}

TEST(Explain, ShapleyValuesEqualAllSubsets) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        const Model model = ManyTrees(seed, seed >= 4);
        NoInterrupt interrupt;
        Explainer explainer(model, interrupt);
        Xorshift random;
        const size_t features = model.features().size(), outputs = model.outputs();
        std::vector<int64_t> contributions(features * outputs);
        for (int r = 0; r < 3; r++) {
            std::vector<uint16_t> row;
            for (const FeatureSpec& feature : model.features())
                row.push_back(static_cast<uint16_t>(random.Below(feature.cells())));
            explainer.Explain(row.data(), contributions.data(), nullptr);
            const size_t output = outputs - 1;
            std::vector<double> worth;
            for (unsigned subset = 0; subset < 1U << features; subset++)
                worth.push_back(MeanGiven(model, explainer.masses(), row, subset, output));
            EXPECT_NEAR(static_cast<double>(explainer.base_value(output)), worth[0], features + 1.0);
            for (size_t f = 0; f < features; f++) {
                double shapley = 0;
                for (unsigned subset = 0; subset < 1U << features; subset++) {
                    if ((subset >> f & 1) != 0)
                        continue;
                    const int size = __builtin_popcount(subset);
                    const double weight =
                        std::tgamma(size + 1) * std::tgamma(features - size) / std::tgamma(features + 1);
                    shapley += weight * (worth[subset | 1U << f] - worth[subset]);
                }
                // Roundings of the means and of the shares, and the rest at one feature.
                EXPECT_NEAR(static_cast<double>(contributions[f * outputs + output]), shapley, features + 1.0)
                    << "seed " << seed << ", feature " << f;
            }
        }
    }
}

// Deep trees ask many features: more nodes of the quadrature. d = 11 against a closed form: with q = 1/2 and a = 1
// everywhere all features share alike.
TEST(Explain, DeepTreesShareAlike) {
    std::vector<FeatureSpec> features;
    for (int f = 0; f < 12; f++)
        features.push_back(FeatureSpec::Boolean("f" + std::to_string(f)));
    for (const unsigned depth : {3U, 8U, 9U, 12U}) {
        Model model(features, TargetSpec::Binary(), Link::kLogistic);
        Tree tree = Tree::OfDepth(depth);
        for (size_t node = 0; node < tree.split_count(); node++) {
            unsigned level = 0;
            while ((size_t{2} << level) - 1 <= node)
                level++;
            tree.splits[node].feature = static_cast<uint16_t>(level);
            tree.splits[node].kind = SplitKind::kLevel;
            tree.splits[node].threshold = 1;
        }
        tree.leaves[0] = 1 << 28;
        model.AddTree(tree);
        NoInterrupt interrupt;
        Explainer explainer(model, interrupt);
        const std::vector<uint16_t> row(12, 1);
        std::vector<int64_t> contributions(12);
        explainer.Explain(row.data(), contributions.data(), nullptr);
        const double whole = std::pow(2.0, 28);
        for (unsigned f = 0; f < 12; f++)
            EXPECT_NEAR(static_cast<double>(contributions[f]),
                        f < depth ? whole * (1 - std::pow(0.5, depth)) / depth : 0, 12)
                << depth << " " << f;
    }
}

// Dummy: nothing depends on it, so it gets nothing. Symmetry: who plays the same role gets the same.
TEST(Explain, KeepsShapleysAxioms) {
    std::vector<FeatureSpec> features = {FeatureSpec::Boolean("a"), FeatureSpec::Boolean("b"),
                                         FeatureSpec::Boolean("dummy")};
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    Tree both = Tree::OfDepth(2);  // a XOR b
    both.splits[1].feature = both.splits[2].feature = 1;
    both.leaves = {0, 1 << 20, 1 << 20, 0};
    model.AddTree(both);
    Tree deeper = Tree::OfDepth(2);  // a split that changes nothing
    deeper.splits[0].feature = 2;
    deeper.splits[2].feature = 1;
    deeper.leaves = {5, 77, 5, 77};
    deeper.splits[1] = deeper.splits[2];
    model.AddTree(deeper);
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    for (uint16_t a : {0, 1}) {
        const uint16_t row[] = {a, a, 1};
        int64_t contributions[3];
        explainer.Explain(row, contributions, nullptr);
        EXPECT_NEAR(static_cast<double>(contributions[0]), -(1 << 18), 2);
        EXPECT_LE(std::llabs(contributions[0] - contributions[1]), 77);
        EXPECT_EQ(contributions[2], 0);
    }
}

}  // namespace
}  // namespace dpboost
