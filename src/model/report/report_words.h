// Words of a report that depend on what kind of model it is. All are escaped.
#pragma once

#include <string>
#include <string_view>

#include "model/report/report_html.h"

namespace dpboost {

// A name, cut where it is long.
std::string InCode(std::string_view text);

// A part of 1 for a style: 12.34%.
std::string Percent(double share);
// A figure beside a name: 0.12, 12.3.
std::string Figure(double value);

// What the prediction is, as a sentence.
std::string Predicts(const Model& model, const ReportFacts& facts);
// What contributions are measured in.
std::string ScaleName(const Model& model, const ReportFacts& facts);
// What the axis of a picture says.
std::string ReadingHint(const Model& model, const ReportFacts& facts);
// How far rows lie from the prediction of a number, for example at this score. The model must hold residuals.
std::string IntervalWords(const Model& model, int64_t score);

}  // namespace dpboost
