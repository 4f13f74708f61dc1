// Pieces of messages: numbers as people write them, names that are near, texts cut at a character.
#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>

namespace dpboost {
namespace {

TEST(TextTest, NumbersAsPeopleWriteThem) {
    EXPECT_EQ(Printed(1), "1");
    EXPECT_EQ(Printed(100000), "100000");
    EXPECT_EQ(Printed(0.001), "0.001");
    EXPECT_EQ(Printed(0.1 + 0.2), "0.3");
    EXPECT_EQ(Printed(1e12), "1e12");
    EXPECT_EQ(Printed(1e-7), "1e-7");
    EXPECT_EQ(Printed(-2.5), "-2.5");
    EXPECT_EQ(Printed(std::numeric_limits<double>::infinity()), "inf");
}

TEST(TextTest, Lists) {
    EXPECT_EQ(Quoted("a \"b\""), "\"a \"b\"\"");
    EXPECT_EQ(Listed({}), "");
    EXPECT_EQ(Listed({"a", "b", "c"}), "a, b, c");
    EXPECT_EQ(QuotedList({"a"}), "\"a\"");
    EXPECT_EQ(QuotedList({"a", "b"}), "\"a\", \"b\"");
}

TEST(TextTest, StartCutsNoCharacter) {
    EXPECT_EQ(Start("abc", 3), "abc");
    EXPECT_EQ(Start("abcd", 3), "abc");
    EXPECT_EQ(Start("a\u00e4b", 2), "a");        // two bytes
    EXPECT_EQ(Start("a\u00e4b", 3), "a\u00e4");  // and then the next
    EXPECT_EQ(Start("\U0001F600x", 3), "");      // four bytes
    EXPECT_EQ(Start("\U0001F600x", 4), "\U0001F600");
}

TEST(TextTest, NearestOfSeveral) {
    const std::vector<std::string> keys = {"epsilon", "delta", "depth", "learning_rate"};
    EXPECT_EQ(Nearest("epsilom", keys), "epsilon");
    EXPECT_EQ(Nearest("learningrate", keys), "learning_rate");
    EXPECT_EQ(Nearest("delt", keys), "delta");
    EXPECT_EQ(Nearest("deep", keys), "");  // two changes of four letters are no near miss
    EXPECT_EQ(Nearest("", keys), "");
    EXPECT_EQ(Nearest("dleta", keys), "delta");  // two letters that changed places are one mistake
    EXPECT_EQ(Nearest("rsik", {"rank", "risk"}), "risk");
    EXPECT_EQ(Nearest("sxe", {"age", "sex"}), "sex");
    EXPECT_EQ(Nearest("YES", {"no", "yes"}), "yes");  // capital letters are none
    EXPECT_EQ(Nearest("Y", {"no", "n"}), "");
    EXPECT_EQ(Nearest("epsilon", {}), "");
    EXPECT_EQ(NearestHint("epsilom", keys), "Perhaps you meant \"epsilon\".");
    EXPECT_EQ(NearestHint("nothing like it", keys), "");
}

// The distance takes the product of both lengths: a name of 50 MB held up a backend for seconds.
TEST(TextTest, LongNamesAreNearToNone) {
    const std::string long_name(65, 'x');
    EXPECT_EQ(Nearest(long_name, {long_name}), "");
    EXPECT_EQ(Nearest(long_name.substr(1), {long_name.substr(1)}), long_name.substr(1));
    const std::string longer(50'000'000, 'x');
    EXPECT_EQ(Nearest(longer, std::vector<std::string>(1000, "epsilon")), "");
}

}  // namespace
TEST(TextTest, RoundsAgainstTheSpender) {
    EXPECT_EQ(RoundedUp(0.4999999999999622), 0.5);
    EXPECT_EQ(RoundedDown(0.5000000000000378), 0.5);
    EXPECT_EQ(RoundedUp(0.5), 0.5);
    EXPECT_EQ(RoundedDown(0.5), 0.5);
    EXPECT_EQ(RoundedUp(0.1234561), 0.123457);
    EXPECT_EQ(RoundedDown(0.1234569), 0.123456);
    EXPECT_EQ(RoundedUp(9.999991), 10);
    EXPECT_EQ(RoundedDown(9.9999999), 9.99999);
    EXPECT_EQ(RoundedDown(0.9999999999999), 0.999999);
    EXPECT_EQ(RoundedDown(1.0000001e-9), 1e-9);
    EXPECT_EQ(RoundedUp(1e-300 * 1.0000001), 1.00001e-300);
    EXPECT_EQ(RoundedDown(1e200), 1e200);
    EXPECT_EQ(RoundedUp(0), 0);
    EXPECT_TRUE(std::isinf(RoundedUp(INFINITY)));
    EXPECT_TRUE(std::isnan(RoundedDown(NAN)));
    for (double value = 1e-9; value < 1e9; value *= 1.37) {
        EXPECT_GE(RoundedUp(value), value);
        EXPECT_LE(RoundedDown(value), value);
        EXPECT_NEAR(RoundedUp(value), value, 1.1e-5 * value);
        EXPECT_NEAR(RoundedDown(value), value, 1.1e-5 * value);
        EXPECT_EQ(RoundedDown(RoundedUp(value)), RoundedUp(value));
    }
}

}  // namespace dpboost
