// JSON out: what is written reads back as the same.
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace dpboost {
namespace {

TEST(JsonText, Strings) {
    EXPECT_EQ(JsonString(""), "\"\"");
    EXPECT_EQ(JsonString("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(JsonString("line\nand\ttab\x01"), "\"line\\u000aand\\u0009tab\\u0001\"");
    EXPECT_EQ(JsonString("\u00e4\U0001F600"), "\"\u00e4\U0001F600\"");
}

TEST(JsonText, NumbersReadBackAsThemselves) {
    for (const double value : {0.0, -1.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 0.30000000000000004})
        EXPECT_EQ(std::strtod(JsonNumber(value).c_str(), nullptr), value) << JsonNumber(value);
    EXPECT_EQ(JsonNumber(0.1), "0.1");
    EXPECT_EQ(JsonNumber(1e-6), "1e-06");
    EXPECT_EQ(JsonNumber(std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(JsonNumber(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonText, Lists) {
    JsonList list;
    EXPECT_EQ(list.Object(), "{}");
    EXPECT_EQ(list.Array(), "[]");
    list.Add("a", "1");
    list.Add("b", JsonString("x"));
    EXPECT_EQ(list.Object(), "{\"a\": 1, \"b\": \"x\"}");
}

}  // namespace
}  // namespace dpboost
