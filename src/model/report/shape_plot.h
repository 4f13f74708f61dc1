// Small pictures of what one feature does: its contribution over the values with the band that noise leaves, and how many
// rows there are.
#pragma once

#include <string>
#include <vector>

#include "model/explain/explain.h"
#include "model/labels/time_label.h"

namespace dpboost {

// A feature's shape, and what of the reference is in each of its cells.
struct ReportShape {
    size_t feature = 0;
    std::vector<ShapeCell> cells;  // missing last
    std::vector<double> masses;
    double importance = 0;
};

// How far from 0 contributions and bands reach, for the share `keep` of the reference.
double ShapeReach(const ReportShape& shape, double keep);

// One scale for many shapes: where 97 % of the rows of the second widest are.
double CommonScale(const std::vector<ReportShape>& shapes);

// The scale that a shape needs: the common one, or (own is set) more.
double ScaleFor(const ReportShape& shape, double common, bool* own);

std::string NumericPlot(const FeatureSpec& feature, const ReportShape& shape, double scale,
                        TimeColumn time = TimeColumn::kNone);
// Levels and hashed text: the twelve most frequent.
std::string LevelsPlot(const FeatureSpec& feature, const ReportShape& shape, double scale);

}  // namespace dpboost
