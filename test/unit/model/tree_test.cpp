#include "model/tree.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dpboost {
namespace {

std::vector<FeatureSpec> Features() {
    return {FeatureSpec::Numeric("x", {0, 1, Scale::kLinear, 10}), FeatureSpec::Hashed("h", 100)};
}

TEST(Tree, ThresholdsSendMissingWhereTheySay) {
    Split split;
    split.threshold = 4;
    for (uint16_t code = 0; code < 10; code++)
        EXPECT_EQ(GoesLeft(split, nullptr, code, 10), code <= 4);
    EXPECT_FALSE(GoesLeft(split, nullptr, 10, 10));
    split.missing_left = true;
    EXPECT_TRUE(GoesLeft(split, nullptr, 10, 10));
    split.threshold = 65535;
    split.missing_left = false;
    EXPECT_FALSE(GoesLeft(split, nullptr, 10, 10));
    EXPECT_TRUE(GoesLeft(split, nullptr, 9, 10));
}

TEST(Tree, LevelsAreComparedForEquality) {
    Split split;
    split.kind = SplitKind::kLevel;
    split.threshold = 4;
    for (uint16_t code = 0; code <= 10; code++)
        EXPECT_EQ(GoesLeft(split, nullptr, code, 10), code == 4);
    split.threshold = 10;
    EXPECT_TRUE(GoesLeft(split, nullptr, 10, 10));
}

TEST(Tree, SubsetsHoldTheirCodes) {
    std::vector<FeatureSpec> features = Features();
    Tree tree = Tree::OfDepth(1);
    tree.AddSubset(features[0]);
    Split& split = tree.splits[0];
    split.feature = 1;
    split.kind = SplitKind::kSubset;
    split.subset = tree.AddSubset(features[1]);
    for (uint32_t code = 0; code < features[1].cells(); code += 3)
        tree.AddToSubset(split.subset, code);
    for (uint16_t code = 0; code < features[1].cells(); code++)
        EXPECT_EQ(tree.SplitGoesLeft(0, code, features[1].missing()), code % 3 == 0);
    EXPECT_TRUE(IsValid(tree, features));
}

TEST(Tree, LeavesStandFromLeftToRight) {
    std::vector<FeatureSpec> features = Features();
    Tree tree = Tree::OfDepth(2);
    ASSERT_EQ(tree.split_count(), 3u);
    ASSERT_EQ(tree.leaf_count(), 4u);
    tree.splits[0].threshold = 4;
    tree.splits[1].threshold = 2;
    tree.splits[2].threshold = 7;
    const size_t expected[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3};
    for (uint16_t code = 0; code <= 10; code++) {
        uint16_t codes[] = {code, 0};
        EXPECT_EQ(tree.Leaf(codes, features), expected[code]);
    }
    uint16_t beyond[] = {60000, 60000};
    EXPECT_EQ(tree.Leaf(beyond, features), 3u);
}

TEST(Tree, InvalidTreesAreSeen) {
    std::vector<FeatureSpec> features = Features();
    Tree tree = Tree::OfDepth(2);
    EXPECT_TRUE(IsValid(tree, features));
    tree.splits[1].feature = 2;
    EXPECT_FALSE(IsValid(tree, features));
    tree = Tree::OfDepth(2);
    tree.leaves.pop_back();
    EXPECT_FALSE(IsValid(tree, features));
    tree = Tree::OfDepth(2);
    tree.splits[2].kind = SplitKind::kSubset;
    EXPECT_FALSE(IsValid(tree, features));
    tree.splits[2].subset = tree.AddSubset(features[0]);
    EXPECT_TRUE(IsValid(tree, features));
    tree.splits[2].feature = 1;  // needs two words
    EXPECT_FALSE(IsValid(tree, features));
    tree.splits[2].subset = 0xffffffff;
    EXPECT_FALSE(IsValid(tree, features));
    EXPECT_THROW(Tree::OfDepth(kMaxDepth + 1), Error);
}

}  // namespace
}  // namespace dpboost
