#include "model/report/report_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "model/intervals.h"
#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr size_t kName = 60;  // characters of a name

// The positive class, where it is known.
std::string Positive(const Model& model, const ReportFacts& facts) {
    if (!facts.positive.empty())
        return InCode(facts.positive);
    const std::vector<std::string>& classes = model.target().classes();
    return model.outputs() == 1 && classes.size() == 2 ? InCode(classes[1]) : "";
}

bool IsCount(const Model& model) {
    return model.link() == Link::kLog && !model.target().logarithmic();
}

// What number it is, where it is not the mean of similar rows; and the scale on which it was learned.
std::string WhichNumber(const Model& model) {
    std::string which;
    if (model.loss().kind == LossKind::kQuantile && !model.loss().parameters.empty())
        which = ", below which " + Compact(100 * model.loss().parameters[0]) + " % of similar rows lie";
    if (model.loss().kind == LossKind::kHuber)
        which = ", where outliers count less than for a mean";
    return which + (model.target().logarithmic() ? ", learned on a logarithmic scale" : "");
}

// What a score of a logarithmic link is the logarithm of: the prediction, or its distance to what LogOffset says.
std::string InLogarithm(const Model& model) {
    const double offset = LogOffset(model.target());
    if (offset == 0)
        return "the prediction";
    if (offset == -1)
        return "1 + prediction";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.10g", std::fabs(offset));
    return "prediction " + std::string(offset < 0 ? "+ " : "- ") + digits;
}

}  // namespace

std::string InCode(std::string_view text) {
    return "<code>" + Shortened(text, kName) + "</code>";
}

std::string Percent(double share) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f%%", 100 * std::clamp(share, 0.0, 1.0));
    return digits;
}

std::string Figure(double value) {
    const double size = std::fabs(value);
    const bool small = size > 0 && size < 0.005;
    char digits[32];
    std::snprintf(digits, sizeof digits, small ? "%.1g" : size >= 9.995 ? "%.1f" : "%.2f", value);
    return small ? Compact(std::strtod(digits, nullptr)) : digits;
}

std::string Predicts(const Model& model, const ReportFacts& facts) {
    const std::vector<std::string>& classes = model.target().classes();
    const std::string what = facts.target.empty() ? "" : InCode(facts.target) + ", ";
    if (model.outputs() > 1) {
        std::string list;
        for (size_t i = 0; i < classes.size() && i < 8; i++)
            list += (i == 0 ? "" : ", ") + InCode(classes[i]);
        return "Predicts " + what + "one of " + std::to_string(classes.size()) + " classes: " + list +
               (classes.size() > 8 ? " and " + std::to_string(classes.size() - 8) + " more" : "") + ".";
    }
    if (model.target().task() == Task::kBinary)
        return "Predicts the probability " +
               (facts.target.empty() || Positive(model, facts).empty()
                    ? "of " + (Positive(model, facts).empty() ? "the positive class" : Positive(model, facts))
                    : "that " + InCode(facts.target) + " is " + Positive(model, facts)) +
               ".";
    return "Predicts " + what + (IsCount(model) ? "a count" : "a number") + " from " +
           Compact(model.target().lower()) + " to " + Compact(model.target().upper()) + WhichNumber(model) +
           ".";
}

std::string ScaleName(const Model& model, const ReportFacts& facts) {
    if (model.outputs() > 1)
        return "score of a class";
    if (model.link() == Link::kLogistic)
        return "log odds" + (Positive(model, facts).empty() ? "" : " of " + Positive(model, facts));
    return model.link() == Link::kLog ? "logarithm of " + InLogarithm(model) : "prediction";
}

std::string ReadingHint(const Model& model, const ReportFacts& facts) {
    if (model.outputs() > 1)
        return "what a value adds to the score of the class: +0.7 doubles its odds against the others, -0.7 "
               "halves them";
    const std::string adds = "what a value adds to the " + ScaleName(model, facts);
    if (model.link() == Link::kLogistic)
        return adds + ": +0.7 doubles the odds, -0.7 halves them";
    return model.link() == Link::kLog ? adds + ": +0.7 doubles " + InLogarithm(model) + ", -0.7 halves it"
                                      : adds;
}

std::string IntervalWords(const Model& model, int64_t score) {
    const Intervals::Ends ends = Intervals(model).Around(score, 0.9);
    return "dpboost_predict_interval(..., 0.9, ...) holds about 90 of 100 rows; where the prediction is " +
           Compact(Respond(model.link(), model.target(), score)) + ", from " + Compact(ends.lower) + " to " +
           Compact(ends.upper);
}

}  // namespace dpboost
