#include "model/byte_forest.h"

#include <gtest/gtest.h>

#include "model/predictor.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

// Thresholds on numbers, with missing on either side, and levels; some beyond all codes.
Tree RandomByteTree(const std::vector<FeatureSpec>& features, unsigned depth, Xorshift* random,
                    size_t outputs = 1) {
    Tree tree = Tree::OfDepth(depth, outputs);
    for (Split& split : tree.splits) {
        split.feature = static_cast<uint16_t>(random->Below(static_cast<uint32_t>(features.size())));
        const FeatureSpec& feature = features[split.feature];
        split.threshold = static_cast<uint16_t>(random->Below(feature.cells() + 2));
        split.kind = feature.ordered() ? SplitKind::kThreshold : SplitKind::kLevel;
        split.missing_left = feature.ordered() && random->Below(2) == 1;
    }
    for (int32_t& leaf : tree.leaves)
        leaf = static_cast<int32_t>(random->Below(2000001)) - 1000000;
    return tree;
}

Model ByteModel(const std::vector<FeatureSpec>& features, unsigned trees, unsigned depth) {
    Xorshift random;
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    for (unsigned i = 0; i < trees; i++)
        model.AddTree(RandomByteTree(features, depth, &random));
    return model;
}

std::vector<FeatureSpec> Numbers(unsigned count, uint32_t bins = 20) {
    std::vector<FeatureSpec> features;
    for (unsigned i = 0; i < count; i++)
        features.push_back(FeatureSpec::Numeric("x" + std::to_string(i), {0, 1, Scale::kLinear, bins}));
    return features;
}

// Whether bytes hold the model; if they do, and in any case in both forms of a Predictor, scores are the model's.
bool HoldsAndAgrees(const Model& model, int rows) {
    Xorshift random;
    const size_t outputs = model.outputs();
    Polling polling(nullptr);
    const std::optional<ByteForest> forest = ByteForest::Of(model, TreesOf(model), BestSimd(), &polling);
    Predictor portable(model, Simd::kPortable), best(model, BestSimd());
    std::vector<uint16_t> codes(model.features().size());
    std::vector<int64_t> expected(outputs), scores(outputs);
    for (int row = 0; row < rows; row++) {
        for (size_t i = 0; i < codes.size(); i++) {
            const uint32_t cells = model.features()[i].cells();
            const uint32_t dice = random.Below(10);
            codes[i] = static_cast<uint16_t>(dice == 0 ? cells - 1 : dice == 1 ? 65535 : random.Below(cells));
        }
        model.Scores(codes.data(), expected.data());
        portable.Scores(codes.data(), scores.data());
        EXPECT_EQ(scores, expected);
        best.Scores(codes.data(), scores.data());
        EXPECT_EQ(scores, expected);
        if (forest) {
            for (size_t k = 0; k < outputs; k++) {
                scores[k] = model.base(k);
                for (size_t i = 0; i < codes.size(); i++)
                    if (const FeatureSpec& f = model.features()[i]; !model.table(i).empty())
                        scores[k] += model.table(i)[std::min(codes[i], f.missing()) * outputs + k];
            }
            forest->AddLeaves(codes.data(), scores.data());
            EXPECT_EQ(scores, expected);
        }
        if (testing::Test::HasFailure())
            break;
    }
    return forest.has_value();
}

class ByteForestTest : public testing::Test {
  protected:
    void SetUp() override {
        if (BestSimd() < Simd::kAvx2)
            GTEST_SKIP() << "this machine has no AVX2";
    }
};

TEST_F(ByteForestTest, AgreesAtEveryDepth) {
    for (unsigned depth = 2; depth <= kMaxDepth; depth++)  // of one level, a tree becomes a table
        EXPECT_TRUE(HoldsAndAgrees(ByteModel(SmallFeatures(), 30, depth), 100)) << depth;
}

// Below and above a multiple of four trees, and of as many as are walked at once.
TEST_F(ByteForestTest, AgreesWithAnyNumberOfTrees) {
    for (unsigned trees : {16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 300u})
        EXPECT_TRUE(HoldsAndAgrees(ByteModel(Numbers(9), trees, 6), 50)) << trees;
}

TEST_F(ByteForestTest, AgreesWithTreesOfSeveralDepths) {
    Xorshift random;
    Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    for (unsigned i = 0; i < 200; i++)
        model.AddTree(RandomByteTree(model.features(), 1 + random.Below(9), &random));
    EXPECT_TRUE(HoldsAndAgrees(model, 100));
}

TEST_F(ByteForestTest, AgreesWithSeveralOutputs) {
    Xorshift random;
    Model model(SmallFeatures(), TargetSpec::Classes({"a", "b", "c"}), Link::kSoftmax);
    for (unsigned i = 0; i < 150; i++)
        model.AddTree(RandomByteTree(model.features(), 1 + i % 7, &random, 3));
    EXPECT_TRUE(HoldsAndAgrees(model, 100));
}

// Each column takes two bytes of a row; 16 of them are looked up at once.
TEST_F(ByteForestTest, AgreesWithMoreColumns) {
    for (unsigned columns : {8u, 16u, 17u, 32u, 33u, 64u})
        EXPECT_TRUE(HoldsAndAgrees(ByteModel(Numbers(columns), 100, 6), 50)) << columns;
    EXPECT_FALSE(HoldsAndAgrees(ByteModel(Numbers(65), 100, 6), 50));
}

// More than 255 questions of a kind take another byte.
TEST_F(ByteForestTest, AgreesWithManyQuestionsAboutAColumn) {
    std::vector<FeatureSpec> features = Numbers(2, 2000);
    features.push_back(FeatureSpec::Hashed("many", 700));
    EXPECT_TRUE(HoldsAndAgrees(ByteModel(features, 100, 8), 3000));
    EXPECT_FALSE(HoldsAndAgrees(ByteModel(Numbers(2, kMaxBins), 100, 10), 100));
}

TEST_F(ByteForestTest, LeavesSubsetsAndFewTreesToOthers) {
    EXPECT_FALSE(HoldsAndAgrees(RandomModel(SmallFeatures(), 100, 6, 1), 50));
    EXPECT_FALSE(HoldsAndAgrees(ByteModel(SmallFeatures(), 3, 6), 50));
    const Model model = ByteModel(SmallFeatures(), 30, 6);
    Polling polling(nullptr);
    EXPECT_FALSE(ByteForest::Of(model, TreesOf(model), Simd::kPortable, &polling).has_value());
}

}  // namespace
}  // namespace dpboost
