// Encodings from what is public: options before declarations before what is said about all columns, and on a table
// with a budget never wider than declared. Every refusal with its text.
#include "training/columns.h"

#include <gtest/gtest.h>

#include <chrono>

#include "dataset/encoder.h"
#include "support/json.h"
#include "support/thrown.h"
#include "unit/training/column.h"

namespace dpboost {
namespace {

Domain Range(double lower, double upper, const char* scale = "auto") {
    return Domain::Range("", lower, upper, scale);
}

Domain Levels(const std::vector<std::string>& levels) {
    return Domain::Levels("", levels);
}

TrainingOptions Options(const std::string& more) {
    return ParseOptions(*Json("{\"epsilon\": 1" + (more.empty() ? "" : ", " + more) + "}"), {});
}

FeatureEncodings Encode(const std::vector<PublicColumn>& columns, const std::string& more,
                        bool governed = false) {
    return EncodeFeatures(columns, Options(more), governed, "target");
}

FeatureSpec EncodeOne(const PublicColumn& column, const std::string& more, bool governed = false) {
    return Encode({column}, more, governed).specs[0];
}

std::string Refused(const PublicColumn& column, const std::string& more, bool governed = false) {
    return Thrown([&] { Encode({column}, more, governed); });
}

// ---- features ----

TEST(ColumnsTest, AnOptionBeatsADeclarationBeatsAllColumns) {
    const PublicColumn declared = Column("x", ValueKind::kFloat8, Range(0, 8, "linear"));
    const PublicColumn bare = Column("x", ValueKind::kFloat8);
    EXPECT_EQ(EncodeOne(declared, "").upper(), 8);
    EXPECT_EQ(EncodeOne(declared, "\"bounds\": {\"x\": [0, 4]}").upper(), 4);
    EXPECT_EQ(EncodeOne(declared, "\"bounds\": [[0, 5]]").upper(), 5);
    EXPECT_EQ(EncodeOne(declared, "\"bounds\": [0, 2]").upper(), 8);
    EXPECT_EQ(EncodeOne(declared, "\"bounds\": \"private\"").upper(), 8);
    EXPECT_EQ(EncodeOne(bare, "\"bounds\": {\"x\": [0, 4]}").upper(), 4);
    EXPECT_EQ(EncodeOne(bare, "\"bounds\": [0, 2]").upper(), 2);
}

TEST(ColumnsTest, ScaleAndBinsReachTheGrid) {
    const PublicColumn x = Column("x", ValueKind::kFloat8);
    EXPECT_EQ(EncodeOne(x, "\"bounds\": {\"x\": [0, 100]}").bins(), kDefaultBins);
    EXPECT_EQ(EncodeOne(x, "\"bounds\": {\"x\": [0, 100]}, \"bins\": 16").bins(), 16u);
    const FeatureSpec linear = EncodeOne(x, "\"bounds\": {\"x\": [1, 100000, \"linear\"]}, \"bins\": 10");
    const FeatureSpec log = EncodeOne(x, "\"bounds\": {\"x\": [1, 100000, \"log\"]}, \"bins\": 10");
    EXPECT_EQ(Encoder(linear).Number(1000), 0);
    EXPECT_GT(Encoder(log).Number(1000), 2);
    const PublicColumn declared = Column("x", ValueKind::kFloat8, Range(1, 100000, "log"));
    EXPECT_EQ(EncodeOne(declared, "\"bins\": 10"), log);
}

TEST(ColumnsTest, WholeNumbersAndDatesAreCutBetweenThem) {
    for (const ValueKind kind : {ValueKind::kInt2, ValueKind::kInt4, ValueKind::kInt8, ValueKind::kDate})
        EXPECT_TRUE(EncodeOne(Column("x", kind, Range(0, 9)), "").integer());
    for (const ValueKind kind :
         {ValueKind::kFloat4, ValueKind::kFloat8, ValueKind::kNumeric, ValueKind::kTimestamp})
        EXPECT_FALSE(EncodeOne(Column("x", kind, Range(0, 9)), "").integer());
    EXPECT_EQ(EncodeOne(Column("x", ValueKind::kInt4, Range(0, 9)), "").bins(), 10u);
}

TEST(ColumnsTest, RangesThatTheTrainingFinds) {
    const std::vector<PublicColumn> columns = {Column("a", ValueKind::kFloat8), Column("b", ValueKind::kText),
                                               Column("c", ValueKind::kFloat8, Range(0, 1)),
                                               Column("d", ValueKind::kInt4)};
    EXPECT_EQ(Encode(columns, "\"bounds\": \"private\"").find_private, (std::vector<size_t>{0, 3}));
    EXPECT_EQ(Encode(columns, "\"bounds\": {\"a\": [0, 1], \"c\": \"private\", \"d\": [0, 1]}").find_private,
              (std::vector<size_t>{2}));
    EXPECT_TRUE(Encode(columns, "\"bounds\": [0, 1]").find_private.empty());
    EXPECT_EQ(
        Encode(columns, "\"bounds\": {\"b\": \"private\", \"a\": [0, 1], \"d\": [0, 1]}").specs[1].kind(),
        FeatureKind::kHashed);
    EXPECT_GT(Encode(columns, "\"bounds\": \"private\"").specs[0].upper(), 1e17);
}

TEST(ColumnsTest, NoRange) {
    const std::string text =
        "column \"x\" has no public range | A range that was read from the rows would tell about people. | "
        "Give it in the "
        "options as {\"bounds\": {\"x\": [lower, upper]}}, have it declared with dpboost_set_domain or a "
        "CHECK "
        "constraint, or say "
        "{\"bounds\": \"private\"} to spend a share of epsilon on finding it.";
    EXPECT_EQ(Refused(Column("x", ValueKind::kFloat8), ""), text);
    const size_t range = text.find("[lower, upper]");
    const std::string times =
        text.substr(0, range) + "[\"YYYY-MM-DD\", \"YYYY-MM-DD\"]" + text.substr(range + 14);
    EXPECT_EQ(Refused(Column("x", ValueKind::kTimestamp), "\"bounds\": {}"), times);
    EXPECT_EQ(Refused(Column("x", ValueKind::kTimestamp), "\"bounds\": [0, 1]"), times);
}

TEST(ColumnsTest, AllColumnsWithoutARangeAreNamedAtOnce) {
    const std::vector<PublicColumn> columns = {Column("a", ValueKind::kInt4), Column("b", ValueKind::kText),
                                               Column("c", ValueKind::kFloat8, Range(0, 1)),
                                               Column("it's", ValueKind::kDate)};
    EXPECT_EQ(
        Thrown([&] { EncodeFeatures(columns, Options(""), false, "target", "s.t"); }),
        "columns \"a\", \"it's\" have no public range | A range that was read from the rows would tell about "
        "people. | Give them in the options as {\"bounds\": {\"a\": [lower, upper], \"it's\": "
        "[\"YYYY-MM-DD\", \"YYYY-MM-DD\"]}}, "
        "have them declared with SELECT dpboost_set_domain('s.t', 'a', lower, upper), "
        "dpboost_set_domain('s.t', 'it''s', 'YYYY-MM-DD', 'YYYY-MM-DD'); or a CHECK constraint, or say "
        "{\"bounds\": "
        "\"private\"} to spend a share of epsilon on finding them.");
}

TEST(ColumnsTest, IntegerCodesAreLevels) {
    const PublicColumn codes = Column("x", ValueKind::kInt8, Levels({"3", "1"}));
    EXPECT_EQ(EncodeOne(codes, "").levels(), (std::vector<std::string>{"3", "1"}));
    EXPECT_EQ(EncodeOne(codes, "\"bounds\": [0, 9]").levels(), (std::vector<std::string>{"3", "1"}));
    EXPECT_EQ(EncodeOne(Column("x", ValueKind::kInt2), "\"bounds\": {\"x\": [\"07\", \"-1\"]}").levels(),
              (std::vector<std::string>{"7", "-1"}));
    EXPECT_EQ(Refused(Column("x", ValueKind::kInt2), "\"bounds\": {\"x\": [\"7\", \"seven\"]}"),
              "invalid bounds for column \"x\" | The levels of an integer column are whole numbers. | ");
    EXPECT_EQ(Refused(Column("x", ValueKind::kInt2), "\"bounds\": {\"x\": [\"7\", \"07\"]}"),
              "invalid bounds for column \"x\" | Level \"7\" is listed twice. | ");
}

TEST(ColumnsTest, DescribesDomainsAsBoundsTakeThem) {
    EXPECT_EQ(DescribeDomain(Column("x", ValueKind::kInt4, Range(0, 9)), ""), "[0, 9]");
    EXPECT_EQ(DescribeDomain(Column("x", ValueKind::kText, Levels({"a", "b\""})), ""), "[\"a\", \"b\\\"\"]");
    EXPECT_EQ(DescribeDomain(Column("x", ValueKind::kDate, Range(0, 9131)), ""),
              "[\"2000-01-01\", \"2024-12-31\"]");
    EXPECT_EQ(DescribeDomain(Column("x", ValueKind::kTimestamp, Range(-1, 86399)), "+00"),
              "[\"1999-12-31 23:59:59+00\", \"2000-01-01 23:59:59+00\"]");
    EXPECT_EQ(DescribeDomain(Column("x", ValueKind::kText), ""), "");
}

TEST(ColumnsTest, PrintsDates) {
    EXPECT_EQ(PrintedValue(ValueKind::kDate, 59), "2000-02-29");
    EXPECT_EQ(PrintedValue(ValueKind::kDate, 60), "2000-03-01");
    EXPECT_EQ(PrintedValue(ValueKind::kDate, 36583), "2100-02-28");
    EXPECT_EQ(PrintedValue(ValueKind::kDate, 36584), "2100-03-01");
    EXPECT_EQ(PrintedValue(ValueKind::kDate, -36525), "1899-12-31");
    EXPECT_EQ(PrintedValue(ValueKind::kDate, -730485), "0000-01-01");
    EXPECT_EQ(PrintedValue(ValueKind::kFloat8, 2.5), "2.5");
}

TEST(ColumnsTest, TextEnumsAndBooleans) {
    for (const ValueKind kind :
         {ValueKind::kText, ValueKind::kBpchar, ValueKind::kName, ValueKind::kEnum, ValueKind::kUnknown}) {
        EXPECT_EQ(EncodeOne(Column("x", kind), "").kind(), FeatureKind::kHashed);
        EXPECT_EQ(EncodeOne(Column("x", kind), "\"bounds\": [0, 1]").kind(), FeatureKind::kHashed);
        EXPECT_EQ(EncodeOne(Column("x", kind, Levels({"b", "a"})), "").levels(),
                  (std::vector<std::string>{"b", "a"}));
        EXPECT_EQ(EncodeOne(Column("x", kind, Levels({"b", "a"})), "\"bounds\": {\"x\": [\"c\"]}").levels(),
                  (std::vector<std::string>{"c"}));
        EXPECT_EQ(Refused(Column("x", kind), "\"bounds\": {\"x\": [0, 1]}"),
                  "invalid bounds for column \"x\" | A range is for numbers; this column holds text. | ");
    }
    Domain boolean;
    boolean.kind = DomainKind::kBoolean;
    const PublicColumn flag = Column("x", ValueKind::kBoolean, boolean);
    EXPECT_EQ(EncodeOne(flag, ""), FeatureSpec::Boolean("x"));
    EXPECT_EQ(EncodeOne(flag, "\"bounds\": {\"x\": [\"true\"]}"), FeatureSpec::Boolean("x"));
    EXPECT_EQ(Refused(flag, "\"bounds\": {\"x\": [\"yes\"]}"),
              "invalid bounds for column \"x\" | The levels of a boolean are \"true\" and \"false\". | ");
    EXPECT_EQ(Refused(Column("x", ValueKind::kFloat8), "\"bounds\": {\"x\": [\"a\"]}"),
              "invalid bounds for column \"x\" | A list of levels is for text, enums, booleans and integers; "
              "this column holds other numbers. | ");
}

TEST(ColumnsTest, GovernedColumnsCanOnlyBeNarrowed) {
    const std::string start = "bounds of column \"x\" are wider than declared | ";
    const std::string hint =
        " | On a table with a privacy budget, options may only narrow what its owner declared.";
    const PublicColumn number = Column("x", ValueKind::kFloat8, Range(0, 10));
    EXPECT_EQ(Refused(number, "\"bounds\": {\"x\": [0, 11]}", true),
              start + "The call says [0, 11], the table says [0, 10]." + hint);
    EXPECT_EQ(Refused(number, "\"bounds\": {\"x\": [-0.5, 10]}", true),
              start + "The call says [-0.5, 10], the table says [0, 10]." + hint);
    EXPECT_EQ(EncodeOne(number, "\"bounds\": {\"x\": [1, 10]}", true).lower(), 1);
    EXPECT_EQ(EncodeOne(number, "\"bounds\": {\"x\": [0, 11]}", false).upper(), 11);
    EXPECT_EQ(EncodeOne(Column("x", ValueKind::kFloat8), "\"bounds\": {\"x\": [0, 11]}", true).upper(), 11);

    const PublicColumn codes = Column("x", ValueKind::kInt4, Levels({"1", "2"}));
    EXPECT_EQ(Refused(codes, "\"bounds\": {\"x\": [1, 2]}", true),
              start + "The call gives a range, the table a list of levels." + hint);
    EXPECT_EQ(Refused(codes, "\"bounds\": {\"x\": [\"2\", \"3\"]}", true),
              start + "Level \"3\" is not among the declared ones." + hint);
    EXPECT_EQ(Refused(Column("x", ValueKind::kInt4, Range(0, 10)), "\"bounds\": {\"x\": [\"11\"]}", true),
              start + "Level \"11\" is not among the declared ones." + hint);
    EXPECT_EQ(
        Refused(Column("x", ValueKind::kDate, Range(0, 10)), "\"bounds\": {\"x\": [0, 11]}", true),
        start + "The call says [2000-01-01, 2000-01-12], the table says [2000-01-01, 2000-01-11]." + hint);

    const PublicColumn text = Column("x", ValueKind::kText, Levels({"a", "b"}));
    EXPECT_EQ(Refused(text, "\"bounds\": {\"x\": [\"a\", \"z\"]}", true),
              start + "Level \"z\" is not among the declared ones." + hint);
    EXPECT_EQ(EncodeOne(text, "\"bounds\": {\"x\": [\"b\"]}", true).levels(),
              (std::vector<std::string>{"b"}));
    EXPECT_EQ(EncodeOne(text, "\"bounds\": {\"x\": [\"z\"]}", false).levels(),
              (std::vector<std::string>{"z"}));
}

TEST(ColumnsTest, ManyLevelsAreComparedInNoTime) {
    std::vector<std::string> declared;
    for (int i = 0; i < 60000; i++)
        declared.push_back("level " + std::to_string(i));
    TrainingOptions options = Options("");
    options.bounds.named["x"] = Levels({declared.rbegin(), declared.rend()});
    const PublicColumn column = Column("x", ValueKind::kText, Levels(declared));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(EncodeFeatures({column}, options, true, "y").specs[0].bins(), 60000u);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 1);
}

TEST(ColumnsTest, BoundsThatFitNoColumn) {
    const std::vector<PublicColumn> columns = {Column("age", ValueKind::kFloat8, Range(0, 1)),
                                               Column("hours", ValueKind::kFloat8, Range(0, 1))};
    const auto refused = [&](const char* more) { return Thrown([&] { Encode(columns, more); }); };
    EXPECT_EQ(refused("\"bounds\": {\"agee\": [0, 1]}"),
              "bounds name \"agee\", which is no feature of this training |  | Perhaps you meant \"age\".");
    EXPECT_EQ(refused("\"bounds\": {\"something else\": [0, 1]}"),
              "bounds name \"something else\", which is no feature of this training |  | ");
    EXPECT_EQ(refused("\"bounds\": {\"target\": [0, 1]}"), "no error");
    EXPECT_EQ(refused("\"bounds\": [[0, 1]]"), "bounds are listed for 1 feature, and the call has 2 |  | ");
    EXPECT_EQ(refused("\"bounds\": [[0, 1], [0, 1], [0, 1]]"),
              "bounds are listed for 3 features, and the call has 2 |  | ");
    EXPECT_EQ(Thrown([] { Encode({}, ""); }), "there is no feature to train on |  | ");
}

// ---- target ----

TargetRule Target(const PublicColumn& column, const std::string& more, bool governed = false) {
    return EncodeTarget(column, Options(more), governed);
}

std::string RefusedTarget(const PublicColumn& column, const std::string& more, bool governed = false) {
    return Thrown([&] { Target(column, more, governed); });
}

TEST(ColumnsTest, TheTaskFollowsTheTarget) {
    for (const ValueKind kind : {ValueKind::kFloat8, ValueKind::kInt4, ValueKind::kDate}) {
        EXPECT_TRUE(Target(Column("y", kind, Range(0, 1)), "").by_number);
        EXPECT_FALSE(Target(Column("y", kind, Range(0, 1)), "\"positive\": 0").by_number);
        EXPECT_FALSE(Target(Column("y", kind, Range(0, 1)), "\"task\": \"classification\"").by_number);
    }
    EXPECT_FALSE(Target(Column("y", ValueKind::kBoolean), "").by_number);
    EXPECT_TRUE(Target(Column("y", ValueKind::kBoolean), "\"task\": \"regression\"").by_number);
    EXPECT_FALSE(Target(Column("y", ValueKind::kText), "\"positive\": \"a\"").by_number);
}

TEST(ColumnsTest, RangeOfATarget) {
    const PublicColumn declared = Column("y", ValueKind::kFloat8, Range(0, 8));
    const PublicColumn bare = Column("y", ValueKind::kFloat8);
    EXPECT_EQ(Target(declared, "").spec.upper(), 8);
    EXPECT_EQ(Target(declared, "\"bounds\": {\"y\": [0, 4]}").spec.upper(), 4);
    EXPECT_EQ(Target(declared, "\"bounds\": {\"y\": \"private\"}").spec.upper(), 8);
    EXPECT_EQ(Target(declared, "\"bounds\": {\"y\": [0, 4]}, \"target_range\": [0, 2]").spec.upper(), 2);
    EXPECT_EQ(Target(bare, "\"target_range\": [-3, 2]").spec.lower(), -3);
    EXPECT_EQ(Target(Column("y", ValueKind::kBoolean), "\"task\": \"regression\"").spec.upper(), 1);
    const std::string none =
        "target \"y\" has no public range | A range that was read from the rows would tell about people. | "
        "Give it in the "
        "options as {\"target_range\": [lower, upper]}, or declare it with dpboost_set_domain or a CHECK "
        "constraint. To learn whether it is 1, say {\"task\": \"classification\"}, and {\"positive\": ...} "
        "for "
        "another value.";
    EXPECT_EQ(RefusedTarget(bare, ""), none);
    EXPECT_EQ(RefusedTarget(bare, "\"bounds\": [0, 1]"), none);
    EXPECT_EQ(RefusedTarget(declared, "\"target_range\": [0, 9]", true),
              "bounds of column \"y\" are wider than declared | The call says [0, 9], the table says [0, 8]. "
              "| On a table with "
              "a privacy budget, options may only narrow what its owner declared.");
    EXPECT_EQ(RefusedTarget(declared, "\"target_range\": [0, 9]", false), "no error");
}

TEST(ColumnsTest, PositiveClass) {
    EXPECT_EQ(Target(Column("y", ValueKind::kBoolean), "").positive, "true");
    EXPECT_EQ(Target(Column("y", ValueKind::kBoolean), "\"positive\": false").positive, "false");
    EXPECT_EQ(Target(Column("y", ValueKind::kInt4), "\"task\": \"classification\"").positive, "1");
    EXPECT_EQ(Target(Column("y", ValueKind::kInt4), "\"positive\": \"2.5\"").positive, "2.5");
    EXPECT_EQ(Target(Column("y", ValueKind::kText), "\"positive\": \"yes\"").positive, "yes");
    EXPECT_EQ(Target(Column("y", ValueKind::kEnum, Levels({"a", "b"})), "\"positive\": \"b\"").positive, "b");
}

TEST(ColumnsTest, SeveralClasses) {
    const std::vector<std::string> abc = {"a", "b", "c"};
    const auto classes = [](const TargetRule& rule) { return rule.spec.classes(); };
    const PublicColumn text = Column("y", ValueKind::kText),
                       listed = Column("y", ValueKind::kEnum, Levels(abc));
    EXPECT_EQ(classes(Target(text, "\"classes\": [\"a\", \"b\", \"c\"]")), abc);
    EXPECT_EQ(classes(Target(text, "\"bounds\": {\"y\": [\"a\", \"b\", \"c\"]}")), abc);
    EXPECT_EQ(classes(Target(listed, "")), abc);
    EXPECT_EQ(
        RefusedTarget(listed, "\"classes\": [\"c\", \"b\", \"A\"]"),
        "option \"classes\" must list levels of the target | It has \"A\"; the levels of \"y\" are \"a\", "
        "\"b\", \"c\". | Perhaps you meant \"a\".");
    EXPECT_EQ(Target(listed, "").spec.task(), Task::kClasses);
    EXPECT_EQ(Target(listed, "\"positive\": \"b\"").spec.task(), Task::kBinary);
    EXPECT_EQ(Target(listed, "\"positive\": \"b\"").classes, nullptr);
    const TargetRule codes = Target(Column("y", ValueKind::kInt4), "\"classes\": [\"07\", 8, \"9\"]");
    EXPECT_EQ(classes(codes), (std::vector<std::string>{"7", "8", "9"}));
    EXPECT_EQ(codes.classes->Text("8", 1), 1);
    EXPECT_EQ(codes.classes->Text("10", 2), codes.classes->Missing());
    float label = 0;
    EXPECT_FALSE(codes.spec.Label(codes.classes->Missing(), &label)) << "what is no class is no label";
    EXPECT_EQ(Target(Column("y", ValueKind::kInt4, Levels({"1", "2", "3"})), "").spec.task(), Task::kClasses);
    EXPECT_EQ(Target(Column("y", ValueKind::kInt4, Range(1, 3)), "").spec.task(), Task::kRegression);
    // Of two the other one has a name where it is declared.
    EXPECT_EQ(classes(Target(Column("y", ValueKind::kBoolean), "\"positive\": false")),
              (std::vector<std::string>{"true", "false"}));
    EXPECT_EQ(classes(Target(Column("y", ValueKind::kText, Levels({"a", "b"})), "\"positive\": \"a\"")),
              (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(classes(Target(text, "\"positive\": \"a\"")), (std::vector<std::string>{"not a", "a"}));
}

TEST(ColumnsTest, RefusedClasses) {
    const PublicColumn text = Column("y", ValueKind::kText);
    const std::string three = "\"classes\": [\"a\", \"b\", \"c\"]";
    EXPECT_EQ(RefusedTarget(text, three + ", \"positive\": \"a\""),
              "options \"classes\" and \"positive\" exclude each other |  | ");
    EXPECT_EQ(RefusedTarget(text, three + ", \"task\": \"regression\""),
              "option \"classes\" is for classification only |  | ");
    for (const ValueKind kind : {ValueKind::kFloat8, ValueKind::kBoolean})
        EXPECT_EQ(
            RefusedTarget(Column("y", kind), three),
            "target \"y\" cannot have several classes | Classes are texts, enum labels or integers. | ");
    EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kInt4), three),
              "invalid bounds for column \"y\" | The levels of an integer column are whole numbers. | ");
    std::vector<std::string> many;
    for (int i = 0; i < 65; i++)
        many.push_back(std::to_string(i));
    EXPECT_EQ(
        RefusedTarget(Column("y", ValueKind::kText, Levels(many)), ""),
        "target \"y\" has too many classes | It has 65 levels; 64 can be told apart. | List some of them in "
        "the option \"classes\", or name one in \"positive\".");
}

TEST(ColumnsTest, RefusedTargets) {
    const PublicColumn text = Column("y", ValueKind::kText);
    EXPECT_EQ(
        RefusedTarget(text, ""),
        "option \"positive\" is missing | Target \"y\" holds text; a model tells one class, the "
        "positive one, "
        "from all others. | "
        "Add it to the options, for example {\"positive\": \"yes\"}; or, of three classes and more, list "
        "them in \"classes\".");
    EXPECT_EQ(
        RefusedTarget(text, "\"task\": \"regression\""),
        "regression needs a numeric target | Target \"y\" holds text. | Use {\"task\": \"classification\", "
        "\"positive\": ...}.");
    EXPECT_EQ(CodeOf([&] { Target(text, "\"task\": \"regression\""); }), ErrorCode::kWrongType);
    EXPECT_EQ(RefusedTarget(text, "\"task\": \"regression\", \"positive\": \"a\""),
              "option \"positive\" is for classification only |  | ");
    EXPECT_EQ(RefusedTarget(text, "\"positive\": \"a\", \"target_range\": [0, 1]"),
              "option \"target_range\" is for regression only |  | ");
    EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kBoolean), "\"positive\": \"yes\""),
              "option \"positive\" must be true or false for a boolean target |  | ");
    for (const char* positive : {"\"yes\"", "\"\"", "\"1x\""})
        EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kInt4), std::string("\"positive\": ") + positive),
                  "option \"positive\" must be a number for a numeric target |  | ");
    EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kEnum, Levels({"a", "b"})), "\"positive\": \"c\""),
              "option \"positive\" must be one of the target's levels | It is \"c\"; the levels of \"y\" are "
              "\"a\", \"b\". | ");
    EXPECT_EQ(
        RefusedTarget(Column("y", ValueKind::kInt4, Range(0, 3)), "\"positive\": 4"),
        "option \"positive\" must lie in the target's range | It is \"4\"; the range of \"y\" is [0, 3]. | ");
    EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kInt4, Levels({"1", "2"})), "\"positive\": 2.0"),
              "no error");
    EXPECT_EQ(RefusedTarget(Column("y", ValueKind::kInt4, Levels({"1", "2"})), "\"positive\": 3"),
              "option \"positive\" must be one of the target's levels | It is \"3\"; the levels of \"y\" are "
              "\"1\", \"2\". | ");
    std::vector<std::string> many;
    std::string shown;
    for (int i = 0; i < 30; i++) {
        many.push_back("l" + std::to_string(i));
        if (i < 20)
            shown += "\"" + many.back() + "\", ";
    }
    EXPECT_EQ(
        RefusedTarget(Column("y", ValueKind::kText, Levels(many)), "\"positive\": \"c\""),
        "option \"positive\" must be one of the target's levels | It is \"c\"; the levels of \"y\" are " +
            shown + "... | ");
}

}  // namespace
}  // namespace dpboost
