// Shapley values of a model's trees under the reference, exact and in closed form. A leaf of value w whose path asks
// regions of d features is the game v(S) = w prod_{i in S} a_i prod_{i not in S} q_i: a_i says whether the row is in
// region i, q_i is the region's mass. Its Shapley value is
//
//   phi_i = w (a_i - q_i) sum_s s! (d-1-s)! / d! e_s = w (a_i - q_i) integral_0^1 prod_{j != i} (q_j + (a_j - q_j) u) du
//
// where e_s is the coefficient of t^s in prod_{j != i} (q_j + a_j t), since the weights are Beta integrals. The integrand
// is a polynomial of degree d - 1 <= 11, so Gauss-Legendre quadrature gives it exactly. Checked against all subsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/code_classes.h"
#include "model/explain/reference_masses.h"
#include "model/explain/tree_groups.h"
#include "model/model.h"

namespace dpboost {

class ForestPairs;

class TreeShapley {
  public:
    // The model must outlive this. all: a group of all trees to be measured on the way, or null; pairs: likewise.
    TreeShapley(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* all,
                ForestPairs* pairs = nullptr);

    // What the trees say on average, per output, in units of the score's.
    const std::vector<double>& means() const noexcept { return means_; }

    // Adds to values[feature * outputs + output] the feature's Shapley value, in units of the score's; and to variances its
    // variance by the noise of leaves, where that is known, in squared scores. Polls every few trees. What a tree on few
    // features says is remembered for rows that it cannot tell apart.
    void Add(const uint16_t* codes, Interrupt& interrupt, double* values, double* variances);

    // Of a tree: per node, the mass of the region that leads to it on its parent's feature; the most features on a path.
    const double* masses_of(size_t tree) const noexcept { return node_masses_.data() + offsets_[tree]; }
    size_t width_of(size_t tree) const noexcept { return widths_[tree]; }

    size_t memory_used() const noexcept;

  private:
    struct Slot {
        uint16_t feature;
        double mass;
        double reach;  // a - q
    };
    template <size_t kNodes>
    class Walk;

    // Which codes a tree on few features cannot tell apart, and what it said for those that were asked about.
    struct Memory {
        std::vector<uint16_t> features;
        std::vector<std::vector<uint32_t>>
            places;                   // per feature and code: what it adds to the place of a row
        std::vector<char> is_known;   // per place
        std::vector<double> figures;  // per place: values of each feature and output, then variances
    };

    void Remember(const std::vector<CodeClasses>& classes, size_t* room);
    void Compute(size_t tree, const uint16_t* codes, double* values, double* variances) const;
    void Recall(size_t tree, const uint16_t* codes, double* values, double* variances);

    const Model& model_;
    std::vector<size_t> widths_;       // of each tree: the most features on a path
    std::vector<size_t> offsets_;      // of each tree in node_masses_
    std::vector<double> node_masses_;  // the mass of the region that leads to a node, on its parent's feature
    std::vector<Memory> memories_;     // of each tree; empty where there is none
    std::vector<double> scratch_;
    std::vector<double> means_;
};

}  // namespace dpboost
