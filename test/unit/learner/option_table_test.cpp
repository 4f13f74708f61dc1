// A table of options: rows read into members, refuse what they do not allow in one wording, and say what that is.
#include "learner/option_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "support/thrown.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

enum class Color { kRed, kGreen, kBlue };
struct Paint {
    uint32_t coats = 7;
    double share = 0.5;
    double above = 0.25;
    Color color = Color::kBlue;
    int finish = 1;
};
constexpr const char* kColors[] = {"red", "green", "blue"};
constexpr const char* kFinishes[] = {"matt", "gloss"};
constexpr OptionRow kRows[] = {
    Whole<&Paint::coats>("coats", 1, 100, "how often"),
    Number<&Paint::share>("share", 0.001, 0.9, "how much"),
    NumberAbove<&Paint::above>("above", 0, 1, "more than nothing"),
    Word<&Paint::color>("color", kColors, "which"),
    Word<&Paint::finish>("finish", kFinishes, "how it shines"),
    Form("pattern", "[width, height]", "read elsewhere"),
};
constexpr OptionTable kTable = kRows;

Paint Read(const std::vector<GivenOption>& given) {
    Paint paint;
    kTable.Apply(given, &paint);
    return paint;
}

TEST(OptionTableTest, RowsSetTheirMembers) {
    const Paint paint = Read({Given("coats", 3), Given("share", 0.9), Given("above", 1e-300),
                              Given("color", "green"), Given("finish", "matt")});
    EXPECT_EQ(paint.coats, 3u);
    EXPECT_EQ(paint.share, 0.9);
    EXPECT_EQ(paint.above, 1e-300);
    EXPECT_EQ(paint.color, Color::kGreen);
    EXPECT_EQ(paint.finish, 0);
}

TEST(OptionTableTest, WhatIsNotGivenStays) {
    const Paint paint = Read({Given("share", 0.1), Given("no row of this table", 3)});
    EXPECT_EQ(paint.coats, 7u);
    EXPECT_EQ(paint.color, Color::kBlue);
}

TEST(OptionTableTest, WordsAndNumbersApart) {
    Paint paint;
    kTable.ApplyWords({Given("coats", 3), Given("color", "red")}, &paint);
    EXPECT_EQ(paint.coats, 7u);
    EXPECT_EQ(paint.color, Color::kRed);
    kTable.ApplyNumbers({Given("coats", 3), Given("color", "green")}, &paint);
    EXPECT_EQ(paint.coats, 3u);
    EXPECT_EQ(paint.color, Color::kRed);
}

TEST(OptionTableTest, AllowedSaysWhatIsAllowed) {
    const char* const allowed[] = {"a whole number from 1 to 100",   "a number from 0.001 to 0.9",
                                   "a number above 0 and at most 1", "one of \"red\", \"green\", \"blue\"",
                                   "\"matt\" or \"gloss\"",          "[width, height]"};
    for (const OptionRow& row : kTable)
        EXPECT_EQ(Allowed(row), allowed[&row - kTable.begin()]);
    EXPECT_EQ(kTable.Find("share"), kTable.begin() + 1);
    EXPECT_EQ(kTable.Find("shar"), nullptr);
    EXPECT_EQ(OptionTable().Find("share"), nullptr);
}

TEST(OptionTableTest, RefusalsInOneWording) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    GivenOption other = Given("coats", 3);
    other.kind = GivenOption::kOther;
    other.shown = "true";
    const std::vector<std::pair<GivenOption, const char*>> refused = {
        {Given("coats", 0.0), "option \"coats\" must be a whole number from 1 to 100"},
        {Given("coats", 101), "option \"coats\" must be a whole number from 1 to 100"},
        {Given("coats", 2.5), "option \"coats\" must be a whole number from 1 to 100"},
        {Given("coats", "3"), "option \"coats\" must be a whole number from 1 to 100"},
        {Given("coats", nan), "option \"coats\" must be a whole number from 1 to 100"},
        {Given("coats", infinity), "option \"coats\" must be a whole number from 1 to 100"},
        {other, "option \"coats\" must be a whole number from 1 to 100"},
        {Given("share", 0.0009), "option \"share\" must be a number from 0.001 to 0.9"},
        {Given("above", 0.0), "option \"above\" must be a number above 0 and at most 1"},
        {Given("above", 1.0001), "option \"above\" must be a number above 0 and at most 1"},
        {Given("color", "pink"), "option \"color\" must be one of \"red\", \"green\", \"blue\""},
        {Given("color", 1), "option \"color\" must be one of \"red\", \"green\", \"blue\""},
        {Given("finish", "Matt "), "option \"finish\" must be \"matt\" or \"gloss\""},
    };
    for (const auto& [given, message] : refused) {
        const std::string text = std::string(message) + " | It is " + given.shown + ". | ";
        const std::vector<GivenOption> list = {given};
        EXPECT_EQ(Thrown([&] { Read(list); }).substr(0, text.size()), text);
        EXPECT_EQ(Thrown([&] { kTable.Check(list); }).substr(0, text.size()), text);
        EXPECT_EQ(CodeOf([&] { kTable.Check(list); }), ErrorCode::kInvalidParameter);
        EXPECT_FALSE(Accepts(*kTable.Find(given.key), given));
    }
    EXPECT_EQ(Thrown([] { Read({Given("color", "gren")}); }),
              "option \"color\" must be one of \"red\", \"green\", \"blue\" | It is gren. | Perhaps you "
              "meant \"green\".");
    EXPECT_EQ(Thrown([] { Read({Given("pattern", 3)}); }), "no error");  // a form is read elsewhere
    EXPECT_EQ(Thrown([] { RefuseOption("x", "1 for this task", "Why."); }),
              "option \"x\" must be 1 for this task | Why. | ");
}

}  // namespace
}  // namespace dpboost
