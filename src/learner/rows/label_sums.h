// Count and sum of all labels, for the score that an ensemble starts with.
#pragma once

#include "base/interrupt.h"
#include "learner/rows/leaf/leaf_sums.h"

namespace dpboost {

class Dataset;

// Which part of the release pays for the count, and which for the sum.
LeafWeights LabelWeights();

// The count as `hessians` and the sum of labels as `gradients`, of one leaf that holds all rows.
//
// Neighbours: add or remove one unit. Sensitivity: a row adds kClipSteps to the count and, with its label centred and
// clipped to +-label_clip (for {0, 1}: y - 1/2, half the sensitivity), at most kClipSteps to the sum; a unit with
// several rows is scaled down to the same weighted norm (leaf_sums.h). `counts`: labels as shares of their range, in
// [0, 1], so that the sum of rare events is small.
RawGradientSums LabelSums(const Dataset& dataset, bool counts, double label_clip, Interrupt& interrupt);

// How many rows each class has, in steps of kClipSteps.
//
// Neighbours: add or remove one unit. Sensitivity: a row adds kClipSteps to one count; a unit of several rows is scaled down to
// that norm (clip_norm.h).
RawSums ClassCounts(const Dataset& dataset, Interrupt& interrupt);

}  // namespace dpboost
