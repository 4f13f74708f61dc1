// Rows of an evaluation become raw sums: counts by class and score bin, seven bounded sums of a regression, or counts by
// true and predicted class of several. This file makes the sensitivities true that an evaluation's draw is charged for.
//
// A unit of several rows adds the mean of what they would add: figures are about people, each of whom counts the same, and
// people are what varies by chance, however much the rows of one agree.
#pragma once

#include "base/interrupt.h"
#include "learner/evaluation/score_bins.h"
#include "mechanism/releaser.h"
#include "model/model.h"

namespace dpboost {

class Dataset;

// Lattice steps of a count of one.
double EvaluationStep();

// Neighbours: add or remove one unit. A row adds a step to one of 2 x bins counts, or shares it between two neighbours, a
// and b with a + b = 1: its L2 norm is at most one step, and so is that of a mean of such. Positives first, then negatives.
RawSums ClassSums(const Model& model, const ScoreBins& bins, const Dataset& rows, Interrupt& interrupt);
double ClassSensitivity();

// The sums of value_figures.h. Neighbours: add or remove one unit. Every term is cut off at its bound and rounded towards
// zero, so a row's norm is at most ValueSensitivity(), and so is that of a mean of such.
RawSums ValueSums(const Model& model, const Dataset& rows, Interrupt& interrupt);
double ValueSensitivity();

// The same, and behind them how many rows have label - prediction, on the label's scale, in each of kResidualBins even
// bins over [-1, 1], the outermost of which are open. A row adds one more step to one more entry: the square of its norm
// is larger by one step's.
constexpr size_t kResidualBins = 64;
RawSums ValueAndResidualSums(const Model& model, const Dataset& rows, Interrupt& interrupt);
double ValueAndResidualSensitivity();

// The sums of confusion.h. Neighbours: add or remove one unit. Every term is a whole number of steps within its bound, so a
// row's norm is at most ConfusionSensitivity(), and so is that of a mean of such.
RawSums ConfusionRows(const Model& model, const Dataset& rows, Interrupt& interrupt);
double ConfusionSensitivity();

// How many rows each model gets right (classifiers), or minus the sum of absolute errors in parts of kErrorClip, cut off
// at one: one utility for each model, for a choice among them. The columns of `rows` are the features of the first model,
// then those of the second and so on; labels mean the same for all. Neighbours: add or remove one unit; each utility
// changes by at most one step: what a unit of several rows adds is cut off there.
RawSums ChoiceUtilities(const std::vector<const Model*>& models, const Dataset& rows, Interrupt& interrupt);

}  // namespace dpboost
