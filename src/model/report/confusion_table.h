// Which classes a model takes for which, as a table: of the rows of a class, how many per cent it takes for each.
#pragma once

#include <string>
#include <vector>

namespace dpboost {

// Noisy counts of an evaluation.
struct ReportConfusion {
    std::vector<double> rows;  // [true class * classes + predicted class]
    double sd = 0;             // of each, by noise
};

// Many classes: the most frequent mistakes instead.
std::string ConfusionTable(const std::vector<std::string>& classes, const ReportConfusion& confusion);

}  // namespace dpboost
