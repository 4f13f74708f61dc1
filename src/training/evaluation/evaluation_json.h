// Evaluations as JSON: what a caller sees, and what the catalog keeps.
#pragma once

#include <string>

#include "learner/evaluation/evaluation.h"
#include "training/json.h"
#include "training/result.h"

namespace dpboost {

// A figure with six digits.
std::string FigureNumber(double value);

// Adds "name": [value, lower, upper] for every figure; null for what is not known or has no bound.
void AddFigures(const std::vector<Figure>& figures, JsonList* list);
// The same as an object; of several classes also "confusion": {"true class": {"predicted class": rows, ...}, ...}.
std::string FiguresObject(const Evaluation& evaluation, const TargetSpec& target);

// What the budgets have left.
std::string RemainingArray(const TrainingResult& result);
// The models of several groups, as a JSON array.
std::string GroupsArray(const TrainingResult& result);

const char* TaskName(Task task);

// For the catalog: task, epsilon, delta, figures, and the bins of a classifier as "bins".
std::string StoredEvaluation(const Evaluation& evaluation, const TargetSpec& target, double epsilon,
                             double delta);

}  // namespace dpboost
