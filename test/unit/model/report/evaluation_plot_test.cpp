// Pictures of an evaluation: noisy rates become a curve that never goes back, and what noise hides is left out.
#include "model/report/evaluation_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace dpboost {
namespace {

const double kHidden = std::nan("");

size_t Count(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

TEST(EvaluationPlot, TheRocCurveNeverGoesBack) {
    const std::string svg = RocPlot({{0.1, 0.1, 0, 0.2, 1, 1},
                                     {0.3, 0.3, 0, 0.6, 0.7, 0.2},  // noise: less than the bin above
                                     {0.5, 0.5, 0, 0.9, 0.8, 0.25},
                                     {0.7, kHidden, 0, 1, kHidden, kHidden},
                                     {0.9, 0.9, 0.8, 1, 0.4, 0.02}});
    const size_t begin = svg.find("d=\"", svg.find("class=\"l\"")) + 3;
    std::istringstream path(svg.substr(begin, svg.find('"', begin) - begin));
    char step;
    int count = 0;
    while (path >> step) {  // how far it goes, after where it begins
        double right = 0, down = 0;
        if (step != 'v')
            path >> right;
        if (step != 'h')
            path >> down;
        EXPECT_EQ(step == 'M', count == 0);
        EXPECT_TRUE(step == 'M' || (right >= 0 && down <= 0)) << step << right << ' ' << down;
        count++;
    }
    EXPECT_EQ(count, 4);  // from 0 to 1 over what is known; where nothing moves, nothing is drawn
}

TEST(EvaluationPlot, CalibrationLeavesOutWhatNoiseHides) {
    const std::string svg =
        CalibrationPlot({{0.1, 0.12, 0.1, 0.2, 1, 1}, {0.5, kHidden, 0, 1, 1, 1}, {0.9, 1, 0.7, 1.2, 1, 1}});
    EXPECT_EQ(Count(svg, "<circle"), 2u);
    EXPECT_EQ(Count(svg, "class=\"e\""), 2u);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(CalibrationPlot({}).find("<circle"), std::string::npos);
}

}  // namespace
}  // namespace dpboost
