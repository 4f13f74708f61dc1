#include "model/predictor.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

void ExpectSameScores(const Model& model, int rows) {
    Predictor predictor(model);
    Xorshift random;
    size_t count = model.features().size();
    std::vector<uint16_t> codes(count * static_cast<size_t>(rows));
    for (size_t i = 0; i < codes.size(); i++) {
        uint32_t cells = model.features()[i % count].cells();
        // Every tenth code is missing, every tenth beyond all cells.
        uint32_t dice = random.Below(10);
        codes[i] = static_cast<uint16_t>(dice == 0 ? cells - 1 : dice == 1 ? 65535 : random.Below(cells));
    }
    for (int row = 0; row < rows; row++) {
        const uint16_t* at = codes.data() + static_cast<size_t>(row) * count;
        ASSERT_EQ(predictor.Score(at), model.Score(at));
        ASSERT_EQ(predictor.Predict(at), model.Predict(at));
    }
}

// Throws at the n'th look.
class CancelAt final : public Interrupt {
  public:
    explicit CancelAt(int look) : looks_left_(look) {}
    void Poll() override {
        if (--looks_left_ == 0)
            throw Error(ErrorCode::kCanceled, "canceled");
    }
    int looks_left() const { return looks_left_; }

  private:
    int looks_left_;
};

// Every tree is gone through some times: when it is read, asked what it is, and laid out.
TEST(Predictor, ACancelIsHeardWhileAModelIsReadAndCompiled) {
    const std::string bytes = RandomModel(SmallFeatures(), 1000, 6, 1).Serialize();
    CancelAt never(1 << 20);
    const Model model = Model::Parse(bytes, &never);
    const auto sixteenths = static_cast<int>(model.trees().size() / 16);
    EXPECT_GE(sixteenths, 40);
    EXPECT_EQ((1 << 20) - never.looks_left(), sixteenths);
    EXPECT_THROW(Model::Parse(bytes, std::make_unique<CancelAt>(sixteenths).get()), Error);
    for (const Simd simd : {Simd::kPortable, BestSimd()}) {
        CancelAt patient(1 << 20);
        Predictor(model, simd, &patient);
        const int looks = (1 << 20) - patient.looks_left();
        EXPECT_GE(looks, 2 * sixteenths);
        for (int look : {1, looks / 2, looks})
            EXPECT_THROW(Predictor(model, simd, std::make_unique<CancelAt>(look).get()), Error);
    }
}

TEST(Predictor, AgreesWithTheModel) {
    for (unsigned trees : {0u, 1u, 11u, 12u, 13u, 40u})
        ExpectSameScores(RandomModel(SmallFeatures(), trees, 6, trees), 200);
}

TEST(Predictor, AgreesAtEveryDepth) {
    for (unsigned depth = 1; depth <= kMaxDepth; depth++) {
        Xorshift random;
        Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
        for (int i = 0; i < 14; i++)
            model.AddTree(RandomTree(model.features(), depth, &random));
        ExpectSameScores(model, 50);
    }
}

TEST(Predictor, AgreesWithSeveralOutputs) {
    for (unsigned classes : {3u, 7u, 64u}) {
        for (unsigned trees : {0u, 1u, 13u, 40u}) {
            const Model model = RandomClassModel(SmallFeatures(), classes, trees, 6, trees);
            Predictor predictor(model);
            ASSERT_EQ(predictor.outputs(), classes);
            Xorshift random;
            std::vector<int64_t> plain(classes), fast(classes);
            for (int row = 0; row < 100; row++) {
                uint16_t codes[4];
                for (size_t f = 0; f < 4; f++)
                    codes[f] = static_cast<uint16_t>(random.Below(model.features()[f].cells() + 1));
                model.Scores(codes, plain.data());
                predictor.Scores(codes, fast.data());
                ASSERT_EQ(fast, plain);
                ASSERT_EQ(model.Score(codes, classes - 1), plain.back());
            }
        }
    }
}

TEST(Predictor, AgreesOnWideFeatures) {
    std::vector<FeatureSpec> features = SmallFeatures();
    features.push_back(FeatureSpec::Numeric("fine", {0, 1, Scale::kLinear, kMaxBins}));
    features.push_back(FeatureSpec::Hashed("many", 300));
    ExpectSameScores(RandomModel(features, 30, 6, 3), 200);
}

// More distinct questions than 16 bits can number: every split but one has a subset of its own.
TEST(Predictor, AgreesWithManyQuestions) {
    std::vector<FeatureSpec> features = {FeatureSpec::Hashed("h", 63), FeatureSpec::Numeric("x", {0, 1})};
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    Xorshift random;
    for (int i = 0; i < 17; i++) {
        Tree tree = Tree::OfDepth(12);
        for (Split& split : tree.splits) {
            split.kind = SplitKind::kSubset;
            split.subset = tree.AddSubset(features[0]);
            tree.subset_words[split.subset] = uint64_t{random.Below(1u << 31)} << 32 | random.Below(1u << 31);
        }
        tree.splits[5] = Split{1, 100, SplitKind::kThreshold, true, 0};
        for (int32_t& leaf : tree.leaves)
            leaf = static_cast<int32_t>(random.Below(1000));
        model.AddTree(tree);
    }
    Predictor predictor(model);
    EXPECT_GT(predictor.memory_used(), 4u * 17 * 4096 + 65536u * 64);
    ExpectSameScores(model, 30);
}

// Answers by code would take 65,000 codes times thousands of subsets: predicted plainly.
TEST(Predictor, AgreesWhereAnswersWouldTakeTooMuchMemory) {
    std::vector<FeatureSpec> features = {FeatureSpec::Hashed("h", 65000), FeatureSpec::Numeric("x", {0, 1})};
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    Xorshift random;
    Tree tree = RandomTree(features, 12, &random);
    for (Split& split : tree.splits)
        if (split.feature == 0) {
            split.kind = SplitKind::kLevel;
            split.threshold = static_cast<uint16_t>(random.Below(65000));
        }
    model.AddTree(tree);
    Predictor predictor(model);
    EXPECT_LT(predictor.memory_used(), size_t{16} << 20);
    ExpectSameScores(model, 30);
}

TEST(Predictor, TablesAlone) {
    Model model(SmallFeatures(), TargetSpec::Regression(1, 29), Link::kIdentity);
    for (size_t f = 0; f < 4; f++) {
        std::vector<int32_t> table(model.features()[f].cells());
        for (size_t i = 0; i < table.size(); i++)
            table[i] = static_cast<int32_t>(1000 * i * (f + 1));
        model.AddTable(f, table);
    }
    ExpectSameScores(model, 100);
}

}  // namespace
}  // namespace dpboost
