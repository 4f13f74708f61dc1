#include "training/evaluation/evaluation_json.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace dpboost {
namespace {

std::string BinObject(const DrawnBin& bin) {
    JsonList list;
    list.Add("lower", FigureNumber(bin.lower));
    list.Add("upper", FigureNumber(bin.upper));
    list.Add("predicted", FigureNumber(bin.predicted));
    list.Add("observed", bin.observed.value ? FigureNumber(*bin.observed.value) : "null");
    list.Add("low", FigureNumber(bin.observed.lower));
    list.Add("high", FigureNumber(bin.observed.upper));
    list.Add("rows", FigureNumber(bin.rows));
    list.Add("true_positive_rate", FigureNumber(bin.true_positive_rate));
    list.Add("false_positive_rate", FigureNumber(bin.false_positive_rate));
    list.Add("lift", FigureNumber(bin.lift));
    return list.Object();
}

}  // namespace

std::string FigureNumber(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return JsonNumber(std::strtod(text, nullptr));
}

void AddFigures(const std::vector<Figure>& figures, JsonList* list) {
    for (const Figure& figure : figures) {
        JsonList interval;
        interval.Append(figure.value ? FigureNumber(*figure.value) : "null");
        interval.Append(FigureNumber(figure.lower));
        interval.Append(FigureNumber(figure.upper));
        list->Add(figure.name, interval.Array());
    }
}

namespace {

void AddConfusion(const Evaluation& evaluation, const TargetSpec& target, JsonList* list) {
    if (evaluation.confusion.empty())
        return;
    const std::vector<std::string>& classes = target.classes();
    JsonList confusion;
    for (size_t truth = 0; truth < classes.size(); truth++) {
        JsonList row;
        for (size_t said = 0; said < classes.size(); said++)
            row.Add(classes[said], FigureNumber(evaluation.confusion[truth * classes.size() + said]));
        confusion.Add(classes[truth], row.Object());
    }
    list->Add("confusion", confusion.Object());
}

}  // namespace

std::string FiguresObject(const Evaluation& evaluation, const TargetSpec& target) {
    JsonList list;
    AddFigures(evaluation.figures, &list);
    AddConfusion(evaluation, target, &list);
    return list.Object();
}

std::string GroupsArray(const TrainingResult& result) {
    JsonList models;
    for (int i = 0; i < result.group_count; i++) {
        JsonList one;
        one.Add("group", JsonString(result.groups[i].group));
        one.Add("model", JsonString(result.groups[i].model));
        one.Add("version", std::to_string(result.groups[i].version));
        const std::string shares = result.groups[i].shares;
        if (shares.size() > 2)
            one.Append(shares.substr(1, shares.size() - 2));
        models.Append(one.Object());
    }
    return models.Array();
}

std::string RemainingArray(const TrainingResult& result) {
    JsonList remaining;
    for (int i = 0; i < result.remaining_count; ++i) {
        const RemainingBudget& budget = result.remaining[i];
        JsonList left;
        left.Add("table", JsonString(budget.table));
        left.Add("role", budget.role == nullptr ? "null" : JsonString(budget.role));
        if (budget.population != nullptr)
            left.Add("population", JsonString(budget.population));
        if (budget.by_unit)
            left.Add("accounting", JsonString("unit"));
        else
            left.Add("part", JsonNumber(RoundedDown(budget.part)));
        left.Add("epsilon", JsonNumber(RoundedDown(budget.epsilon)));
        left.Add("delta", JsonNumber(budget.delta));
        remaining.Append(left.Object());
    }
    return remaining.Array();
}

const char* TaskName(Task task) {
    return task == Task::kRegression ? "regression" : "classification";
}

std::string StoredEvaluation(const Evaluation& evaluation, const TargetSpec& target, double epsilon,
                             double delta) {
    JsonList list;
    list.Add("task", JsonString(TaskName(target.task())));
    list.Add("epsilon", JsonNumber(RoundedUp(epsilon)));
    list.Add("delta", JsonNumber(delta));
    AddFigures(evaluation.figures, &list);
    AddConfusion(evaluation, target, &list);
    JsonList bins;
    for (const DrawnBin& bin : evaluation.bins)
        bins.Append(BinObject(bin));
    if (!evaluation.bins.empty())
        list.Add("bins", bins.Array());
    return list.Object();
}

}  // namespace dpboost
