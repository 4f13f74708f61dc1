// Trees by the features that they combine. What such a group says is taken apart under the reference into its mean, one
// function per feature (its main effect), and the rest, which needs several features at once: the pure interaction.
#pragma once

#include <cstddef>
#include <cstdint>
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

    // Of a feature among the group's; their number if it is none of them.
    size_t PlaceOf(uint16_t feature) const noexcept;
    // What the group's trees say for a row, minus mean and main effects.
    double Pure(const Model& model, const uint16_t* codes, size_t output) const noexcept;
};

// Groups of trees that depend on the same features. `together`: all trees in one.
std::vector<TreeGroup> GroupTrees(const Model& model, bool together);
// Sets all but features and trees.
void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group);

}  // namespace dpboost
