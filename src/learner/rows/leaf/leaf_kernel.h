// The innermost loop of training: the leaf of a random tree for 128 rows at once. All splits of the upper
// levels are evaluated for all rows, bytes in vector lanes, and results are chosen bottom-up; no branch
// depends on a row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dpboost {

// A split as kernels see it: the row goes right if the signed byte (code + add) exceeds the threshold.
struct KernelNode {
    intptr_t column;     // distance in bytes from the rows' first column to the node's
    uint32_t add;        // four equal bytes, to broadcast
    uint32_t threshold;  // likewise
};

constexpr size_t kKernelRows = 128;
// Levels that kernels evaluate; deeper ones follow each row's path, so that time grows with the depth and not
// with the number of nodes.
constexpr int kDenseDepth = 8;
// Levels of one unrolled piece of code. Deeper dense trees are a top and several such subtrees.
constexpr int kSubtreeDepth = 6;
constexpr size_t kSubtreeNodes = (size_t{1} << kSubtreeDepth) - 1;

// Where the kernels want node `index` (breadth-first) of a tree whose first `dense_depth` levels they
// evaluate: first the top levels, then subtree after subtree, each breadth-first; deeper nodes keep their
// place.
size_t KernelPosition(size_t index, int dense_depth);

// Writes for kKernelRows rows the node of level dense_depth that each reaches, counted from the left; nodes
// in kernel order, `cells` the rows' first column. dense_depth is 1 to kDenseDepth.
void DenseLeavesAvx2(int dense_depth, const KernelNode* nodes, const uint8_t* cells, uint8_t* out);
void DenseLeavesAvx512(int dense_depth, const KernelNode* nodes, const uint8_t* cells, uint8_t* out);

// A stretch of a two-byte column's codes as bytes that the kernels can compare: byte = code + add, less `base`, brought
// into 0 to 255. Codes of the stretch differ, those below it are 0 and those above it 255. `rows` is a multiple of
// kKernelRows.
struct CodeStretch {
    uint16_t add;  // modulo 2^16
    uint16_t base;
};
void StretchToBytes(const CodeStretch& stretch, const uint16_t* codes, size_t rows, uint8_t* out);
void StretchToBytesAvx2(const CodeStretch& stretch, const uint16_t* codes, size_t rows, uint8_t* out);

// codes[slot][row] for 8 slots -> one word per row, slot 0 in the lowest byte.
void PackLeavesAvx2(const uint8_t (*codes)[kKernelRows], uint64_t* words);

}  // namespace dpboost
