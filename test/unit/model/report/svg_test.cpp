// The pieces of a report's pictures: nothing gets through unescaped, ticks are round, numbers short.
#include "model/report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dpboost {
namespace {

TEST(ReportSvg, Escapes) {
    EXPECT_EQ(Escaped("<script a=\"b\" c='d'>&"), "&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;");
    EXPECT_EQ(Escaped(std::string("a\0b\x07\x1f\x7f", 6)), "a&#65533;b&#65533;&#65533;&#65533;");
    EXPECT_EQ(Escaped("tab\tline\n\u00e4"), "tab\tline\n\u00e4");
}

TEST(ReportSvg, ShortensByCharacters) {
    EXPECT_EQ(Shortened("abc", 3), "abc");
    EXPECT_EQ(Shortened("abcd", 3), "abc&#8230;");
    EXPECT_EQ(Shortened("<<<<", 3), "&lt;&lt;&lt;&#8230;");  // never within an escape
    EXPECT_EQ(Shortened("\u00e4\u00f6\u00fc\u00df", 3), "\u00e4\u00f6\u00fc&#8230;");
    EXPECT_EQ(Shortened("\u65e5\u672c\u8a9e", 4), "\u65e5\u672c&#8230;");  // two columns wide each
    EXPECT_LT(Shortened(std::string(10000, '\x80'), 10).size(), 100u);     // no character at all
    EXPECT_LT(Shortened(std::string(10000, '<'), 20).size(), 100u);
}

TEST(ReportSvg, TicksAreRoundAndWithin) {
    EXPECT_EQ(NiceTicks(-2, 2, 5), (std::vector<double>{-2, -1, 0, 1, 2}));
    EXPECT_EQ(NiceTicks(17, 90, 6), (std::vector<double>{20, 40, 60, 80}));
    for (const double size : {1e-9, 0.3, 7.0, 123456.0, 1e300}) {
        const std::vector<double> ticks = NiceTicks(-size, size, 5);
        EXPECT_GE(ticks.size(), 2u) << size;
        EXPECT_LE(ticks.size(), 6u) << size;
        EXPECT_GE(ticks.front(), -size * (1 + 1e-9));
        EXPECT_LE(ticks.back(), size * (1 + 1e-9));
    }
    EXPECT_TRUE(NiceTicks(1, 1, 5).empty());
    EXPECT_TRUE(NiceTicks(0, std::numeric_limits<double>::infinity(), 5).empty());
    EXPECT_TRUE(NiceTicks(std::nan(""), 1, 5).empty());
}

TEST(ReportSvg, NumbersForPeople) {
    EXPECT_EQ(Compact(0), "0");
    EXPECT_EQ(Compact(0.123456), "0.123");
    EXPECT_EQ(Compact(-99999), "-100k");
    EXPECT_EQ(Compact(1490400), "1.49M");
    EXPECT_EQ(Compact(2e-6), "2e-6");
    EXPECT_EQ(Compact(-1.25e-10), "-1.25e-10");
    EXPECT_EQ(Compact(1e9), "1e9");
    EXPECT_EQ(Compact(2.5e20), "2.5e20");
    EXPECT_EQ(Signed(2), "+2");
    EXPECT_EQ(Signed(-0.5), "-0.5");
    EXPECT_EQ(Signed(1e-15), "0");
    EXPECT_EQ(About(48842), "48,800");
    EXPECT_EQ(About(1234567), "1,230,000");
    EXPECT_EQ(About(57.3), "57");
    EXPECT_EQ(About(-3), "0");
    EXPECT_EQ(About(std::nan("")), "0");
}

// Values of forged models: a place on the page, and never bytes that were not written.
TEST(ReportSvg, PlacesFarAwayStayNumbers) {
    Svg svg(10, 10, "label");
    svg.Line("axis", 1e300, -1e300, std::numeric_limits<double>::infinity(), std::nan(""));
    const std::string text = svg.Take();
    EXPECT_NE(text.find("x1=\"1000000\" y1=\"-1000000\" x2=\"1000000\" y2=\"0\""), std::string::npos) << text;
}

TEST(ReportSvg, SeparatesThousands) {
    EXPECT_EQ(Separated(20012, 10), "20,010");
    EXPECT_EQ(Separated(999.6, 1), "1,000");
    EXPECT_EQ(Separated(-1234567, 1), "-1,234,567");
    EXPECT_EQ(Separated(-3, 10), "0");
    EXPECT_EQ(About(48912), "48,900");
}

TEST(ReportSvg, DrawsWhatItIsTold) {
    Svg svg(100, 50.25, "a<b");
    svg.Line("g", 0, 0.04, 10.25, -0.3);
    svg.Tile("pos", 1, 2, 3, 4, 0.5, "&lt;");
    svg.Polygon("b", {{0, 0}, {1, 0}, {1, 2.5}, {1, 2.5}, {3, 4}});
    svg.SlantedText("t", 1, 2, "x");
    EXPECT_EQ(
        svg.Take(),
        "<svg viewBox=\"0 0 100 50.3\" role=\"img\" aria-label=\"a&lt;b\"><line class=\"g\" x1=\"0\" "
        "y1=\"0\" "
        "x2=\"10.3\" y2=\"-.3\"/><rect class=\"pos\" x=\"1\" y=\"2\" width=\"3\" height=\"4\" "
        "fill-opacity=\"0.5\"><title>&lt;</title></rect><path class=\"b\" d=\"M0 0h1v2.5l2 1.5l-3 -4\"/>"
        "<text class=\"t\" text-anchor=\"end\" transform=\"translate(1 2) "
        "rotate(-35)\">x</text></svg>");
}

}  // namespace
}  // namespace dpboost
