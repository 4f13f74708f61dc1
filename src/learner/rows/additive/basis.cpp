#include "learner/rows/additive/basis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace dpboost {
namespace {

uint64_t Square(int64_t x) {
    return static_cast<uint64_t>(x * x);
}

uint64_t PartitionNorm(const BasisPartition& partition, uint32_t leaf) {
    if (leaf == BasisPartition::kNoLeaf)
        return 0;
    return Square(partition.on) + (partition.leaves - 1) * Square(partition.off);
}

}  // namespace

void BasisPartition::Centre(double weight) {
    on = static_cast<int32_t>(std::lround(weight * kBasisOne * (1.0 - 1.0 / leaves)));
    off = static_cast<int32_t>(std::lround(weight * kBasisOne * (1.0 / leaves)));
}

void Basis::Add(BasisBlock block) {
    const uint32_t cells = block.view.cells;
    block.cell_norms.assign(cells, 0);
    for (const BasisColumn& column : block.columns) {
        CheckInternal(column.values.size() == cells, "a basis column has another number of cells");
        for (uint32_t cell = 0; cell < cells; cell++) {
            CheckInternal(std::abs(column.values[cell]) <= 1 << 14, "a basis value is too large");
            block.cell_norms[cell] += Square(column.values[cell]);
        }
    }
    if (block.partition.leaves > 0) {
        CheckInternal(block.partition.leaf.size() == cells, "a partition has another number of cells");
        for (uint32_t cell = 0; cell < cells; cell++) {
            const uint32_t leaf = block.partition.leaf[cell];
            CheckInternal(leaf < block.partition.leaves || leaf == BasisPartition::kNoLeaf,
                          "a partition has fewer leaves");
            block.cell_norms[cell] += PartitionNorm(block.partition, leaf);
        }
    }
    block.max_norm = *std::max_element(block.cell_norms.begin(), block.cell_norms.end());
    block.first = static_cast<uint32_t>(coordinates_);
    coordinates_ += block.coordinates();
    max_norm_ += block.max_norm;
    blocks_.push_back(std::move(block));
}

void Basis::SetIntercept(int32_t value) {
    CheckInternal(intercept_ == 0 && value != 0, "a basis has one intercept");
    intercept_ = value;
    max_norm_ += Square(value);
}

void Basis::Project(const std::vector<std::vector<int64_t>>& cell_sums, int64_t total, int64_t* sums) const {
    for (size_t b = 0; b < blocks_.size(); b++) {
        const BasisBlock& block = blocks_[b];
        const std::vector<int64_t>& cells = cell_sums[b];
        int64_t* out = sums + block.first;
        for (const BasisColumn& column : block.columns) {
            int64_t sum = 0;
            for (size_t cell = 0; cell < column.values.size(); cell++)
                sum += column.values[cell] * cells[cell];
            *out++ += sum;
        }
        const BasisPartition& partition = block.partition;
        if (partition.leaves == 0)
            continue;
        int64_t all = 0;
        for (size_t cell = 0; cell < partition.leaf.size(); cell++) {
            if (partition.leaf[cell] == BasisPartition::kNoLeaf)
                continue;
            out[partition.leaf[cell]] += (partition.on + partition.off) * cells[cell];
            all += cells[cell];
        }
        if (partition.off != 0) {
            for (uint32_t leaf = 0; leaf < partition.leaves; leaf++)
                out[leaf] -= partition.off * all;
        }
    }
    if (intercept_ != 0)
        sums[coordinates_] += intercept_ * total;
}

void Basis::AddRow(size_t b, uint32_t cell, int64_t weight, int64_t* vector) const {
    const BasisBlock& block = blocks_[b];
    int64_t* out = vector + block.first;
    for (const BasisColumn& column : block.columns)
        *out++ += column.values[cell] * weight;
    const BasisPartition& partition = block.partition;
    if (partition.leaves == 0 || partition.leaf[cell] == BasisPartition::kNoLeaf)
        return;
    out[partition.leaf[cell]] += (partition.on + partition.off) * weight;
    if (partition.off != 0) {
        for (uint32_t leaf = 0; leaf < partition.leaves; leaf++)
            out[leaf] -= partition.off * weight;
    }
}

void Basis::Expand(size_t b, const double* weights, double* table) const {
    const BasisBlock& block = blocks_[b];
    const double* weight = weights + block.first;
    for (const BasisColumn& column : block.columns) {
        const double w = *weight++ / kBasisOne;
        for (size_t cell = 0; cell < column.values.size(); cell++)
            table[cell] += w * column.values[cell];
    }
    const BasisPartition& partition = block.partition;
    if (partition.leaves == 0)
        return;
    double all = 0;
    for (uint32_t leaf = 0; leaf < partition.leaves; leaf++)
        all += weight[leaf];
    for (size_t cell = 0; cell < partition.leaf.size(); cell++) {
        if (partition.leaf[cell] != BasisPartition::kNoLeaf)
            table[cell] +=
                ((partition.on + partition.off) * weight[partition.leaf[cell]] - partition.off * all) /
                kBasisOne;
    }
}

void Basis::AddSquares(size_t b, const double* counts, double* squares) const {
    const BasisBlock& block = blocks_[b];
    double* out = squares + block.first;
    constexpr double kUnitSquared = static_cast<double>(kBasisOne) * kBasisOne;
    for (const BasisColumn& column : block.columns) {
        for (size_t cell = 0; cell < column.values.size(); cell++)
            *out += counts[cell] * static_cast<double>(Square(column.values[cell])) / kUnitSquared;
        out++;
    }
    const BasisPartition& partition = block.partition;
    for (size_t cell = 0; cell < partition.leaf.size(); cell++) {
        if (partition.leaf[cell] != BasisPartition::kNoLeaf)
            out[partition.leaf[cell]] +=
                counts[cell] * static_cast<double>(Square(partition.on)) / kUnitSquared;
    }
}

double RootUp(uint64_t x) {
    // The conversion and the root round by at most a relative 2^-53 each.
    return std::sqrt(static_cast<double>(x)) * (1 + 1e-15);
}

}  // namespace dpboost
