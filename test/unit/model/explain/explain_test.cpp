// Explanations of single rows against plain computations: Shapley values against all subsets.
#include "model/explain/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/model/explain/small_models.h"

namespace dpboost {
namespace {

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
