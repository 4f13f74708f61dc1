// Trees by the features that they combine. What such a group says is taken apart under the reference into its mean, one
// function per feature (its main effect), and the rest, which needs several features at once: the pure interaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/reference_masses.h"
#include "model/model.h"

namespace dpboost {

// Figures are in units of the score's, variances (of the noise of leaves, where that is known) in squared scores.
struct TreeGroup {
    std::vector<uint16_t> features;  // ascending
    std::vector<size_t> trees;
    std::vector<double> means;                   // per output
    std::vector<std::vector<double>> effects;    // per feature: [code * outputs + output], of mean 0
    std::vector<std::vector<double>> variances;  // of the effects, likewise
    std::vector<double> pure_variances;  // per output: of the pure interaction, mean over the reference

    // What the group's trees say for a row, minus mean and main effects.
    double Pure(const Model& model, const uint16_t* codes, size_t output) const noexcept;
};

// Groups of trees that depend on the same features. `together`: all trees in one.
std::vector<TreeGroup> GroupTrees(const Model& model, bool together);
// Sets all but features and trees.
void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group);

// A feature's codes in a few parts, and what of the reference is in each.
struct CodeParts {
    std::vector<std::string> labels;
    std::vector<uint16_t> part;  // per code
    std::vector<double> masses;  // per part
};
// Numeric: the coarse cells of the histogram, or runs of bins; else the most frequent levels. Missing is the last part.
CodeParts PartsOf(const Model& model, const ReferenceMasses& masses, size_t feature);

// Two features in a forest, and the pure interaction of the pair in every cell of their parts' grid.
struct PairEffect {
    uint16_t features[2];
    std::vector<double> grid;  // by part of the first feature, then of the second
    double size = 0;           // mean over the reference of its absolute value
};
// The strongest pairs of these features, at most so many, the strongest first. parts: of every feature of the model; those
// of other features may be empty.
std::vector<PairEffect> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                       const std::vector<uint16_t>& features,
                                       const std::vector<CodeParts>& parts, size_t output, size_t most,
                                       Interrupt& interrupt);

// The pure interaction's mean in every cell of the parts' grid, by part of the first feature, then of the second, ...
std::vector<double> PureGrid(const Model& model, const ReferenceMasses& masses, const TreeGroup& group,
                             const std::vector<CodeParts>& parts, size_t output, Interrupt& interrupt);

}  // namespace dpboost
