// The rows of an additive learner: their scores, and sums over them of (clipped gradient or one) times
// phi(x). This file makes the sensitivities true that auto's draws are charged for: whatever the data, one
// unit changes the vector of sums by at most the stated bound in L2 norm, exactly, in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/large_memory.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "learner/objective/objective.h"
#include "learner/rows/additive/basis.h"
#include "learner/rows/additive/byte_tables.h"
#include "learner/rows/additive/narrow_parts.h"
#include "mechanism/releaser.h"

namespace dpboost {

class Dataset;

// What happens to a row whose phi is too long: all of its gradient is scaled down, or only what exceeds the bound is cut.
enum class LongRows { kScale, kCut };

class BasisRows {
  public:
    // Bytes per row of the state below, to be kept free next to the dataset: scores and the factor of a long row; with
    // units also the weights of a pass.
    static size_t BytesPerRow(bool has_units, size_t outputs = 1) {
        return (has_units ? 2 : 1) * outputs * sizeof(int32_t) + sizeof(uint16_t);
    }

    // lattice_shift: rows are rounded to a lattice 2^shift times coarser (for noise that is larger than the
    // samplers allow, where nobody can tell). outputs: K, the scores of a row. Sums are integers, so they are the same
    // with any number of threads.
    BasisRows(const Dataset& dataset, Simd simd, Interrupt& interrupt, int lattice_shift = 0,
              size_t outputs = 1, int threads = 1);

    size_t outputs() const { return outputs_; }
    bool has_units() const;

    // Lattice steps of a weight of one clip times a phi of one.
    double StepsPerOne() const { return static_cast<double>(kClipSteps >> lattice_shift_) * kBasisOne; }

    // Changes every row's score, in steps of 2^-kFixedBits. The caller keeps the sum of all of them within
    // int32. table: K values per cell.
    void AddToBase(int32_t value, size_t output = 0) { pending_base_[output] += value; }
    void AddTable(const CodeView& view, const std::vector<int32_t>& table);

    // Averages all scores with those of a model: what is above `bases` counts 1 - weight, and what the model says above
    // its own, in units of `unit`, counts `weight` (in [0, 1]). A row's score then depends on the row, on what was
    // released, and on no other row, as before.
    void Blend(const Model& model, double weight, const std::vector<int32_t>& bases, double unit);
    // Takes all rows back to these scores.
    void Restart(const std::vector<int32_t>& bases);

    // What the sums below are of, until the next call; the basis must live as long. Rows whose phi is longer than
    // sqrt(limit_squared) have it scaled down to that. (With units the whole unit is scaled instead.)
    void SetBasis(const Basis& basis, uint64_t limit_squared, LongRows long_rows = LongRows::kScale);
    void SetBasis(const Basis& basis) { SetBasis(basis, basis.MaxNormSquared()); }

    // Labels are y -> (y - middle) / half from now on, clamped to [-1, 1]. Both are public or were released.
    void SetLabelWindow(double middle, double half);

    // The sensitivity of the sums below in L2 norm, in lattice steps.
    //
    // Neighbours: add or remove one unit. A row adds q phi(x) with an integer |q| <= clip W / kCapUnit, where
    // clip is kClipSteps >> lattice_shift and W <= kCapUnit sqrt(limit_squared) / |phi(x)|, hence a vector of
    // norm at most clip sqrt(limit_squared): a row's weight is a factor of at most 1, |phi(x)|^2 is an exact integer, W is rounded down by more than
    // the errors of floating point, and q is rounded towards zero (kCut: q is cut at that bound instead). A unit of several rows adds the sum of
    // theirs, scaled down by a common factor if that is longer, each entry rounded towards zero, which makes
    // it no longer. With K outputs q is a vector with |q| <= clip W / kCapUnit (softmax.cpp; scaling and rounding towards
    // zero keep that), and the row adds all products q_k phi_j, a vector of norm |q| |phi(x)|.
    double Sensitivity() const { return RootUp(limit_squared_) * (kClipSteps >> lattice_shift_); }

    // Sum over units of the clipped gradients times phi; gradients in steps of clip / kClipSteps, phi in
    // steps of 1 / kBasisOne; with K outputs all coordinates of the first, then those of the second and so on. Applies
    // the tables that were added since the last call.
    RawSums GradientSums(const Objective& objective);
    // The same with kClipSteps in place of the gradient: counts; with the centred label times kClipSteps: labels.
    RawSums CountSums();
    RawSums LabelSums(const Objective& objective);

    // How many rows have a label, or a score and a class, in each interval between ascending edges: edges + 1 counts, of
    // classes first the negatives' and then the positives' for each interval. Scores as in AddTable, of one output.
    //
    // Neighbours: add or remove one unit. Sensitivity: a row adds StepsPerOne() to one count. A unit of several rows adds
    // the sum of theirs, scaled down by a common factor to that norm, each entry rounded towards zero.
    RawSums LabelCounts(const std::vector<float>& edges);
    RawSums ScoreCounts(const std::vector<int32_t>& edges);
    // The same of what scores leave over, label - score.
    RawSums ResidualCounts(const std::vector<float>& edges);

    // With labels and scores as logarithms: the sum of exp(label - score) - reach / 2, cut off at +-reach / 2, in units of
    // reach / 2 / StepsPerOne().
    //
    // Neighbours: add or remove one unit. Sensitivity: a row adds an integer of at most StepsPerOne() in magnitude,
    // clipped behind all floating point and rounded towards zero. What a unit of several rows adds is cut off at the same.
    struct ScoreLine {
        double factor;
        double shift;
        double At(double x) const { return factor * x + shift; }
    };
    RawSums RatioSums(const ScoreLine& of_labels, const ScoreLine& of_scores, double reach);

  private:
    static constexpr int32_t kCapUnit = 1 << 14;
    enum class Weight { kGradient, kOne, kLabel };
    struct PendingTable {
        CodeView view;
        std::vector<int32_t> table;
        ByteTable bytes;  // of it, where byte tables are used
    };
    struct Scratch;
    // What a worker sums for itself.
    struct Part;

    RawSums Sums(Weight weight, const Objective* objective);
    // The block's weights, in cells or, with units, row by row. Only the calling thread has an interrupt to poll.
    void AddBlock(size_t block, size_t outputs, Interrupt* interrupt, Part& part,
                  std::vector<int32_t>& row_weights) const;
    void WantNext(size_t block, NarrowParts::Sums& sums) const;
    std::vector<int64_t> Project(size_t outputs, std::vector<Part>& parts) const;
    Interrupt* InterruptOf(int worker) const { return worker == 0 ? &interrupt_ : nullptr; }
    uint32_t CodeOf(const CodeView& view, size_t row) const;
    // Tables whose codes are bytes are looked up in registers, where the machine can and rows are many enough.
    bool UsesByteTables() const;
    void PreparePending();
    void ApplyPending(size_t block, Scratch& scratch);
    void ApplyAllPending();
    void ForgetPending();
    void BlockWeights(size_t block, Weight weight, const Objective* objective, Scratch& scratch);
    // Brings the weights of a block within the bounds of their rows and to the lattice.
    void Bound(size_t block, int32_t* weights) const;
    std::vector<int64_t> SumUnits(const std::vector<int32_t>& weights, size_t outputs);
    // Adds what unit's rows add, with their weights, to `vector`.
    void AddUnit(size_t unit, const std::vector<int32_t>& weights, size_t outputs,
                 std::vector<int64_t>& vector) const;
    // fill(block, cells): the cell of each row of a block.
    template <typename Fill>
    RawSums CountCells(size_t count, const Fill& fill);
    const float* LabelsOf(size_t block, float* scratch) const;

    const Dataset& dataset_;
    Simd simd_;
    int lattice_shift_;
    Interrupt& interrupt_;
    WorkerPool pool_;
    size_t outputs_;
    LargeVector<int32_t> scores_;  // K per row, side by side
    const Basis* basis_ = nullptr;
    NarrowParts narrow_;          // of the basis
    LargeVector<uint16_t> caps_;  // W per row; empty: all kCapUnit
    LongRows long_rows_ = LongRows::kScale;
    bool windowed_ = false;
    float window_middle_ = 0;
    float window_scale_ = 1;
    uint64_t limit_squared_ = 0;
    std::vector<int32_t> pending_base_;  // of each output
    std::vector<PendingTable> pending_;
};

}  // namespace dpboost
