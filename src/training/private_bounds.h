// Ranges for numeric columns without a public one, found for a stated share of the budget. Values are counted
// in cells that are fixed before any row is seen: zero, and one cell per sign and power of two. The counts
// get noise; the range runs from the first to the last cell that stands out of the noise. Rows stream in
// before the range is known, so until then a column is kept in a grid of very many cells by magnitude.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "mechanism/releaser.h"

namespace dpboost {

// Share of mu(epsilon, delta)^2 that finding the ranges of all such columns costs together.
constexpr double kPrivateBoundsShare = 0.1;
extern const char kPrivateBoundsMechanism[];

// The encoding of a column until its range is known: both signs, magnitudes from 2^-30 to 2^60, to about a
// thousandth.
FeatureSpec AnyNumberSpec(std::string name);

// What FindBounds will draw for so many columns: one Gaussian over all their counts.
//
// Neighbours: add or remove one unit. A unit counts with one of its rows, so it adds one to one cell of each
// column (or to none, where the value is missing): L2 sensitivity sqrt(columns).
MechanismRequest PrivateBoundsRequest(size_t columns);

struct Bounds {
    double lower;
    double upper;
};

// Takes the mechanism's charge and returns a range for each of the columns (positions in the dataset, encoded
// by AnyNumberSpec). Without a cell that stands out: [-1, 1].
std::vector<Bounds> FindBounds(const Dataset& dataset, const std::vector<size_t>& columns, Releaser& releaser,
                               Interrupt& interrupt);

// The dataset with those columns encoded by `features` instead. Takes the memory of both for a moment: so much per
// row beside the first, at the most.
size_t RecodeBytesPerRow(size_t columns, bool has_units);
Dataset Recode(Dataset dataset, std::vector<FeatureSpec> features, const std::vector<size_t>& columns,
               const DatasetLimits& limits, Interrupt& interrupt);

}  // namespace dpboost
