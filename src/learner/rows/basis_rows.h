// The rows of an additive learner: their scores, and sums over them of (clipped gradient or one) times
// phi(x). This file makes the sensitivities true that auto's draws are charged for: whatever the data, one
// unit changes the vector of sums by at most the stated bound in L2 norm, exactly, in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/objective/objective.h"
#include "learner/rows/basis.h"

namespace dpboost {

class BasisRows {
  public:
    // Bytes per row of the state below, to be kept free next to the dataset.
    static size_t BytesPerRow(bool has_units) { return has_units ? 10 : 6; }

    // lattice_shift: rows are rounded to a lattice 2^shift times coarser (for noise that is larger than the
    // samplers allow, where nobody can tell).
    BasisRows(const Dataset& dataset, Simd simd, Interrupt& interrupt, int lattice_shift = 0);

    // Lattice steps of a weight of one clip times a phi of one.
    double StepsPerUnit() const { return static_cast<double>(kClipSteps >> lattice_shift_) * kBasisUnit; }

    // Changes every row's score, in units of 2^-kFixedBits. The caller keeps the sum of all of them within
    // int32.
    void AddToBase(int32_t value) { pending_base_ += value; }
    void AddTable(const CodeView& view, const std::vector<int32_t>& table);

    // Rows whose phi is longer than sqrt(limit_squared) have it scaled down to that, until the next call;
    // limit_squared >= basis.MaxNormSquared(): none. (With units the whole unit is scaled instead.)
    void LimitNorms(const Basis& basis, uint64_t limit_squared);

    // The sensitivity of the two sums below, in lattice steps.
    //
    // Neighbours: add or remove one unit. A row adds q phi(x) with an integer |q| <= clip W / kCapUnit, where
    // clip is kClipSteps >> lattice_shift and W <= kCapUnit sqrt(limit_squared) / |phi(x)|, hence a vector of
    // norm at most clip sqrt(limit_squared): |phi(x)|^2 is an exact integer, W is rounded down by more than
    // the errors of floating point, and q is rounded towards zero. A unit of several rows adds the sum of
    // theirs, scaled down by a common factor if that is longer, each entry rounded towards zero, which makes
    // it no longer.
    double Sensitivity() const { return RootUp(limit_squared_) * (kClipSteps >> lattice_shift_); }

    // Sum over units of the clipped gradients times phi; gradients in units of clip / kClipSteps, phi in
    // units of 1 / kBasisUnit. Applies the tables that were added since the last call.
    std::vector<int64_t> GradientSums(const Basis& basis, const Objective& objective);
    // The same with kClipSteps in place of the gradient: counts; with the centred label times kClipSteps: labels.
    std::vector<int64_t> CountSums(const Basis& basis);
    std::vector<int64_t> LabelSums(const Basis& basis, const Objective& objective);

  private:
    static constexpr int32_t kCapUnit = 1 << 14;
    enum class Weight { kGradient, kOne, kLabel };
    struct PendingTable {
        CodeView view;
        std::vector<int32_t> table;
    };
    struct Scratch;

    std::vector<int64_t> Sums(const Basis& basis, Weight weight, const Objective* objective);
    void ApplyPending(size_t block, Scratch& scratch);
    void BlockWeights(size_t block, Weight weight, const Objective* objective, Scratch& scratch);
    void AddUnits(const Basis& basis, const std::vector<int32_t>& weights, std::vector<int64_t>& sums);

    const Dataset& dataset_;
    Simd simd_;
    int lattice_shift_;
    Interrupt& interrupt_;
    std::vector<int32_t> scores_;
    std::vector<uint16_t> caps_;  // W per row; empty: all kCapUnit
    uint64_t limit_squared_ = 0;
    int32_t pending_base_ = 0;
    std::vector<PendingTable> pending_;
};

}  // namespace dpboost
