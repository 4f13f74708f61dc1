// What leaves by dpboost_export comes back by dpboost_import, and nothing else does: any changed byte is found, and bytes
// forged under a valid checksum give an error or a model that can be used.
#include "model/export/exported_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/checksum.h"
#include "base/error.h"
#include "model/explain/explain.h"
#include "model/export/export_sql.h"
#include "model/export/export_xgboost.h"
#include "support/thrown.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

ExportedModel Small() {
    return {"UTF8", "auto", 0.5, 1e-6, RandomModel(SmallFeatures(), 3, 3, 5).Serialize()};
}

std::string Resealed(std::string bytes) {
    bytes.resize(bytes.size() - kChecksumBytes);
    return bytes + Checksum(bytes);
}

TEST(ExportedModel, ComesBack) {
    const ExportedModel exported = Small();
    const ImportedModel imported = Unpack(Pack(exported));
    EXPECT_EQ(imported.claims.encoding, "UTF8");
    EXPECT_EQ(imported.claims.method, "auto");
    EXPECT_EQ(imported.claims.epsilon, 0.5);
    EXPECT_EQ(imported.claims.delta, 1e-6);
    EXPECT_EQ(imported.claims.model, exported.model);
    EXPECT_EQ(imported.model.Serialize(), exported.model);
    EXPECT_EQ(TextsOf(imported), "auto\nage\ngain\nsex\nF\nI\nM\ncity");
}

TEST(ExportedModel, EveryChangedByteIsFound) {
    const std::string bytes = Pack(Small());
    for (size_t i = 0; i < bytes.size(); i++) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        ASSERT_EQ(CodeOf([&] { Unpack(changed); }), ErrorCode::kInvalidParameter) << i;
        ASSERT_EQ(CodeOf([&] { Unpack(bytes.substr(0, i)); }), ErrorCode::kInvalidParameter) << i;
    }
    EXPECT_EQ(CodeOf([&] { Unpack(bytes + "x"); }), ErrorCode::kInvalidParameter);
}

TEST(ExportedModel, RefusesClaimsThatCannotBe) {
    for (const double epsilon : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        ExportedModel exported = Small();
        exported.epsilon = epsilon;
        EXPECT_EQ(CodeOf([&] { Unpack(Pack(exported)); }), ErrorCode::kInvalidParameter) << epsilon;
    }
    for (const double delta : {-1e-9, 1.0, std::nan("")}) {
        ExportedModel exported = Small();
        exported.delta = delta;
        EXPECT_EQ(CodeOf([&] { Unpack(Pack(exported)); }), ErrorCode::kInvalidParameter) << delta;
    }
    ExportedModel exported = Small();
    exported.method = std::string(64, 'm');
    EXPECT_EQ(CodeOf([&] { Unpack(Pack(exported)); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { Unpack(std::string(kMaxExportedModel + 1, 'x')); }), ErrorCode::kLimitExceeded);
}

TEST(ExportedModel, LaterVersionsAreNotGuessed) {
    std::string bytes = Pack(Small());
    bytes[8] = 2;
    EXPECT_EQ(Thrown([&] { Unpack(Resealed(bytes)); }),
              "the exported model has an unknown format version | It was exported by another version of "
              "dpboost. | Update "
              "the extension.");
}

// Whoever imports can compute checksums.
TEST(ExportedModel, ForgedBytesAreHarmless) {
    const ExportedModel exported = Small();
    NoInterrupt interrupt;
    Xorshift random;
    int used = 0;
    for (int i = 0; i < 20000; i++) {
        ExportedModel forged = exported;
        for (uint32_t changes = 1 + random.Below(3); changes > 0; changes--)
            forged.model[random.Below(static_cast<uint32_t>(forged.model.size()))] =
                static_cast<char>(random.Below(256));
        forged.model = Resealed(forged.model);
        try {
            const ImportedModel imported = Unpack(Pack(forged));
            ToXgboost(imported.model, {}, interrupt);
            DescribeFeatures(imported.model.features());
            used++;
            ToSql(imported.model, SqlDialect::kStandard, interrupt);
        } catch (const Error& error) {
            ASSERT_TRUE(error.code() == ErrorCode::kInvalidParameter ||
                        error.code() == ErrorCode::kUnsupported || error.code() == ErrorCode::kLimitExceeded)
                << error.message();
        }
    }
    EXPECT_GT(used, 1000);
}

ExportedModel ExportOf(const Model& model) {
    return {"UTF8", "auto", 0.5, 1e-6, model.Serialize()};
}

Tree SplitsEverywhere(unsigned depth) {
    Tree tree = Tree::OfDepth(depth, 1);
    for (size_t i = 0; i < tree.splits.size(); i++) {
        tree.splits[i].feature = static_cast<uint16_t>(i % 2);  // on one alone it would become a table
        tree.splits[i].threshold = static_cast<uint16_t>(30000 + i);
    }
    for (size_t i = 0; i < tree.leaves.size(); i++)
        tree.leaves[i] = static_cast<int32_t>(i);
    return tree;
}

// 20 bytes can stand for 65,534 bins: what they become must stay within bounds, wherever the model is used.
TEST(ExportedModel, FewBytesDoNotBecomeMuchMemory) {
    NoInterrupt interrupt;
    std::vector<FeatureSpec> features;
    for (int i = 0; i < 3000; i++)
        features.push_back(FeatureSpec::Hashed("f" + std::to_string(i), kMaxBins));
    const Model wide(features, TargetSpec::Binary(), Link::kLogistic);
    EXPECT_LT(wide.Serialize().size(), 100000U);
    EXPECT_EQ(CodeOf([&] { Unpack(Pack(ExportOf(wide))); }), ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { ToSql(wide, SqlDialect::kPostgres, interrupt); }), ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { ToXgboost(wide, {}, interrupt); }), ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { Explainer(wide, interrupt); }), ErrorCode::kLimitExceeded);
    features.erase(features.begin() + kMaxExportedBins / kMaxBins, features.end());
    EXPECT_NO_THROW(Unpack(Pack(ExportOf(Model(features, TargetSpec::Binary(), Link::kLogistic)))));
}

TEST(ExportedModel, DeepTreesOnManyLevelsDoNotBecomeMuchText) {
    NoInterrupt interrupt;
    std::vector<std::string> levels;
    for (uint32_t i = 0; i < kMaxBins; i++)
        levels.push_back(std::to_string(i));
    Model model({FeatureSpec::Levels("a", levels), FeatureSpec::Levels("b", levels)}, TargetSpec::Binary(),
                Link::kLogistic);
    model.AddTree(SplitsEverywhere(12));
    EXPECT_EQ(CodeOf([&] { ToSql(model, SqlDialect::kPostgres, interrupt); }), ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { ToXgboost(model, {}, interrupt); }), ErrorCode::kLimitExceeded);
}

}  // namespace
}  // namespace dpboost
