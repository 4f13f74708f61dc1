#include "model/product_grids.h"

#include <gtest/gtest.h>

#include "unit/model/random_model.h"

namespace dpboost {
namespace {

// A question about a feature that cuts its codes, missing included, at random.
void AskForSubset(const std::vector<FeatureSpec>& features, uint16_t feature, Xorshift* random, Tree* tree,
                  size_t node) {
    Split& split = tree->splits[node];
    split.feature = feature;
    split.kind = SplitKind::kSubset;
    split.subset = tree->AddSubset(features[feature]);
    for (uint32_t code = 0; code < features[feature].cells(); code++)
        if (random->Below(2) == 1)
            tree->AddToSubset(split.subset, code);
}

// On each level one question, asked by all its nodes: as many classes of a feature as it has levels' answers.
Tree ProductTree(const std::vector<FeatureSpec>& features, const std::vector<uint16_t>& levels,
                 Xorshift* random, size_t outputs = 1) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(levels.size()), outputs);
    for (size_t level = 0; level < levels.size(); level++) {
        const size_t first = (size_t{1} << level) - 1;
        AskForSubset(features, levels[level], random, &tree, first);
        for (size_t node = first + 1; node <= 2 * first; node++)
            tree.splits[node] = tree.splits[first];
    }
    for (int32_t& leaf : tree.leaves)
        leaf = static_cast<int32_t>(random->Below(2000001)) - 1000000;
    return tree;
}

// The trees that were not taken; the others have the model's scores, without its base and tables.
std::vector<const Tree*> LeftOver(const Model& model, int rows) {
    std::vector<const Tree*> left = TreesOf(model);
    Polling polling(nullptr);
    const ProductGrids grids(model, &left, &polling);
    std::vector<const Tree*> taken;
    for (const Tree* tree : TreesOf(model))
        if (std::find(left.begin(), left.end(), tree) == left.end())
            taken.push_back(tree);
    Xorshift random;
    const size_t outputs = model.outputs();
    std::vector<uint16_t> codes(model.features().size()), clipped(codes.size());
    for (int row = 0; row < rows; row++) {
        for (size_t i = 0; i < codes.size(); i++) {
            const FeatureSpec& feature = model.features()[i];
            codes[i] = static_cast<uint16_t>(random.Below(10) == 0 ? 65535 : random.Below(feature.cells()));
            clipped[i] = std::min(codes[i], feature.missing());
        }
        std::vector<int64_t> expected(outputs, 7), scores(outputs, 7);
        for (const Tree* tree : taken)
            for (size_t k = 0; k < outputs; k++)
                expected[k] += tree->leaves[tree->Leaf(clipped.data(), model.features()) * outputs + k];
        grids.AddValues(codes.data(), scores.data());
        EXPECT_EQ(scores, expected);
        if (testing::Test::HasFailure())
            break;
    }
    return left;
}

TEST(ProductGrids, TakeProductsOfTwoAndThreeFeatures) {
    const std::vector<FeatureSpec> features = SmallFeatures();
    for (size_t outputs : {1u, 3u}) {
        Xorshift random;
        Model model(features, outputs == 1 ? TargetSpec::Binary() : TargetSpec::Classes({"a", "b", "c"}),
                    outputs == 1 ? Link::kLogistic : Link::kSoftmax);
        for (int i = 0; i < 5; i++) {
            model.AddTree(ProductTree(features, {0, 3, 0, 3, 3, 0, 3, 3}, &random, outputs));
            model.AddTree(ProductTree(features, {1, 2, 3, 3, 1, 3}, &random, outputs));
        }
        EXPECT_TRUE(LeftOver(model, 500).empty());
    }
}

TEST(ProductGrids, TakeThresholdsAndLevels) {
    const std::vector<FeatureSpec> features = SmallFeatures();
    Xorshift random;
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    Tree tree = ProductTree(features, {0, 3}, &random);
    for (size_t node = 0; node < 3; node++)
        tree.splits[node] = node == 0 ? Split{0, 4, SplitKind::kThreshold, true, 0}
                                      : Split{3, 17, SplitKind::kLevel, false, 0};
    model.AddTree(tree);
    tree.splits[0].missing_left = false;
    model.AddTree(tree);
    EXPECT_TRUE(LeftOver(model, 500).empty());
}

TEST(ProductGrids, LeaveOtherTrees) {
    std::vector<FeatureSpec> features = SmallFeatures();
    Xorshift random;
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    model.AddTree(ProductTree(features, {0, 1, 2, 3}, &random));  // of four features
    Tree larger = ProductTree(features, {3, 3, 3, 0}, &random);   // nodes that ask for subsets of their own
    for (size_t node = 0; node < 15; node++)
        AskForSubset(features, node < 7 ? 3 : 0, &random, &larger, node);
    model.AddTree(larger);
    model.AddTree(ProductTree(features, {2, 3, 3}, &random));
    const std::vector<const Tree*> left = LeftOver(model, 300);
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0], &model.trees()[0]);
    EXPECT_EQ(left[1], &model.trees()[1]);
}

// The search for classes ends, and what was found until then is kept.
TEST(ProductGrids, EndTheirSearch) {
    std::vector<FeatureSpec> features = {FeatureSpec::Hashed("many", 60000), FeatureSpec::Hashed("few", 5)};
    Xorshift random;
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    for (int i = 0; i < 40; i++)
        model.AddTree(ProductTree(features, {0, 0, 0, 1}, &random));
    const size_t left = LeftOver(model, 100).size();
    EXPECT_GT(left, 20u);
    EXPECT_LT(left, 40u);
}

// So does the search for questions that are asked again, which takes as many comparisons as there are nodes times questions.
TEST(ProductGrids, EndTheirComparisons) {
    const std::vector<FeatureSpec> features = {FeatureSpec::Hashed("a", 2), FeatureSpec::Hashed("b", 2)};
    Tree tree = Tree::OfDepth(kMaxDepth);
    for (size_t node = 0; node < tree.splits.size(); node++)
        tree.splits[node] = {static_cast<uint16_t>(node == 0),
                             static_cast<uint16_t>(std::min<size_t>(node, 127)), SplitKind::kThreshold, false,
                             0};
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    for (int i = 0; i < 40; i++)
        model.AddTree(tree);
    const size_t left = LeftOver(model, 10).size();
    EXPECT_GT(left, 20u);
    EXPECT_LT(left, 40u);
}

}  // namespace
}  // namespace dpboost
