#include "learner/rows/leaf/leaf_index.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace dpboost {
namespace {

uint32_t Broadcast(uint8_t byte) {
    return byte * 0x01010101U;
}

bool SplitsOnOneFeature(const Tree& tree) {
    return std::all_of(tree.splits.begin(), tree.splits.end(),
                       [&](const Split& split) { return split.feature == tree.splits[0].feature; });
}

}  // namespace

LeafIndexer::LeafIndexer(const Dataset& dataset, int depth, Simd simd)
    : dataset_(dataset),
      depth_(depth),
      simd_(simd),
      packing_(depth),
      nodes_per_tree_((size_t{1} << depth) - 1) {
    CheckInternal(depth >= 1 && depth <= static_cast<int>(kMaxDepth), "tree depth is out of range");
    node_slots_.reserve(static_cast<size_t>(packing_.trees_per_word()));
    nodes_.reserve(static_cast<size_t>(packing_.trees_per_word()) * nodes_per_tree_);
    for (size_t i = 0; i < nodes_per_tree_; i++)
        positions_.push_back(simd == Simd::kPortable ? i : KernelPosition(i, std::min(depth, kDenseDepth)));
}

// With x = code + add as a signed byte, "x > threshold" must say what GoesLeft denies. Adding 0x80 makes the
// signed order that of the codes; adding 0x80 - c makes code c the smallest and keeps the others' order.
bool LeafIndexer::CompileInline(const Split& split, KernelNode* node) const {
    if (dataset_.wide(split.feature) || split.kind == SplitKind::kSubset)
        return false;
    const uint8_t missing = static_cast<uint8_t>(dataset_.features()[split.feature].missing());
    uint8_t add = 0x80;
    uint8_t threshold = 0x80;
    if (split.kind == SplitKind::kLevel) {
        add = static_cast<uint8_t>(0x80 - split.threshold);
    } else {
        if (split.missing_left)
            add = static_cast<uint8_t>(0x80 - missing);
        threshold = static_cast<uint8_t>(std::min<int>(split.threshold, missing - 1) + add);
    }
    node->column = dataset_.Codes8(0, split.feature) - dataset_.Codes8(0, 0);
    node->add = Broadcast(add);
    node->threshold = Broadcast(threshold);
    return true;
}

LeafIndexer::LeafTable LeafIndexer::CompileTable(const Tree& tree, int slot) const {
    LeafTable table{slot, tree.splits[0].feature, {}};
    const FeatureSpec& spec = dataset_.features()[table.feature];
    table.leaf.resize(std::max<size_t>(spec.cells(), 256));
    for (uint32_t code = 0; code < spec.cells(); code++) {
        size_t node = 0;
        while (node < nodes_per_tree_)
            node = 2 * node + (tree.SplitGoesLeft(node, static_cast<uint16_t>(code), spec.missing()) ? 1 : 2);
        table.leaf[code] = static_cast<uint16_t>(node - nodes_per_tree_);
    }
    return table;
}

void LeafIndexer::CompileTree(const Tree& tree, int slot) {
    const size_t first = nodes_.size();
    node_slots_.push_back(slot);
    nodes_.resize(first + nodes_per_tree_);
    for (size_t i = 0; i < nodes_per_tree_; i++) {
        const Split& split = tree.splits[i];
        const size_t position = first + positions_[i];
        if (CompileInline(split, &nodes_[position]))
            continue;
        const FeatureSpec& spec = dataset_.features()[split.feature];
        Lookup lookup{position, split.feature, std::vector<uint8_t>(std::max<size_t>(spec.cells(), 256))};
        for (uint32_t code = 0; code < spec.cells(); code++)
            lookup.goes_right[code] = !tree.SplitGoesLeft(i, static_cast<uint16_t>(code), spec.missing());
        nodes_[position] = KernelNode{};
        lookups_.push_back(std::move(lookup));
    }
}

void LeafIndexer::SetTrees(const Tree* trees, int count) {
    CheckInternal(count <= packing_.trees_per_word(), "too many trees for one group");
    nodes_.clear();
    node_slots_.clear();
    lookups_.clear();
    tables_.clear();
    if (dataset_.blocks() == 0)
        return;
    for (int slot = 0; slot < count; slot++) {
        CheckInternal(static_cast<int>(trees[slot].depth) == depth_,
                      "trees of a group must have the same depth");
        if (SplitsOnOneFeature(trees[slot]))
            tables_.push_back(CompileTable(trees[slot], slot));
        else
            CompileTree(trees[slot], slot);
    }
    lookup_columns_.resize(std::max(lookup_columns_.size(), lookups_.size() * kStripe));
}

void LeafIndexer::FillLookups(size_t block, size_t row, size_t rows) {
    const uint8_t* first_column = dataset_.Codes8(block, 0) + row;
    for (size_t k = 0; k < lookups_.size(); k++) {
        const Lookup& lookup = lookups_[k];
        uint8_t* out = lookup_columns_.data() + k * kStripe;
        const uint8_t* goes_right = lookup.goes_right.data();
        if (dataset_.wide(lookup.feature)) {
            const uint16_t* codes = dataset_.Codes16(block, lookup.feature) + row;
            for (size_t i = 0; i < rows; i++)
                out[i] = goes_right[codes[i]];
        } else {
            const uint8_t* codes = dataset_.Codes8(block, lookup.feature) + row;
            for (size_t i = 0; i < rows; i++)
                out[i] = goes_right[codes[i]];
        }
        // The kernels add `column` to the address of the stripe's first column.
        nodes_[lookup.node].column = static_cast<intptr_t>(reinterpret_cast<uintptr_t>(out) -
                                                           reinterpret_cast<uintptr_t>(first_column));
    }
}

void LeafIndexer::ApplyTables(size_t block, size_t row, size_t rows, uint64_t* words) const {
    for (const LeafTable& table : tables_) {
        const int shift = table.slot * packing_.bits();
        const uint16_t* leaf = table.leaf.data();
        if (dataset_.wide(table.feature)) {
            const uint16_t* codes = dataset_.Codes16(block, table.feature) + row;
            for (size_t i = 0; i < rows; i++)
                words[i] |= uint64_t{leaf[codes[i]]} << shift;
        } else {
            const uint8_t* codes = dataset_.Codes8(block, table.feature) + row;
            for (size_t i = 0; i < rows; i++)
                words[i] |= uint64_t{leaf[codes[i]]} << shift;
        }
    }
}

void LeafIndexer::IndexBlock(size_t block, uint64_t* words) {
    const size_t rows = (dataset_.block_rows(block) + kLeafRowGroup - 1) / kLeafRowGroup * kLeafRowGroup;
    for (size_t row = 0; row < rows; row += kStripe) {
        const size_t count = std::min(kStripe, rows - row);
        const uint8_t* first_column = dataset_.Codes8(block, 0) + row;
        FillLookups(block, row, count);
        if (simd_ == Simd::kPortable)
            StripePortable(first_column, count, words + row);
        else
            StripeVector(first_column, count, words + row);
        ApplyTables(block, row, count, words + row);
    }
}

namespace {

// One step down: the child of node `index` for the row at `cell` in the first column.
inline size_t Child(const KernelNode& node, size_t index, const uint8_t* cell) {
    const uint8_t code = *reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(cell) +
                                                           static_cast<uintptr_t>(node.column));
    const int8_t x = static_cast<int8_t>(static_cast<uint8_t>(code + static_cast<uint8_t>(node.add)));
    return 2 * index + 1 + (x > static_cast<int8_t>(static_cast<uint8_t>(node.threshold)));
}

}  // namespace

void LeafIndexer::StripePortable(const uint8_t* first_column, size_t rows, uint64_t* words) const {
    std::fill(words, words + rows, 0);
    for (size_t k = 0; k < node_slots_.size(); k++) {
        const KernelNode* nodes = nodes_.data() + k * nodes_per_tree_;
        const int shift = node_slots_[k] * packing_.bits();
        for (size_t i = 0; i < rows; i++) {
            size_t index = 0;
            for (int level = 0; level < depth_; level++)
                index = Child(nodes[index], index, first_column + i);
            words[i] |= uint64_t{index - nodes_per_tree_} << shift;
        }
    }
}

void LeafIndexer::StripeVector(const uint8_t* first_column, size_t rows, uint64_t* words) const {
    alignas(64) uint8_t codes[8][kKernelRows];
    std::memset(codes, 0, sizeof(codes));
    const auto dense_leaves = simd_ == Simd::kAvx512 ? DenseLeavesAvx512 : DenseLeavesAvx2;
    const int dense_depth = std::min(depth_, kDenseDepth);
    for (size_t row = 0; row < rows; row += kKernelRows) {
        const uint8_t* cells = first_column + row;
        if (packing_.bits() == 16)
            std::fill(words + row, words + row + kKernelRows, 0);
        for (size_t k = 0; k < node_slots_.size(); k++) {
            const KernelNode* nodes = nodes_.data() + k * nodes_per_tree_;
            uint8_t* out = codes[node_slots_[k]];
            dense_leaves(dense_depth, nodes, cells, out);
            if (packing_.bits() == 8)
                continue;
            const int shift = node_slots_[k] * packing_.bits();
            for (size_t i = 0; i < kKernelRows; i++) {
                size_t index = (size_t{1} << dense_depth) - 1 + out[i];
                for (int level = dense_depth; level < depth_; level++)
                    index = Child(nodes[index], index, cells + i);
                words[row + i] |= uint64_t{index - nodes_per_tree_} << shift;
            }
        }
        if (packing_.bits() == 8)
            PackLeavesAvx2(codes, words + row);
    }
}

}  // namespace dpboost
