// Scales and what is drawn: a curve is never cut flat, and missing values show only where rows tell that there are some.
#include "model/report/shape_plot.h"

#include <gtest/gtest.h>

namespace dpboost {
namespace {

ReportShape Steps(const std::vector<double>& contributions, bool missing_known) {
    ReportShape shape;
    for (const double contribution : contributions) {
        ShapeCell cell;
        cell.code = static_cast<uint32_t>(shape.cells.size());
        cell.label = "label " + std::to_string(cell.code);
        cell.contribution = contribution;
        cell.sd = 0.1;
        cell.rows = 100;
        shape.cells.push_back(cell);
        shape.masses.push_back(1.0 / static_cast<double>(contributions.size()));
    }
    shape.cells.back().enough_rows = missing_known;
    return shape;
}

TEST(ShapePlot, ScaleHoldsTheCurve) {
    const ReportShape small = Steps({-1, 1, 0}, true), large = Steps({-2, 2, 0}, true),
                      huge = Steps({-9, 9, 0}, true);
    const double common = CommonScale({small, large, huge});
    EXPECT_GE(common, 2);
    EXPECT_LT(common, 3);  // the widest does not flatten the others
    bool own;
    EXPECT_EQ(ScaleFor(large, common, &own), common);
    EXPECT_FALSE(own);
    EXPECT_GT(ScaleFor(huge, common, &own), 9);
    EXPECT_TRUE(own);
    EXPECT_GT(ScaleFor(Steps({-1.2 * common, 0, 0}, true), common, &own), 1.2 * common);
    EXPECT_TRUE(own);
    EXPECT_EQ(CommonScale({}), 1);
    EXPECT_EQ(CommonScale({Steps({0, 0}, true)}) > 0, true);
}

TEST(ShapePlot, MissingIsDrawnWhereItIsKnown) {
    const FeatureSpec numeric = FeatureSpec::Numeric("x", {0, 10, Scale::kLinear, 4});
    const FeatureSpec levels = FeatureSpec::Levels("c", {"a", "b", "d", "e"});
    for (const bool known : {false, true}) {
        const ReportShape shape = Steps({-1, 0, 1, 2, 0.5}, known);
        EXPECT_EQ(NumericPlot(numeric, shape, 2).find(">null<") != std::string::npos, known);
        EXPECT_EQ(LevelsPlot(levels, shape, 2).find("label 4") != std::string::npos, known);
    }
}

TEST(ShapePlot, TwelveLevelsAndTheRest) {
    std::vector<std::string> names;
    std::vector<double> contributions(21, 0.5);
    for (int i = 0; i < 20; i++)
        names.push_back("level " + std::to_string(i));
    const std::string plot = LevelsPlot(FeatureSpec::Levels("c", names), Steps(contributions, false), 1);
    EXPECT_NE(plot.find("and 8 others"), std::string::npos) << plot;
}

}  // namespace
}  // namespace dpboost
