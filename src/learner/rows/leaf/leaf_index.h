// Which leaf of each tree a row falls into, for blocks of rows and a small group of trees at once. Random
// trees do not look at rows, so a group's structure exists before its leaf values do: the leaf codes of all
// rows are computed ahead, 32 rows per instruction, and packed into one 64-bit word per row (8 trees of depth
// <= 8, else 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/simd.h"
#include "dataset/dataset.h"
#include "learner/rows/leaf/leaf_kernel.h"
#include "model/tree.h"

namespace dpboost {

// Leaf words are written for whole groups of rows.
constexpr size_t kLeafRowGroup = kKernelRows;

// How the leaf codes of a group of trees lie in a row's word.
class LeafPacking {
  public:
    explicit LeafPacking(int depth) : bits_(depth <= 8 ? 8 : 16) {}

    int bits() const { return bits_; }
    int trees_per_word() const { return 64 / bits_; }
    uint32_t Leaf(uint64_t word, int slot) const {
        return static_cast<uint32_t>(word >> (slot * bits_)) & ((1U << bits_) - 1);
    }

  private:
    int bits_;
};

// The trees of one group, compiled for one thread. Every split becomes "signed byte(code + add) > threshold
// goes right", which covers thresholds with missing values on either side and one level against the rest; a
// tree of one feature becomes a table from codes to leaves. Splits that do not fit get a byte column made for them: a
// two-byte column as many as the splits' stretches of 254 codes need, whatever the number of splits; a subset in a tree of
// several features one of its own. All of it agrees with model/tree.h's GoesLeft.
class LeafIndexer {
  public:
    // The dataset must outlive the indexer.
    LeafIndexer(const Dataset& dataset, int depth, Simd simd);

    // Compiles a group of at most trees_per_word trees, all of the given depth.
    void SetTrees(const Tree* trees, int count);

    // Writes the words of all rows of a block, and of cells behind the last row up to a multiple of
    // kLeafRowGroup, for which `words` (of the block's first row) needs room.
    void IndexBlock(size_t block, uint64_t* words);

  private:
    static constexpr size_t kStripe = 512;  // rows that are handled together, so that columns stay in cache

    struct MadeColumn {  // bytes that the kernels read instead of the column itself
        uint16_t feature;
        CodeStretch stretch;              // of a two-byte column, unless there is a table
        std::vector<uint8_t> goes_right;  // per code, of one subset
    };
    struct Use {
        size_t node;
        size_t column;  // of made_
    };
    struct LeafTable {  // a one-feature tree
        int slot;
        uint16_t feature;
        std::vector<uint16_t> leaf;  // per code
    };

    bool CompileInline(const Split& split, KernelNode* node) const;
    size_t CompileStretch(const Split& split, KernelNode* node);
    size_t CompileSubset(const Tree& tree, size_t index, KernelNode* node);
    void CompileTree(const Tree& tree, int slot);
    LeafTable CompileTable(const Tree& tree, int slot) const;
    void MakeColumn(const MadeColumn& column, size_t block, size_t row, size_t rows, uint8_t* out) const;
    void MakeColumns(size_t block, size_t row, size_t rows);
    void ApplyTables(size_t block, size_t row, size_t rows, uint64_t* words) const;
    void StripePortable(const uint8_t* first_column, size_t rows, uint64_t* words) const;
    void StripeVector(const uint8_t* first_column, size_t rows, uint64_t* words) const;

    const Dataset& dataset_;
    const int depth_;
    const Simd simd_;
    const LeafPacking packing_;
    const size_t nodes_per_tree_;
    std::vector<int> node_slots_;    // slots of the trees in nodes_
    std::vector<size_t> positions_;  // breadth-first number of a node -> its place in nodes_
    std::vector<KernelNode> nodes_;  // tree after tree
    std::vector<MadeColumn> made_;
    std::unordered_map<uint64_t, size_t> stretches_;  // feature and stretch -> where it is in made_
    std::vector<Use> uses_;
    std::vector<uint8_t> made_bytes_;
    std::vector<LeafTable> tables_;
};

}  // namespace dpboost
