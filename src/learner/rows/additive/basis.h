// What a row adds to a release of the additive learners: a vector phi(x) of integers, made of one block per
// view (a feature or a product of features). Its L2 norm is known exactly per cell, so that sensitivities are
// exact; sums over rows are computed per cell and projected afterwards, because phi depends on the cells
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/rows/additive/code_view.h"

namespace dpboost {

// An entry of phi is a multiple of 1/256.
constexpr int32_t kBasisOne = 256;

// A function of the cells: one coordinate.
struct BasisColumn {
    std::vector<int32_t> values;  // per cell, at most 2^14 in magnitude
};

// Indicators of a partition of the cells: coordinate l is `on` for cells of leaf l and -off for all others; a
// cell of no leaf has zeros everywhere. off = 0: plain indicators; on/off = leaves - 1: centred ones.
struct BasisPartition {
    static constexpr uint32_t kNoLeaf = UINT32_MAX;
    uint32_t leaves = 0;
    int32_t on = kBasisOne;
    int32_t off = 0;
    std::vector<uint32_t> leaf;  // per cell

    // Centred indicators of norm weight * sqrt(1 - 1/leaves), up to rounding.
    void Centre(double weight = 1);
    // Of centred indicators: what a leaf's row adds to it, beyond what it adds to another leaf.
    double Weight() const { return static_cast<double>(on + off) / kBasisOne; }
};

struct BasisBlock {
    CodeView view;
    std::vector<BasisColumn> columns;
    BasisPartition partition;
    // Set by Basis::Add:
    uint32_t first = 0;                // first coordinate: the columns', then the leaves'
    std::vector<uint64_t> cell_norms;  // |phi|^2 of this block per cell
    uint64_t max_norm = 0;

    uint32_t coordinates() const { return static_cast<uint32_t>(columns.size()) + partition.leaves; }
};

class Basis {
  public:
    void Add(BasisBlock block);
    // One more coordinate that is the same for every row.
    void SetIntercept(int32_t value);

    const std::vector<BasisBlock>& blocks() const { return blocks_; }
    int32_t intercept() const { return intercept_; }
    size_t coordinates() const { return coordinates_ + (intercept_ != 0 ? 1 : 0); }

    // The largest |phi(x)|^2 that any row can have.
    uint64_t MaxNormSquared() const { return max_norm_; }

    // sums[k] += sum over cells of phi_k(cell) * cell_sums[cell]; block b's cells are cell_sums[b], and
    // `total` the sum over all rows.
    void Project(const std::vector<std::vector<int64_t>>& cell_sums, int64_t total, int64_t* sums) const;
    // vector[k] += weight * phi_k for a row in `cell` of block b (the unit path).
    void AddRow(size_t block, uint32_t cell, int64_t weight, int64_t* vector) const;

    // The function sum_k weights[k] phi_k / kBasisOne of a block, per cell, added to `table`.
    void Expand(size_t block, const double* weights, double* table) const;
    // The expected sum of (phi_k / kBasisOne)^2 for a block, given counts per cell.
    void AddSquares(size_t block, const double* counts, double* squares) const;

  private:
    std::vector<BasisBlock> blocks_;
    int32_t intercept_ = 0;
    size_t coordinates_ = 0;
    uint64_t max_norm_ = 0;
};

// sqrt(x), never below the true root.
double RootUp(uint64_t x);

}  // namespace dpboost
