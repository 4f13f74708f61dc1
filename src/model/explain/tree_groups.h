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

    void Enter(const Tree& tree, const std::vector<CodeClasses>& classes);
    void AddLeaf(const Tree& tree, size_t leaf, const Regions& regions);
    // classes: with what they had when they were entered.
    void Leave(const std::vector<CodeClasses>& classes);

  private:
    // What the leaves of one tree say about one feature, per class of codes: main effects and their variances.
    struct ClassEffects {
        std::vector<double> effects;     // [class * outputs + output], beside
        std::vector<double> everywhere;  // [output], what is to be added for all classes
        std::vector<double> variances;   // empty where the noise of leaves is not known
    };

    TreeGroup& group_;
    std::vector<ClassEffects> effects_;  // per feature of the tree
};

void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group);

}  // namespace dpboost
