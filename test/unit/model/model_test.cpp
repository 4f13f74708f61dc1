#include "model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

// Base, tables and trees, summed without any of the model's own code.
int64_t ScoreByHand(const std::vector<FeatureSpec>& features, const std::vector<Tree>& trees,
                    const uint16_t* codes) {
    int64_t sum = 0;
    for (const Tree& tree : trees) {
        size_t node = 0;
        while (node < tree.splits.size()) {
            const Split& split = tree.splits[node];
            uint16_t code = codes[split.feature], missing = features[split.feature].missing();
            bool left = split.kind == SplitKind::kLevel && code == split.threshold;
            if (split.kind == SplitKind::kThreshold)
                left = code == missing ? split.missing_left : code <= split.threshold;
            if (split.kind == SplitKind::kSubset)
                left = tree.subset_words[split.subset + code / 64] >> (code % 64) & 1;
            node = 2 * node + (left ? 1 : 2);
        }
        sum += tree.leaves[node - tree.splits.size()];
    }
    return sum;
}

TEST(Model, ScoreIsTheSumOfTheTrees) {
    Xorshift random;
    std::vector<FeatureSpec> features = SmallFeatures();
    std::vector<Tree> trees;
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    for (int i = 0; i < 50; i++) {
        trees.push_back(RandomTree(features, 1 + random.Below(5), &random));
        model.AddTree(trees.back());
    }
    for (int i = 0; i < 500; i++) {
        uint16_t codes[4];
        for (size_t f = 0; f < 4; f++)
            codes[f] = static_cast<uint16_t>(random.Below(features[f].cells()));
        ASSERT_EQ(model.Score(codes), ScoreByHand(features, trees, codes));
    }
}

TEST(Model, TreesOnOneFeatureBecomeATable) {
    Xorshift random;
    std::vector<FeatureSpec> features = SmallFeatures();
    for (size_t f = 0; f < features.size(); f++) {
        std::vector<Tree> trees;
        Model model(features, TargetSpec::Binary(), Link::kLogistic);
        for (int i = 0; i < 20; i++) {
            // Drawn for a model with this feature alone, then moved to its place.
            Tree tree = RandomTree({features[f]}, random.Below(6), &random);
            for (Split& split : tree.splits)
                split.feature = static_cast<uint16_t>(f);
            trees.push_back(tree);
            model.AddTree(tree);
        }
        EXPECT_TRUE(model.trees().empty());
        EXPECT_EQ(model.table(f).size(), features[f].cells());
        uint16_t codes[4] = {};
        for (uint32_t code = 0; code < features[f].cells(); code++) {
            codes[f] = static_cast<uint16_t>(code);
            ASSERT_EQ(model.Score(codes), ScoreByHand(features, trees, codes));
        }
    }
}

// Each output by itself is a model with one output.
TEST(Model, OutputsStandSideBySide) {
    constexpr size_t kOutputs = 3;
    Xorshift random;
    std::vector<FeatureSpec> features = SmallFeatures();
    Model model(features, TargetSpec::Classes({"a", "b", "c"}), Link::kSoftmax);
    std::vector<Model> alone(kOutputs, Model(features, TargetSpec::Binary(), Link::kLogistic));
    ASSERT_EQ(model.outputs(), kOutputs);
    for (int i = 0; i < 30; i++) {
        // Some on one feature only, which become tables, and some without a split.
        Tree tree = RandomTree(features, random.Below(4), &random, kOutputs);
        if (i % 3 == 0)
            for (Split& split : tree.splits)
                split = Split{1, 3, SplitKind::kThreshold, true, 0};
        model.AddTree(tree);
        for (size_t k = 0; k < kOutputs; k++) {
            Tree one = tree;
            one.leaves.clear();
            for (size_t leaf = 0; leaf < tree.leaf_count(); leaf++)
                one.leaves.push_back(tree.leaves[leaf * kOutputs + k]);
            alone[k].AddTree(one);
        }
    }
    for (size_t k = 0; k < kOutputs; k++) {
        model.AddToBase(k, static_cast<int32_t>(100 * k));
        alone[k].AddToBase(static_cast<int32_t>(100 * k));
    }
    EXPECT_FALSE(model.table(1).empty());
    for (int i = 0; i < 300; i++) {
        uint16_t codes[4];
        for (size_t f = 0; f < 4; f++)
            codes[f] = static_cast<uint16_t>(random.Below(features[f].cells()));
        int64_t scores[kOutputs];
        model.Scores(codes, scores);
        for (size_t k = 0; k < kOutputs; k++)
            ASSERT_EQ(scores[k], alone[k].Score(codes));
    }
    EXPECT_THROW(model.AddTree(Tree::OfDepth(1)), Error);
    EXPECT_THROW(model.AddTable(2, {1, 2, 3, 4}), Error);
}

TEST(Model, SoftmaxGivesProbabilities) {
    const int64_t scores[] = {ToFixed(std::log(1.0)), ToFixed(std::log(2.0)), ToFixed(std::log(5.0))};
    double probabilities[3];
    Softmax(scores, 3, probabilities);
    EXPECT_NEAR(probabilities[0], 0.125, 1e-6);
    EXPECT_NEAR(probabilities[2], 0.625, 1e-6);
    const int64_t extreme[] = {int64_t{1} << 50, -(int64_t{1} << 50), 0};
    Softmax(extreme, 3, probabilities);
    EXPECT_EQ(probabilities[0], 1);
    EXPECT_EQ(probabilities[1], 0);
}

TEST(Model, CodesBeyondTheCellsAreMissing) {
    Model model = RandomModel(SmallFeatures(), 20, 5, 1);
    uint16_t beyond[] = {65535, 65535, 65535, 65535}, missing[4];
    for (size_t f = 0; f < 4; f++)
        missing[f] = model.features()[f].missing();
    EXPECT_EQ(model.Score(beyond), model.Score(missing));
}

TEST(Model, LinksGiveFiniteAnswers) {
    Model regression(SmallFeatures(), TargetSpec::Regression(1, 29), Link::kIdentity);
    EXPECT_EQ(regression.Respond(0), 15);
    EXPECT_EQ(regression.Respond(ToFixed(1)), 29);
    EXPECT_EQ(regression.Respond(std::numeric_limits<int64_t>::max()), 29);
    EXPECT_EQ(regression.Respond(std::numeric_limits<int64_t>::min()), 1);
    Model binary(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    EXPECT_EQ(binary.Respond(0), 0.5);
    EXPECT_NEAR(binary.Respond(ToFixed(std::log(3))), 0.75, 1e-6);
    EXPECT_EQ(binary.Respond(std::numeric_limits<int64_t>::max()), 1);
    EXPECT_EQ(binary.Respond(std::numeric_limits<int64_t>::min()), 0);
    Model counts(SmallFeatures(), TargetSpec::Regression(0, 50), Link::kLog);
    EXPECT_EQ(counts.Respond(0), 1);
    EXPECT_NEAR(counts.Respond(ToFixed(std::log(7))), 7, 1e-5);
    EXPECT_EQ(counts.Respond(std::numeric_limits<int64_t>::max()), 50);
    EXPECT_EQ(counts.Respond(std::numeric_limits<int64_t>::min()), 0);
    Model shares(SmallFeatures(), TargetSpec::Binary(), Link::kIdentity);
    EXPECT_EQ(shares.Respond(0), 0.5);
    EXPECT_EQ(shares.Respond(ToFixed(-3)), 0);
}

TEST(Model, SumsSaturateInsteadOfOverflowing) {
    Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    std::vector<int32_t> huge(model.features()[2].cells(), std::numeric_limits<int32_t>::max());
    for (int i = 0; i < 3; i++) {
        model.AddToBase(std::numeric_limits<int32_t>::min());
        model.AddTable(2, huge);
    }
    EXPECT_EQ(model.base(), std::numeric_limits<int32_t>::min());
    EXPECT_EQ(model.table(2)[0], std::numeric_limits<int32_t>::max());
}

TEST(Model, RefusesWhatDoesNotFit) {
    EXPECT_THROW(Model({}, TargetSpec::Binary(), Link::kLogistic), Error);
    Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    EXPECT_THROW(model.AddTable(4, {1}), Error);
    EXPECT_THROW(model.AddTable(0, {1}), Error);
    Tree tree = Tree::OfDepth(1);
    tree.splits[0].feature = 4;
    EXPECT_THROW(model.AddTree(tree), Error);
}

}  // namespace
}  // namespace dpboost
