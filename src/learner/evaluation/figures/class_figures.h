// The figures of a classifier, from counts by class and score bin. Everything here is post-processing of the counts.
#pragma once

#include <vector>

#include "learner/evaluation/figures/bin_shape.h"
#include "learner/evaluation/figures/figure.h"
#include "learner/evaluation/score_bins.h"

namespace dpboost {

// rows, auc, log_loss, accuracy, brier, base_rate, calibration_slope.
//
// Counts are taken as they are: setting negative ones to zero first would add rows to every empty bin and pull AUC down
// by .01 to .07. A figure whose counts are below three standard deviations of their noise is unknown.
std::vector<Figure> ClassFigures(const ScoreBins& bins, const ClassCounts& counts);

// The same of exact counts in bins of one score each.
std::vector<Figure> ExactClassFigures(const std::vector<ScoreBin>& bins, const ClassCounts& counts);

// A bin as it is drawn: calibration, and at its lower end the points of ROC and lift.
struct DrawnBin {
    double lower;
    double upper;
    double predicted;
    Figure observed;             // part that is positive
    double rows;                 // noisy: may be negative
    double true_positive_rate;   // of rows above `lower`
    double false_positive_rate;  // likewise
    double lift;                 // how many times more positives there than everywhere; NaN where noise wins
};
std::vector<DrawnBin> DrawnBins(const std::vector<ScoreBin>& bins, const ClassCounts& counts);

}  // namespace dpboost
