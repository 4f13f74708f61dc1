#include "training/call/weights.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dpboost {
namespace {

constexpr double kLargestRatio = 1000;

const GivenOption* Find(const TrainingOptions& options, const char* key) {
    for (const GivenOption& option : options.given)
        if (option.key == key)
            return &option;
    return nullptr;
}

// Classes by number; empty where a class has no name of its own.
std::vector<std::string> ClassNames(const PublicColumn& target, const TargetRule& rule) {
    if (!rule.spec.classes().empty())
        return rule.spec.classes();
    if (target.kind == ValueKind::kBoolean)
        return {rule.positive == "true" ? "false" : "true", rule.positive};
    const std::vector<std::string>& levels = target.domain.levels;
    const bool two = target.domain.kind == DomainKind::kLevels && levels.size() == 2;
    return {two ? levels[levels[0] == rule.positive ? 1 : 0] : "", rule.positive};
}

// Factors of at most 1 by class.
std::vector<double> ReadClassWeights(const GivenOption& option, const PublicColumn& target,
                                     const TargetRule& rule) {
    const std::string form = "an object of classes, each with a number above 0";
    if (option.kind != GivenOption::kNumbers)
        RefuseOption(option.key, form, "It is " + option.shown + ".");
    if (rule.spec.task() == Task::kRegression)
        throw Error(ErrorCode::kInvalidParameter, "option \"class_weights\" is for classification only", {},
                    "Use \"weight\", the name of a column.");
    const std::vector<std::string> names = ClassNames(target, rule);
    std::vector<double> weights(names.size(), 1.0);
    for (const auto& [name, weight] : option.numbers) {
        const auto place = std::find(names.begin(), names.end(), name);
        if (place == names.end() || name.empty()) {
            std::vector<std::string> known = names;
            known.erase(std::remove(known.begin(), known.end(), ""), known.end());
            throw Error(
                ErrorCode::kInvalidParameter,
                "option \"class_weights\" names " + Quoted(name) + ", which is no class of the target",
                "Classes that have a name: " + QuotedList(known) + "; the others have the weight 1.",
                NearestHint(name, known));
        }
        if (!(weight > 0 && std::isfinite(weight)))
            RefuseOption(option.key, form, "It is " + option.shown + ".");
        weights[static_cast<size_t>(place - names.begin())] = weight;
    }
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    if (*most > kLargestRatio * *least)
        RefuseOption(option.key, "within a factor of 1000", "It is " + option.shown + ".");
    const double largest = *most;
    for (double& weight : weights)
        weight /= largest;
    return weights;
}

size_t WeightColumn(const GivenOption& option, const std::vector<PublicColumn>& columns,
                    const FeatureEncodings& features) {
    std::vector<std::string> names;
    for (size_t i = 0; i < columns.size(); i++) {
        names.push_back(columns[i].name);
        if (option.kind != GivenOption::kText || columns[i].name != option.text)
            continue;
        const bool is_private = std::find(features.find_private.begin(), features.find_private.end(), i) !=
                                features.find_private.end();
        if (features.specs[i].kind() != FeatureKind::kNumeric || is_private || features.specs[i].lower() < 0)
            throw Error(ErrorCode::kInvalidParameter,
                        "weight " + Quoted(option.text) + " needs a public range from 0 or above",
                        "A row counts as much as its weight is of the largest possible one.",
                        "Give the range in \"bounds\", or declare it with dpboost_set_domain or a CHECK "
                        "constraint.");
        return i;
    }
    if (option.kind != GivenOption::kText)
        RefuseOption(option.key, "the name of a column", "It is " + option.shown + ".");
    throw Error(ErrorCode::kInvalidParameter,
                "weight " + Quoted(option.text) + " is no column of this training",
                "The weights are passed like a feature, as a column or within the row.",
                NearestHint(option.text, names));
}

}  // namespace

RowWeights TakeWeights(const TrainingOptions& options, const PublicColumn& target, const TargetRule& rule,
                       std::vector<PublicColumn>* columns, FeatureEncodings* features) {
    RowWeights weights;
    if (const GivenOption* option = Find(options, "class_weights"))
        weights.classes = ReadClassWeights(*option, target, rule);
    if (const GivenOption* option = Find(options, "weight")) {
        const size_t place = WeightColumn(*option, *columns, *features);
        weights.column = static_cast<int>(place);
        weights.least = features->specs[place].lower();
        weights.most = features->specs[place].upper();
        columns->erase(columns->begin() + weights.column);
        features->specs.erase(features->specs.begin() + weights.column);
        for (size_t& position : features->find_private)
            position -= position > place ? 1 : 0;
        if (columns->empty())
            throw Error(ErrorCode::kInvalidParameter, "there is no feature to train on");
    }
    if (weights.any() && Find(options, "rows_hint") != nullptr)
        throw Error(ErrorCode::kInvalidParameter, "option \"rows_hint\" cannot be combined with weights",
                    "Rows count as much as their weights, and how much that is together is not public.");
    return weights;
}

void CorrectBases(const RowWeights& weights, Model* model) {
    if (weights.classes.empty())
        return;
    std::vector<double> shifts;
    for (const double weight : weights.classes)
        shifts.push_back(-std::log(weight));
    if (model->outputs() == 1) {
        model->AddToBase(ToFixed(shifts[1] - shifts[0]));
        return;
    }
    for (size_t k = 0; k < shifts.size(); k++)
        model->AddToBase(k, ToFixed(shifts[k]));
}

}  // namespace dpboost
