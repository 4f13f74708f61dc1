// Pictures of an evaluation: how well a classifier ranks, and whether its probabilities are true.
#pragma once

#include <string>
#include <vector>

namespace dpboost {

// A score bin of an evaluation. Figures that noise hides are NaN.
struct ReportBin {
    double predicted;
    double observed;  // part that is positive, with its interval
    double low;
    double high;
    double true_positive_rate;   // of rows in this bin and above
    double false_positive_rate;  // likewise
};

// Bins ascend by score.
std::string RocPlot(const std::vector<ReportBin>& bins);
std::string CalibrationPlot(const std::vector<ReportBin>& bins);

}  // namespace dpboost
