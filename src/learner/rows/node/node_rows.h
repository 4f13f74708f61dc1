// The rows that take part in the search for a tree's splits, sorted by the node they have reached, and sums
// over the cells of a feature's histogram for one node. All sums are integers of raw figures; node_sums.h hands them on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/rows/unit_sample.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

// Who takes part in one release: each unit, independently with probability `rate`, by one of its rows, drawn
// anew.
//
// So a unit adds one row to what is released, wherever its other rows lie. Proof for units of several rows:
// given which rows stand for the other units, the released distribution with the unit is a mixture over its
// rows of distributions that each are neighbours by one row, and Renyi divergence and hockey-stick curves are
// jointly (quasi-)convex, so the bound for one row holds for the mixture. The choice may be kept for several
// releases, which then compose before the mixture is taken.
void DrawParticipants(const Dataset& dataset, SamplingRate rate, PrivateRandom& coins, Interrupt& interrupt,
                      std::vector<uint32_t>* rows);

// What a row adds to a cell.
struct RowValue {
    int32_t gradient;
    int32_t weight;  // its Hessian in lattice steps, or 1 to count rows
};
struct CellSum {
    int64_t gradient = 0;
    int64_t weight = 0;

    void Add(const CellSum& other) {
        gradient += other.gradient;
        weight += other.weight;
    }
};

class NodeRows {
  public:
    // The dataset must outlive the object.
    explicit NodeRows(const Dataset& dataset) : dataset_(dataset), begin_{0, 0} {}

    // All rows are at the root.
    void Reset(std::vector<uint32_t> rows);
    // Takes the rows back, to be drawn anew without allocating.
    std::vector<uint32_t> TakeBack() { return std::move(rows_); }
    // Sends the rows of each node of level `level` of the tree to its children.
    void Descend(const Tree& tree, unsigned level, Interrupt& interrupt);

    size_t nodes() const { return begin_.size() - 1; }

    // Looks up what the rows add, once per level. weights = null counts rows.
    void SetValues(const int32_t* gradients, const int32_t* weights, Interrupt& interrupt);

    // Adds the rows of a node to the cells of a feature, one cell per code. Polls `interrupt` unless it is
    // null.
    void AddTo(size_t node, size_t feature, CellSum* cells, Interrupt* interrupt) const;
    // What all rows of a node add up to.
    CellSum Total(size_t node) const;

  private:
    template <typename Code>
    void AddRun(const Code* codes, size_t from, size_t to, CellSum* cells) const;

    const Dataset& dataset_;
    std::vector<uint32_t> rows_;    // by node, in the order they came within a node
    std::vector<size_t> begin_;     // where the rows of each node begin
    std::vector<RowValue> values_;  // in the order of rows_
    std::vector<uint32_t> right_;   // scratch
};

}  // namespace dpboost
