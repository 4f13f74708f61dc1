// The figures of a classifier, from counts by class and score bin. Everything here is post-processing of the counts.
//
// Each figure is about all people that the rows are drawn from. Its interval holds what a test at 5 % does not refute
// ([FIELLER54]): for a mean m of w over rows, sum (w - m) over the counts has mean zero, and a variance that is known, by
// noise exactly. So it is right also where noise is as large as counts, where ratios are not normal.
#pragma once

#include <vector>

#include "learner/evaluation/figures/figure.h"
#include "learner/evaluation/figures/score_masses.h"
#include "learner/evaluation/figures/scored_rows.h"
#include "learner/evaluation/score_bins.h"

namespace dpboost {

// rows, auc, log_loss, accuracy, brier, base_rate, calibration_slope.
//
// Counts are taken as they are: setting negative ones to zero first would add rows to every empty bin and pull AUC down
// by .01 to .07. A figure whose counts are below three standard deviations of their noise is unknown.
std::vector<Figure> ClassFigures(const ScoreBins& bins, const ClassCounts& counts);

// The same of exact rows.
std::vector<Figure> ExactClassFigures(const ScoredRows& rows);

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
