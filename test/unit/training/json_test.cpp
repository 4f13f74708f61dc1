// JSON in and out: what is written reads back as the same, and keys are found among many.
#include "training/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/json.h"

namespace dpboost {
namespace {

TEST(JsonTest, Strings) {
    EXPECT_EQ(JsonString(""), "\"\"");
    EXPECT_EQ(JsonString("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(JsonString("line\nand\ttab\x01"), "\"line\\u000aand\\u0009tab\\u0001\"");
    EXPECT_EQ(JsonString("\u00e4\U0001F600"), "\"\u00e4\U0001F600\"");
}

TEST(JsonTest, NumbersReadBackAsThemselves) {
    for (const double value : {0.0, -1.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 0.30000000000000004})
        EXPECT_EQ(std::strtod(JsonNumber(value).c_str(), nullptr), value) << JsonNumber(value);
    EXPECT_EQ(JsonNumber(0.1), "0.1");
    EXPECT_EQ(JsonNumber(1e-6), "1e-06");
    EXPECT_EQ(JsonNumber(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(JsonNumber(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonTest, ValuesAreWrittenAsTheyWere) {
    const std::string text =
        "{\"a\": null, \"b\": [true, false, 0.50, \"x\\\"y\"], \"cc\": {}, \"dd\": [], \"ee\": {\"f\": "
        "1e400}}";
    EXPECT_EQ(JsonText(*Json(text)), text);
    Json time("[\"2000-01-02\"]");
    time.get()->items[0].kind = JsonValue::kTime;  // as PostgreSQL's side reads a date's bound
    time.get()->items[0].number = 1;
    EXPECT_EQ(JsonText(*time), "[\"2000-01-02\"]");
}

TEST(JsonTest, FindsKeysAmongMany) {
    std::string text = "{";
    for (int i = 0; i < 1000; i++)
        text += (i == 0 ? "" : ", ") + JsonString("key" + std::to_string(i)) + ": " + std::to_string(i);
    const Json json(text + "}");
    for (int i = 0; i < 1000; i++) {
        const JsonValue* found = json->Find("key" + std::to_string(i));
        ASSERT_NE(found, nullptr) << i;
        EXPECT_EQ(found->number, i);
    }
    for (const char* key : {"", "k", "key", "key1000", "key-1", "kez5"})
        EXPECT_EQ(json->Find(key), nullptr) << key;
    EXPECT_EQ(Json("[1]")->Find("key"), nullptr);
    EXPECT_EQ(Json("{}")->Find("key"), nullptr);
}

TEST(JsonTest, Lists) {
    JsonList list;
    EXPECT_EQ(list.Object(), "{}");
    EXPECT_EQ(list.Array(), "[]");
    list.Add("a", "1");
    list.Add("b", JsonString("x"));
    EXPECT_EQ(list.Object(), "{\"a\": 1, \"b\": \"x\"}");
}

}  // namespace
}  // namespace dpboost
