// The expression's text: what stands in it, what is refused, and how deep it is. That databases compute the model's
// scores from it is shown by sql/export.sql and test/run/exports.
#include "model/export/export_sql.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "support/thrown.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

std::string ToSql(const Model& model, SqlDialect dialect) {
    NoInterrupt interrupt;
    return ToSql(model, dialect, interrupt);
}

Model Small(Link link, const TargetSpec& target, int32_t size) {
    Model model({FeatureSpec::Numeric("a\"ge", {0, 10, Scale::kLinear, 4}),
                 FeatureSpec::Levels("sex", {"F", "it's"})},
                target, link);
    model.AddToBase(3);
    model.AddTable(0, {size, size, -size, -size, 0});
    model.AddTable(1, {5, 7, 5});
    return model;
}

const char* const kScore =
    "(3\n+ (CASE WHEN CAST(\"a\"\"ge\" AS double precision) BETWEEN -1.7976931348623157e308 AND "
    "1.7976931348623157e308 "
    "THEN CASE WHEN CAST(\"a\"\"ge\" AS double precision) <= 5 THEN 11 ELSE -11 END ELSE 0 END\n"
    "+ CASE \"sex\" WHEN 'it''s' THEN 7 ELSE 5 END))";

TEST(ExportSql, TextOfASmallModel) {
    EXPECT_EQ(ToSql(Small(Link::kLogistic, TargetSpec::Binary(), 11), SqlDialect::kStandard),
              "1 / (1 + exp(-CAST(" + std::string(kScore) + " AS double precision) / 1048576))");
    EXPECT_EQ(ToSql(Small(Link::kIdentity, TargetSpec::Regression(-0.5, 0.1), 11), SqlDialect::kStandard),
              "-0.5 + 0.6 * ((CAST(" + std::string(kScore) + " AS double precision) / 1048576 + 1) / 2)");
}

TEST(ExportSql, TextIsComparedByteForByteInPostgres) {
    const std::string sql = ToSql(Small(Link::kLogistic, TargetSpec::Binary(), 11), SqlDialect::kPostgres);
    EXPECT_NE(sql.find("CASE CAST(\"sex\" AS text) COLLATE \"C\" WHEN"), std::string::npos) << sql;
}

TEST(ExportSql, ClampsWhereAScoreCanLeaveTheRange) {
    const int32_t large = 2 << kFixedBits;
    const TargetSpec range = TargetSpec::Regression(1, 29);
    const std::string postgres = ToSql(Small(Link::kIdentity, range, large), SqlDialect::kPostgres);
    EXPECT_EQ(postgres.find("LEAST(GREATEST(1 + 28 * ((CAST(LEAST(GREATEST("), 0u) << postgres;
    const std::string standard = ToSql(Small(Link::kIdentity, range, large), SqlDialect::kStandard);
    EXPECT_NE(standard.find("<= -1048576 THEN 1\nWHEN"), std::string::npos) << standard;
    EXPECT_NE(standard.find(">= 1048576 THEN 29\nELSE"), std::string::npos) << standard;
    EXPECT_EQ(standard.find("LEAST"), std::string::npos);
    // exp of more than 709 is an error in PostgreSQL
    const std::string steep =
        ToSql(Small(Link::kLogistic, TargetSpec::Binary(), 800 << kFixedBits), SqlDialect::kPostgres);
    EXPECT_NE(steep.find("734003200"), std::string::npos) << steep;
}

TEST(ExportSql, LargeSumsAreWide) {
    Model model({FeatureSpec::Levels("sex", {"F", "M"})}, TargetSpec::Binary(), Link::kLogistic);
    model.AddToBase(2000000000);
    EXPECT_EQ(ToSql(model, SqlDialect::kPostgres).find("bigint"), std::string::npos);
    model.AddTable(0, {2000000000, 0, 0});
    EXPECT_NE(ToSql(model, SqlDialect::kPostgres).find("CAST(2000000000 AS bigint)"), std::string::npos);
}

TEST(ExportSql, SumsAreNoDeeperThanTheyMustBe) {
    std::vector<FeatureSpec> features;
    for (int i = 0; i < 3000; i++)
        features.push_back(FeatureSpec::Levels("f" + std::to_string(i), {"a"}));
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    for (size_t i = 0; i < features.size(); i++)
        model.AddTable(i, {1, 2});
    int depth = 0, deepest = 0;
    for (const char c : ToSql(model, SqlDialect::kStandard)) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        deepest = std::max(deepest, depth);
    }
    EXPECT_EQ(depth, 0);
    EXPECT_LT(deepest, 20);
}

TEST(ExportSql, RefusesHashedTextThatCounts) {
    std::vector<FeatureSpec> features = {FeatureSpec::Hashed("city", 4),
                                         FeatureSpec::Levels("sex", {"F", "M"})};
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    EXPECT_NO_THROW(ToSql(model, SqlDialect::kPostgres));
    model.AddTable(0, {1, 2, 3, 4, 5});
    EXPECT_EQ(CodeOf([&] { ToSql(model, SqlDialect::kPostgres); }), ErrorCode::kUnsupported);
    EXPECT_EQ(Thrown([&] { ToSql(model, SqlDialect::kPostgres); }),
              "feature \"city\" is hashed text, which cannot be written in SQL | Without a list of its "
              "values, a model "
              "knows a text by a hash only. | Declare the values by a CHECK constraint, an enum type or "
              "dpboost_set_domain, and train again.");
}

TEST(ExportSql, ClassesAreAListOfScores) {
    Model model({FeatureSpec::Levels("sex", {"F"})}, TargetSpec::Classes({"a", "b\"b", "c"}), Link::kSoftmax);
    model.AddToBase(1, 5);
    model.AddTable(0, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(
        ToSql(model, SqlDialect::kStandard),
        "CAST((0\n+ CASE \"sex\" WHEN 'F' THEN 1 ELSE 4 END) AS double precision) / 1048576 AS \"a\",\n"
        "CAST((5\n+ CASE \"sex\" WHEN 'F' THEN 2 ELSE 5 END) AS double precision) / 1048576 AS \"b\"\"b\",\n"
        "CAST((0\n+ CASE \"sex\" WHEN 'F' THEN 3 ELSE 6 END) AS double precision) / 1048576 AS \"c\"");
}

TEST(ExportSql, Dialects) {
    EXPECT_EQ(ParseSqlDialect("postgres"), SqlDialect::kPostgres);
    EXPECT_EQ(ParseSqlDialect("standard"), SqlDialect::kStandard);
    EXPECT_EQ(CodeOf([&] { ParseSqlDialect("postgresql"); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(Thrown([&] { ParseSqlDialect("postgresql"); }),
              "unknown SQL dialect \"postgresql\" | Dialects are \"postgres\" and \"standard\". | Perhaps "
              "you meant "
              "\"postgres\".");
}

TEST(ExportSql, BackslashesMeanThemselvesUnderAnySetting) {
    Model model({FeatureSpec::Levels("path", {"\\' OR 1", "b"})}, TargetSpec::Binary(), Link::kLogistic);
    model.AddTable(0, {5, 7, 5});
    EXPECT_NE(ToSql(model, SqlDialect::kPostgres).find(" WHEN 'b' THEN 7"), std::string::npos);
    model.AddTable(0, {1, 0, 0});
    EXPECT_NE(ToSql(model, SqlDialect::kPostgres).find(" WHEN E'\\\\'' OR 1' THEN 6"), std::string::npos);
}

}  // namespace
}  // namespace dpboost
