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

// The same for a two-byte column. A level's stretch begins at the code before it, so that 0 is no code of it; a
// threshold's ends at the code behind it, which like all above may be 255. Missing values that go left come first.
size_t LeafIndexer::CompileStretch(const Split& split, KernelNode* node) {
    const uint16_t missing = dataset_.features()[split.feature].missing();
    const bool is_level = split.kind == SplitKind::kLevel;
    CodeStretch stretch{1, 0};
    if (!is_level)
        stretch.add = split.missing_left ? static_cast<uint16_t>(-missing) : 0;
    const int last = is_level ? split.threshold : std::min<int>(split.threshold, missing - 1);
    const uint16_t code = static_cast<uint16_t>(last + stretch.add);
    stretch.base = static_cast<uint16_t>((code - is_level) / 254 * 254);
    const uint8_t byte = static_cast<uint8_t>(code - stretch.base);
    node->add = Broadcast(static_cast<uint8_t>(is_level ? 0x80 - byte : 0x80));
    node->threshold = Broadcast(static_cast<uint8_t>(is_level ? 0x80 : 0x80 + byte));
    const uint64_t key = uint64_t{split.feature} << 32 | uint64_t{stretch.add} << 16 | stretch.base;
    const auto [found, is_new] = stretches_.try_emplace(key, made_.size());
    if (is_new)
        made_.push_back({split.feature, stretch, {}});
    return found->second;
}

size_t LeafIndexer::CompileSubset(const Tree& tree, size_t index, KernelNode* node) {
    const uint16_t feature = tree.splits[index].feature;
    const FeatureSpec& spec = dataset_.features()[feature];
    MadeColumn column{feature, {}, std::vector<uint8_t>(std::max<size_t>(spec.cells(), 256))};
    for (uint32_t code = 0; code < spec.cells(); code++)
        column.goes_right[code] = !tree.SplitGoesLeft(index, static_cast<uint16_t>(code), spec.missing());
    made_.push_back(std::move(column));
    *node = KernelNode{};
    return made_.size() - 1;
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
        KernelNode* const node = &nodes_[position];
        const size_t column =
            split.kind == SplitKind::kSubset ? CompileSubset(tree, i, node) : CompileStretch(split, node);
        uses_.push_back({position, column});
    }
}

void LeafIndexer::SetTrees(const Tree* trees, int count) {
    CheckInternal(count <= packing_.trees_per_word(), "too many trees for one group");
    nodes_.clear();
    node_slots_.clear();
    made_.clear();
    stretches_.clear();
    uses_.clear();
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
    made_bytes_.resize(std::max(made_bytes_.size(), made_.size() * kStripe));
}

void LeafIndexer::MakeColumn(const MadeColumn& column, size_t block, size_t row, size_t rows,
                             uint8_t* out) const {
    const uint8_t* goes_right = column.goes_right.data();
    if (!dataset_.wide(column.feature)) {
        const uint8_t* codes = dataset_.Codes8(block, column.feature) + row;
        for (size_t i = 0; i < rows; i++)
            out[i] = goes_right[codes[i]];
        return;
    }
    const uint16_t* codes = dataset_.Codes16(block, column.feature) + row;
    if (column.goes_right.empty())
        return (simd_ == Simd::kPortable ? StretchToBytes : StretchToBytesAvx2)(column.stretch, codes, rows,
                                                                                out);
    for (size_t i = 0; i < rows; i++)
        out[i] = goes_right[codes[i]];
}

void LeafIndexer::MakeColumns(size_t block, size_t row, size_t rows) {
    for (size_t k = 0; k < made_.size(); k++)
        MakeColumn(made_[k], block, row, rows, made_bytes_.data() + k * kStripe);
    // The kernels add `column` to the address of the stripe's first column.
    const uintptr_t first_column = reinterpret_cast<uintptr_t>(dataset_.Codes8(block, 0) + row);
    const intptr_t distance =
        static_cast<intptr_t>(reinterpret_cast<uintptr_t>(made_bytes_.data()) - first_column);
    for (const Use& use : uses_)
        nodes_[use.node].column = distance + static_cast<intptr_t>(use.column * kStripe);
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
        MakeColumns(block, row, count);
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
    const auto dense_leaves = simd_ >= Simd::kAvx512 ? DenseLeavesAvx512 : DenseLeavesAvx2;
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
