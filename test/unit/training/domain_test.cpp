// Domains: every form of "bounds", every refusal with its text, and long lists of levels in time linear in them.
#include "training/domain.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "support/json.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

const std::string kForms =
    "A column's bounds are [lower, upper], [lower, upper, \"linear\" or \"log\"], a list of levels such as "
    "[\"F\", \"M\"], or "
    "\"private\".";

std::string Refused(const std::string& bounds) {
    return Thrown([&] { ReadBounds(*Json(bounds)); });
}

TEST(DomainTest, Forms) {
    const BoundsOption named = ReadBounds(
        *Json(R"({"age": [17, 90], "gain": [-1.5, 2e3, "log"], "sex": ["F", "M"], "x": "private"})"));
    ASSERT_NE(named.Find("age", 0), nullptr);
    EXPECT_EQ(named.Find("age", 0)->kind, DomainKind::kRange);
    EXPECT_EQ(named.Find("age", 0)->lower, 17);
    EXPECT_EQ(named.Find("age", 0)->upper, 90);
    EXPECT_EQ(named.Find("age", 0)->scale, Scale::kAuto);
    EXPECT_EQ(named.Find("gain", 0)->scale, Scale::kLog);
    EXPECT_EQ(named.Find("gain", 0)->lower, -1.5);
    EXPECT_EQ(named.Find("sex", 0)->levels, (std::vector<std::string>{"F", "M"}));
    EXPECT_EQ(named.Find("x", 0)->kind, DomainKind::kPrivate);
    EXPECT_EQ(named.Find("y", 0), nullptr);

    const BoundsOption listed = ReadBounds(*Json(R"([[0, 1, "linear"], ["a"], "private", [0, 1, "auto"]])"));
    EXPECT_EQ(listed.Find("f1", 0)->scale, Scale::kLinear);
    EXPECT_EQ(listed.Find("f2", 1)->kind, DomainKind::kLevels);
    EXPECT_EQ(listed.Find("f3", 2)->kind, DomainKind::kPrivate);
    EXPECT_EQ(listed.Find("f5", 4), nullptr);
    EXPECT_FALSE(listed.all);

    EXPECT_EQ(ReadBounds(*Json("[0, 9]")).all->upper, 9);
    EXPECT_EQ(ReadBounds(*Json("\"private\"")).all->kind, DomainKind::kPrivate);
    EXPECT_EQ(ReadBounds(*Json("[0, 9]")).Find("x", 0), nullptr);
}

TEST(DomainTest, WhatIsNoBounds) {
    for (const auto& [bounds, shown] : std::vector<std::pair<const char*, const char*>>{
             {"3", "3"}, {"null", "null"}, {"true", "true"}, {"\"public\"", "the string \"public\""}})
        EXPECT_EQ(Refused(bounds),
                  std::string("option \"bounds\" must be an object, an array or \"private\" | It is ") +
                      shown + ". | ");
    for (const char* form : {"3", "null", "{}", "[]", "[3]", "[1, 2, 3]", "[0, \"1\"]", "[0, 1, \"log\", 1]",
                             "[[0, 1]]", "\"publik\"", "[null, 1]", "[true, false]"})
        EXPECT_EQ(Refused(std::string("{\"x\": ") + form + "}"),
                  "invalid bounds for column \"x\" | The value has another form. | " + kForms)
            << form;
    EXPECT_EQ(Refused("[]"), "invalid bounds for all columns | The value has another form. | " + kForms);
    EXPECT_EQ(Refused("[[0, 1], 3]"),
              "invalid bounds for feature number 2 | The value has another form. | " + kForms);
}

TEST(DomainTest, Ranges) {
    const std::string start = "invalid bounds for column \"x\" | ";
    for (const char* range : {"[1, 0]", "[1, 1]", "[0, 1e400]", "[-1e400, 0]"})
        EXPECT_EQ(Refused(std::string("{\"x\": ") + range + "}"),
                  start + "The lower bound must be below the upper one, and both finite. | " + kForms)
            << range;
    EXPECT_EQ(Refused("{\"x\": [0, 1, \"cubic\"]}"),
              start + "The scale must be \"linear\", \"log\" or \"auto\". | " + kForms);
    EXPECT_EQ(
        Thrown([] { Domain::Range("domain of column \"x\"", std::nan(""), 1); }),
        "invalid domain of column \"x\" | The lower bound must be below the upper one, and both finite. | ");
    EXPECT_EQ(Thrown([] { Domain::Range("domain of column \"x\"", 0, 1, "Log"); }),
              "invalid domain of column \"x\" | The scale must be \"linear\", \"log\" or \"auto\". | ");
    EXPECT_EQ(Domain::Range("", -2, 2, "log").scale, Scale::kLog);
}

TEST(DomainTest, TimesAreBounds) {
    Json json("{\"born\": [\"1900-01-01\", \"2000-01-01\"]}");
    for (int i = 0; i < 2; i++) {  // as PostgreSQL's side reads them
        json->items[0].items[i].kind = JsonValue::kTime;
        json->items[0].items[i].number = i == 0 ? -36524 : 0;
    }
    const BoundsOption bounds = ReadBounds(*json);
    EXPECT_EQ(bounds.Find("born", 0)->lower, -36524);
    EXPECT_EQ(bounds.Find("born", 0)->upper, 0);
}

TEST(DomainTest, Levels) {
    const std::string start = "invalid bounds for column \"x\" | ";
    EXPECT_EQ(Refused("{\"x\": [\"a\", 1]}"), start + "A list of levels holds strings only. | " + kForms);
    EXPECT_EQ(Refused("{\"x\": [\"a\", \"b\", \"a\"]}"), start + "Level \"a\" is listed twice. | " + kForms);
    EXPECT_EQ(Thrown([] { Domain::Levels("domain of column \"x\"", {}); }),
              "invalid domain of column \"x\" | The list of levels is empty. | ");
    EXPECT_EQ(Domain::Levels("", {"", "a", "A"}).levels.size(), 3u);
}

std::vector<std::string> ManyLevels(size_t count) {
    std::vector<std::string> levels;
    for (size_t i = 0; i < count; i++)
        levels.push_back("level " + std::to_string(i));
    return levels;
}

TEST(DomainTest, MoreLevelsThanAColumnCanHave) {
    EXPECT_EQ(Domain::Levels("", ManyLevels(65534)).levels.size(), 65534u);
    const std::string refused =
        "There are more than 65534 levels. | Leave the levels out, so that texts are hashed to buckets.";
    EXPECT_EQ(Thrown([] { Domain::Levels("domain", ManyLevels(65535)); }), "invalid domain | " + refused);
    EXPECT_EQ(Thrown([] { CheckLevelCount("domain", 65534); }), "no error");
    EXPECT_EQ(Thrown([] { CheckLevelCount("domain", 65535); }), "invalid domain | " + refused);
}

// They were compared one by one, in a place that serves no interrupt: 48 s.
TEST(DomainTest, ManyLevelsTakeNoTime) {
    std::string text = "{\"x\": [";
    for (int i = 0; i < 200'000; i++)
        text += (i == 0 ? "\"level " : ", \"level ") + std::to_string(i) + "\"";
    const Json many(text + "]}");
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(Thrown([&] { ReadBounds(*many); }).find("There are more than 65534 levels."),
              std::string::npos);
    const auto refused = std::chrono::steady_clock::now();
    EXPECT_LT(std::chrono::duration<double>(refused - start).count(), 0.05);
    const_cast<JsonValue*>(&many->items[0])->count = 65534;
    EXPECT_EQ(ReadBounds(*many).Find("x", 0)->levels.size(), 65534u);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - refused).count(), 1);
}

TEST(DomainTest, MoreBoundsThanATrainingCanUse) {
    const std::string refused =
        "option \"bounds\" is too long | It may hold 65536 columns, with 1000000 levels together. | ";
    std::vector<JsonValue> columns(65537);
    JsonValue bounds{};
    bounds.kind = JsonValue::kArray;
    bounds.items = columns.data();
    bounds.count = 65537;
    EXPECT_EQ(Thrown([&] { ReadBounds(bounds); }), refused);
    EXPECT_EQ(CodeOf([&] { ReadBounds(bounds); }), ErrorCode::kLimitExceeded);
    bounds.count = 65536;
    EXPECT_EQ(Thrown([&] { ReadBounds(bounds); }),
              "invalid bounds for feature number 1 | The value has another form. | " + kForms);
    bounds.count = 16;
    for (JsonValue& column : columns) {
        column.kind = JsonValue::kArray;
        column.count = 65534;  // 1048544 in 16 columns
    }
    EXPECT_EQ(Thrown([&] { ReadBounds(bounds); }), refused);
}

TEST(DomainTest, ValuesAsMessagesShowThem) {
    EXPECT_EQ(Shown(*Json("null")), "null");
    EXPECT_EQ(Shown(*Json("false")), "false");
    EXPECT_EQ(Shown(*Json("1.50")), "1.50");
    EXPECT_EQ(Shown(*Json("\"x\"")), "the string \"x\"");
    EXPECT_EQ(Shown(*Json("[1, \"b\"]")), "[1, \"b\"]");
    EXPECT_EQ(Shown(*Json("[]")), "an array of 0 items");
    EXPECT_EQ(Shown(*Json("[[1], 2]")), "an array of 2 items");
    EXPECT_EQ(Shown(*Json("[1, 2, 3, 4, 5, 6, 7]")), "an array of 7 items");
    EXPECT_EQ(Shown(*Json("[\"" + std::string(31, 'x') + "\"]")), "an array of 1 item");
    EXPECT_EQ(Shown(*Json("{\"a\": 1}")), "{\"a\": 1}");
    EXPECT_EQ(Shown(*Json("{\"" + std::string(31, 'x') + "\": 1}")), "an object");
    EXPECT_EQ(Shown(*Json("\"" + std::string(79, 'x') + "\u00e4\"")),
              "the string \"" + std::string(79, 'x') + "\"");
    EXPECT_EQ(Shown(*Json(std::string(100, '1'))), std::string(40, '1'));
}

}  // namespace
}  // namespace dpboost
