#include "learner/ensemble_scores.h"

#include <algorithm>

#include "base/error.h"

namespace dpboost {
namespace {

size_t PaddedRows(const Dataset& dataset) {
    return (dataset.rows() + 63) / 64 * 64;
}

// score + leaf values of slots [from, to); `value` is the table of slot 0.
template <int kBits>
inline int32_t AddLeaves(int32_t score, uint64_t word, const int32_t* value, int depth, int from, int to) {
    constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
    word >>= from * kBits;
    value += static_cast<size_t>(from) << depth;
    for (int slot = from; slot < to; slot++) {
        score += value[word & kMask];
        word >>= kBits;
        value += size_t{1} << depth;
    }
    return score;
}

template <int kBits>
void GatherRows(const uint32_t* rows, size_t n, const int32_t* stored, const uint64_t* words,
                const int32_t* value, int depth, int from, int slot, int32_t* scores, uint16_t* leaves) {
    constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = words[rows[i]];
        scores[i] = AddLeaves<kBits>(stored[rows[i]], word, value, depth, from, slot);
        leaves[i] = static_cast<uint16_t>((word >> (slot * kBits)) & kMask);
    }
}

}  // namespace

EnsembleScores::EnsembleScores(const Dataset& dataset, int depth, int32_t base, Simd simd, WorkerPool& pool)
    : dataset_(dataset),
      pool_(pool),
      depth_(depth),
      packing_(depth),
      scores_(PaddedRows(dataset), base),
      words_(PaddedRows(dataset)),
      leaf_values_(static_cast<size_t>(packing_.trees_per_word()) << depth) {
    indexers_.reserve(static_cast<size_t>(pool.workers()));
    for (int worker = 0; worker < pool.workers(); worker++)
        indexers_.emplace_back(dataset, depth, simd);
}

void EnsembleScores::AddSlots(size_t first_row, size_t rows, int from, int to) {
    int32_t* scores = scores_.data() + first_row;
    const uint64_t* words = words_.data() + first_row;
    const int32_t* value = leaf_values_.data();
    if (packing_.bits() == 16) {
        for (size_t i = 0; i < rows; i++)
            scores[i] = AddLeaves<16>(scores[i], words[i], value, depth_, from, to);
    } else if (from == 0 && to == 8) {
        for (size_t i = 0; i < rows; i++)
            scores[i] = AddLeaves<8>(scores[i], words[i], value, depth_, 0, 8);
    } else {
        for (size_t i = 0; i < rows; i++)
            scores[i] = AddLeaves<8>(scores[i], words[i], value, depth_, from, to);
    }
}

void EnsembleScores::BeginGroup(const Tree* trees, int count, Interrupt& interrupt) {
    for (LeafIndexer& indexer : indexers_)
        indexer.SetTrees(trees, count);
    pool_.Run(dataset_.blocks(), interrupt, [&](int worker, size_t block) {
        const size_t first_row = block * kBlockRows;
        if (applied_ < group_size_)
            AddSlots(first_row, dataset_.block_rows(block), applied_, group_size_);
        indexers_[static_cast<size_t>(worker)].IndexBlock(block, words_.data() + first_row);
    });
    group_size_ = count;
    applied_ = 0;
}

void EnsembleScores::SetLeaves(int slot, const std::vector<int32_t>& leaves) {
    CheckInternal(slot < group_size_ && leaves.size() == size_t{1} << depth_,
                  "leaf values do not fit the group");
    std::copy(leaves.begin(), leaves.end(), leaf_values_.begin() + (static_cast<ptrdiff_t>(slot) << depth_));
}

void EnsembleScores::Gather(const uint32_t* rows, size_t n, int slot, int32_t* scores,
                            uint16_t* leaves) const {
    if (packing_.bits() == 8)
        GatherRows<8>(rows, n, scores_.data(), words_.data(), leaf_values_.data(), depth_, applied_, slot,
                      scores, leaves);
    else
        GatherRows<16>(rows, n, scores_.data(), words_.data(), leaf_values_.data(), depth_, applied_, slot,
                       scores, leaves);
}

const int32_t* EnsembleScores::ApplyToBlock(size_t block, int slot) {
    const size_t first_row = block * kBlockRows;
    if (applied_ < slot)
        AddSlots(first_row, dataset_.block_rows(block), applied_, slot);
    return scores_.data() + first_row;
}

}  // namespace dpboost
