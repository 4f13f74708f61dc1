// Trees by the features that they combine. What such a group says is taken apart under the reference into its mean, one
// function per feature (its main effect), and the rest, which needs several features at once: the pure interaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/reference_masses.h"
#include "model/explain/tree_regions.h"
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
    // What the group's trees say for a row, minus mean and main effects, per output.
    void Pure(const Model& model, const uint16_t* codes, double* values) const noexcept;
};

// Groups of trees that depend on the same features.
std::vector<TreeGroup> GroupTrees(const Model& model);
// All trees of some groups in one.
TreeGroup Together(const std::vector<TreeGroup>& groups);

// Measures a group, all but its features and trees, while its trees are visited.
class GroupMeasure {
  public:
    GroupMeasure(const Model& model, TreeGroup* group);

    // sums: of what leaves say times the masses on their paths, below each node.
    void Add(const Tree& tree, const TreeRegions& regions, const std::vector<double>& sums);
    // Once all trees were added.
    void Finish();

  private:
    void AddEffects(const TreeRegions& regions, const std::vector<double>& sums);
    void AddVariances(const Tree& tree, const TreeRegions& regions);
    // Adds to what a step from one code to the next is, per output.
    void AddSteps(const TreeRegions& regions, std::vector<std::vector<double>>* steps) const;

    TreeGroup& group_;
    const size_t outputs_;
    // Of one tree: sums below nodes, and figures per feature of the tree, [class * outputs + output].
    std::vector<double> squares_, products_;
    std::vector<std::vector<double>> figures_;
};

void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group);

}  // namespace dpboost
