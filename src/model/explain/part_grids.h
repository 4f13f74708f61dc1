// What features do together, on a grid: each feature's codes in a few parts, and in every cell of the parts of two or three
// features what trees say there beyond what each feature says alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/tree_groups.h"

namespace dpboost {

// A feature's codes in a few parts, and what of the reference is in each.
struct CodeParts {
    std::vector<std::string> labels;
    std::vector<uint16_t> part;  // per code
    std::vector<double> masses;  // per part
};
// Numeric: the coarse cells of the histogram, or runs of bins; else the most frequent levels. Missing is the last part.
CodeParts PartsOf(const Model& model, const ReferenceMasses& masses, size_t feature);

// Takes mean and main effects under the parts' masses away; the grid is by part of the first feature, then of the second ...
void Purify(const std::vector<const CodeParts*>& parts, std::vector<double>* grid);

// The pure interaction's mean in every cell of the parts' grid, by part of the first feature, then of the second, ...
std::vector<double> PureGrid(const Model& model, const ReferenceMasses& masses, const TreeGroup& group,
                             const std::vector<CodeParts>& parts, size_t output, Interrupt& interrupt);

}  // namespace dpboost
