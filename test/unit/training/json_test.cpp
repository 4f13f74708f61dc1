// JSON in: values are written as they were, and keys are found among many.
#include "training/json.h"

#include <gtest/gtest.h>

#include "support/json.h"

namespace dpboost {
namespace {

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

}  // namespace
}  // namespace dpboost
