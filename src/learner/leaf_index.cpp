#include "learner/leaf_index.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {
namespace {

// Levels of a tree whose splits are all evaluated for all rows; deeper levels follow each row's path, so that
// time grows with the depth and not with the number of nodes.
constexpr int kDenseDepth = 6;
constexpr size_t kGroup = 64;  // rows per step of the vector kernel

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
    node_slots_.reserve(packing_.trees_per_word());
    nodes_.reserve(packing_.trees_per_word() * nodes_per_tree_);
}

// With x = code + add as a signed byte, "x > threshold" must say what GoesLeft denies. Adding 0x80 makes the
// signed order that of the codes; adding 0x80 - c makes code c the smallest and keeps the others' order.
bool LeafIndexer::CompileInline(const Split& split, Node* node) const {
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
    node_slots_.push_back(slot);
    for (size_t i = 0; i < nodes_per_tree_; i++) {
        const Split& split = tree.splits[i];
        Node node{};
        if (!CompileInline(split, &node)) {
            const FeatureSpec& spec = dataset_.features()[split.feature];
            Lookup lookup{nodes_.size(), split.feature,
                          std::vector<uint8_t>(std::max<size_t>(spec.cells(), 256))};
            for (uint32_t code = 0; code < spec.cells(); code++)
                lookup.goes_right[code] = !tree.SplitGoesLeft(i, static_cast<uint16_t>(code), spec.missing());
            lookups_.push_back(std::move(lookup));
        }
        nodes_.push_back(node);
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
    const size_t rows = (dataset_.block_rows(block) + kGroup - 1) / kGroup * kGroup;
    for (size_t row = 0; row < rows; row += kStripe) {
        const size_t count = std::min(kStripe, rows - row);
        const uint8_t* first_column = dataset_.Codes8(block, 0) + row;
        FillLookups(block, row, count);
#if defined(__x86_64__)
        if (simd_ == Simd::kAvx2)
            StripeAvx2(first_column, count, words + row);
        else
#endif
            StripePortable(first_column, count, words + row);
        ApplyTables(block, row, count, words + row);
    }
}

namespace {

// One step down: the child of `node` for the row at `cell` bytes behind its first column.
template <typename Node>
inline size_t Child(const Node& node, size_t index, const uint8_t* cell) {
    const uint8_t code = *reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(cell) +
                                                           static_cast<uintptr_t>(node.column));
    const int8_t x = static_cast<int8_t>(static_cast<uint8_t>(code + static_cast<uint8_t>(node.add)));
    return 2 * index + 1 + (x > static_cast<int8_t>(static_cast<uint8_t>(node.threshold)));
}

}  // namespace

void LeafIndexer::StripePortable(const uint8_t* first_column, size_t rows, uint64_t* words) const {
    std::fill(words, words + rows, 0);
    for (size_t k = 0; k < node_slots_.size(); k++) {
        const Node* nodes = nodes_.data() + k * nodes_per_tree_;
        const int shift = node_slots_[k] * packing_.bits();
        for (size_t i = 0; i < rows; i++) {
            size_t index = 0;
            for (int level = 0; level < depth_; level++)
                index = Child(nodes[index], index, first_column + i);
            words[i] |= uint64_t{index - nodes_per_tree_} << shift;
        }
    }
}

#if defined(__x86_64__)

namespace {

struct Pair {
    __m256i low, high;  // rows 0..31 and 32..63
};

// All bits set where the row goes right.
template <typename Node>
__attribute__((target("avx2"), always_inline)) inline Pair RightMask(const Node& node, const uint8_t* cells) {
    const __m256i* codes = reinterpret_cast<const __m256i*>(reinterpret_cast<uintptr_t>(cells) +
                                                            static_cast<uintptr_t>(node.column));
    const __m256i add = _mm256_set1_epi32(static_cast<int>(node.add));
    const __m256i threshold = _mm256_set1_epi32(static_cast<int>(node.threshold));
    return {_mm256_cmpgt_epi8(_mm256_add_epi8(_mm256_loadu_si256(codes), add), threshold),
            _mm256_cmpgt_epi8(_mm256_add_epi8(_mm256_loadu_si256(codes + 1), add), threshold)};
}

// The leaf within the subtree of depth `Depth` at node `Index`, plus Base: bottom-up, each node chooses
// between the results of its two halves; at the bottom the mask itself (0 or -1) is subtracted from the left
// leaf's number.
template <int Depth, int Index, int Base>
struct Subtree {
    template <typename Node>
    __attribute__((target("avx2"), always_inline)) static inline Pair Leaf(const Node* nodes,
                                                                           const uint8_t* cells) {
        const Pair left = Subtree<Depth - 1, 2 * Index + 1, Base>::Leaf(nodes, cells);
        const Pair right = Subtree<Depth - 1, 2 * Index + 2, Base + (1 << (Depth - 1))>::Leaf(nodes, cells);
        const Pair mask = RightMask(nodes[Index], cells);
        return {_mm256_blendv_epi8(left.low, right.low, mask.low),
                _mm256_blendv_epi8(left.high, right.high, mask.high)};
    }
};

template <int Index, int Base>
struct Subtree<1, Index, Base> {
    template <typename Node>
    __attribute__((target("avx2"), always_inline)) static inline Pair Leaf(const Node* nodes,
                                                                           const uint8_t* cells) {
        const Pair mask = RightMask(nodes[Index], cells);
        const __m256i base = _mm256_set1_epi8(static_cast<char>(Base));
        return {_mm256_sub_epi8(base, mask.low), _mm256_sub_epi8(base, mask.high)};
    }
};

template <int Depth, typename Node>
__attribute__((target("avx2"))) void DenseLevels(const Node* nodes, const uint8_t* cells, uint8_t* out) {
    const Pair leaf = Subtree<Depth, 0, 0>::Leaf(nodes, cells);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out), leaf.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out) + 1, leaf.high);
}

// codes[slot][row] bytes -> one word per row, slot 0 in the lowest byte.
__attribute__((target("avx2"))) void PackBytes(const uint8_t (*codes)[kGroup], uint64_t* words) {
    for (size_t row = 0; row < kGroup; row += 32) {
        __m256i b[8], w[8], d[8];
        for (int slot = 0; slot < 8; slot++)
            b[slot] = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes[slot] + row));
        for (int k = 0; k < 4; k++) {
            w[k] = _mm256_unpacklo_epi8(b[2 * k], b[2 * k + 1]);      // rows 0-7 and 16-23
            w[4 + k] = _mm256_unpackhi_epi8(b[2 * k], b[2 * k + 1]);  // rows 8-15 and 24-31
        }
        for (int half = 0; half < 2; half++) {
            for (int k = 0; k < 2; k++) {
                d[4 * half + k] = _mm256_unpacklo_epi16(w[4 * half + 2 * k], w[4 * half + 2 * k + 1]);
                d[4 * half + 2 + k] = _mm256_unpackhi_epi16(w[4 * half + 2 * k], w[4 * half + 2 * k + 1]);
            }
        }
        for (int quarter = 0; quarter < 4; quarter++) {
            const __m256i low = _mm256_unpacklo_epi32(d[2 * quarter], d[2 * quarter + 1]);
            const __m256i high = _mm256_unpackhi_epi32(d[2 * quarter], d[2 * quarter + 1]);
            uint64_t* out = words + row + 4 * quarter;
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(low));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2), _mm256_castsi256_si128(high));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(low, 1));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 18), _mm256_extracti128_si256(high, 1));
        }
    }
}

}  // namespace

__attribute__((target("avx2"))) void LeafIndexer::StripeAvx2(const uint8_t* first_column, size_t rows,
                                                             uint64_t* words) const {
    alignas(32) uint8_t codes[8][kGroup];
    std::memset(codes, 0, sizeof(codes));
    const size_t dense_nodes = (size_t{1} << std::min(depth_, kDenseDepth)) - 1;
    const bool deep = depth_ > kDenseDepth;
    for (size_t row = 0; row < rows; row += kGroup) {
        const uint8_t* cells = first_column + row;
        if (deep)
            std::memset(words + row, 0, kGroup * sizeof(uint64_t));
        for (size_t k = 0; k < node_slots_.size(); k++) {
            const Node* nodes = nodes_.data() + k * nodes_per_tree_;
            uint8_t* out = codes[deep ? 0 : node_slots_[k]];
            switch (std::min(depth_, kDenseDepth)) {
                case 1:
                    DenseLevels<1>(nodes, cells, out);
                    break;
                case 2:
                    DenseLevels<2>(nodes, cells, out);
                    break;
                case 3:
                    DenseLevels<3>(nodes, cells, out);
                    break;
                case 4:
                    DenseLevels<4>(nodes, cells, out);
                    break;
                case 5:
                    DenseLevels<5>(nodes, cells, out);
                    break;
                default:
                    DenseLevels<6>(nodes, cells, out);
                    break;
            }
            if (!deep)
                continue;
            const int shift = node_slots_[k] * packing_.bits();
            for (size_t i = 0; i < kGroup; i++) {
                size_t index = dense_nodes + out[i];
                for (int level = kDenseDepth; level < depth_; level++)
                    index = Child(nodes[index], index, cells + i);
                words[row + i] |= uint64_t{index - nodes_per_tree_} << shift;
            }
        }
        if (!deep)
            PackBytes(codes, words + row);
    }
}

#else

void LeafIndexer::StripeAvx2(const uint8_t* first_column, size_t rows, uint64_t* words) const {
    StripePortable(first_column, rows, words);
}

#endif

}  // namespace dpboost
