// The current score of every row while an ensemble grows. Trees come in groups whose leaf codes are computed
// ahead; a score is brought up to date only when it is needed: for sampled rows on the way, for all rows once
// per group (or every round, when a filter must see all gradients). Scores are integers, so the order does
// not matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/large_memory.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "dataset/dataset.h"
#include "learner/rows/leaf/leaf_index.h"
#include "model/tree.h"

namespace dpboost {

class Model;

class EnsembleScores {
  public:
    // Bytes per row that the scores take besides the dataset.
    static size_t BytesPerRow(size_t outputs) { return outputs * sizeof(int32_t) + sizeof(uint64_t); }

    // Dataset and pool must outlive the scores. All rows start with `bases`, one for each of K outputs; their scores and
    // the values of a leaf stand side by side.
    EnsembleScores(const Dataset& dataset, int depth, const std::vector<int32_t>& bases, Simd simd,
                   WorkerPool& pool);

    // Before the first group: rows start at what the model says about them (rows/start_scores.h).
    void StartFrom(const Model& model, Interrupt& interrupt);

    int trees_per_group() const { return packing_.trees_per_word(); }
    // Trees of the group whose leaf values are known.
    int known() const { return known_; }

    // Adds the known trees of the last group to all scores and computes the leaf codes of the next: at most trees_per_group
    // trees, whose leaf values are still unknown. The trees are not kept.
    void BeginGroup(const Tree* trees, int count, Interrupt& interrupt);

    // The values of one tree of the group; slots are set in ascending order.
    void SetLeaves(int slot, const std::vector<int32_t>& leaves);

    // For each of the given rows: its score before tree `slot` of the group, as far as the leaf values of those before are
    // known, and its leaf in that tree. Any worker may call these.
    void Gather(const uint32_t* rows, size_t n, int slot, int32_t* scores, uint16_t* leaves) const;
    uint16_t Leaf(uint32_t row, int slot) const {
        return static_cast<uint16_t>(packing_.Leaf(words_[row], slot));
    }
    void LeavesFrom(size_t first_row, size_t n, int slot, uint16_t* leaves) const;

    // Brings the stored scores of all rows of one block up to (not including) tree `slot`, or to the first whose values are
    // not known; returns the block's scores. After a round in which this was done for every block, call MarkApplied.
    const int32_t* ApplyToBlock(size_t block, int slot);
    void MarkApplied(int slot) { applied_ = std::min(slot, known_); }

  private:
    void AddSlots(size_t first_row, size_t rows, int from, int to);
    // Of several outputs: the values of slots [from, to) added to the scores of a row.
    void AddOutputs(uint64_t word, int from, int to, int32_t* scores) const;

    const Dataset& dataset_;
    WorkerPool& pool_;
    const int depth_;
    const LeafPacking packing_;
    const size_t outputs_;
    int group_size_ = 0;
    int known_ = 0;
    int applied_ = 0;  // slots of the group that the stored scores contain
    LargeVector<int32_t> scores_;
    LargeVector<uint64_t> words_;
    const size_t slot_stride_;           // entries per slot in leaf_values_
    std::vector<int32_t> leaf_values_;   // [slot][leaf], and output
    std::vector<LeafIndexer> indexers_;  // one per worker
};

}  // namespace dpboost
