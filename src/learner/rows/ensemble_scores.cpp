#include "learner/rows/ensemble_scores.h"

#include <algorithm>

#include "base/error.h"
#include "learner/rows/start_scores.h"

namespace dpboost {
namespace {

// Entries of a slot in the table of leaf values: a power of two that holds every leaf code.
template <int kBits>
constexpr size_t kSlotStride = kBits == 8 ? 256 : 1024;

size_t PaddedRows(const Dataset& dataset) {
    return (dataset.rows() + kLeafRowGroup - 1) / kLeafRowGroup * kLeafRowGroup;
}

// score + leaf values of slots [from, to); `value` is the table of slot 0. Written out by recursion, because
// the compiler does not unroll it at -O2 and these few instructions are run once per row and tree.
template <int kBits, int kFrom, int kTo>
inline int32_t AddLeaves(int32_t score, uint64_t word, const int32_t* value) {
    if constexpr (kFrom < kTo) {
        constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
        score += value[(static_cast<size_t>(kFrom) * kSlotStride<kBits>)+((word >> (kFrom * kBits)) & kMask)];
        return AddLeaves<kBits, kFrom + 1, kTo>(score, word, value);
    } else {
        (void)word;
        (void)value;
        return score;
    }
}

struct Columns {
    const uint64_t* words;
    const int32_t* value;
};

// Calls task with the integers (from, to) as compile-time constants; the pairs that occur are (0, to) and,
// under a filter, (to - 1, to) and (to, to).
template <int kBits, int kTo, typename Task>
void WithSlots(int from, int to, const Task& task) {
    if constexpr (kTo <= 64 / kBits) {
        if (to != kTo)
            return WithSlots<kBits, kTo + 1>(from, to, task);
        if (from == 0)
            return task(std::integral_constant<int, 0>{}, std::integral_constant<int, kTo>{});
        if (from == to)
            return task(std::integral_constant<int, kTo>{}, std::integral_constant<int, kTo>{});
        if constexpr (kTo > 1) {
            if (from == to - 1)
                return task(std::integral_constant<int, kTo - 1>{}, std::integral_constant<int, kTo>{});
        }
    }
    CheckInternal(false, "a group's trees are applied one by one or all together");
}

template <int kBits>
void AddSlotsToRows(const Columns& columns, size_t n, int from, int to, int32_t* scores) {
    WithSlots<kBits, 0>(from, to, [&](auto from_slot, auto to_slot) {
        for (size_t i = 0; i < n; i++)
            scores[i] = AddLeaves<kBits, from_slot(), to_slot()>(scores[i], columns.words[i], columns.value);
    });
}

template <int kBits>
void GatherRows(const Columns& columns, const int32_t* stored, const uint32_t* rows, size_t n, int from,
                int to, int slot, int32_t* scores, uint16_t* leaves) {
    constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
    WithSlots<kBits, 0>(from, to, [&](auto from_slot, auto to_slot) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t word = columns.words[rows[i]];
            scores[i] = AddLeaves<kBits, from_slot(), to_slot()>(stored[rows[i]], word, columns.value);
            leaves[i] = static_cast<uint16_t>((word >> (slot * kBits)) & kMask);
        }
    });
}

}  // namespace

EnsembleScores::EnsembleScores(const Dataset& dataset, int depth, const std::vector<int32_t>& bases,
                               Simd simd, WorkerPool& pool)
    : dataset_(dataset),
      pool_(pool),
      depth_(depth),
      packing_(depth),
      outputs_(bases.size()),
      scores_(PaddedRows(dataset) * outputs_, bases[0]),
      words_(PaddedRows(dataset)),
      slot_stride_(packing_.bits() == 8 ? kSlotStride<8> : kSlotStride<16>),
      leaf_values_(static_cast<size_t>(packing_.trees_per_word()) * slot_stride_ * outputs_) {
    CheckInternal(size_t{1} << depth <= slot_stride_, "trees are too deep for their leaf codes");
    for (size_t i = 0; outputs_ > 1 && i < scores_.size(); i++)
        scores_[i] = bases[i % outputs_];
    indexers_.reserve(static_cast<size_t>(pool.workers()));
    for (int worker = 0; worker < pool.workers(); worker++)
        indexers_.emplace_back(dataset, depth, simd);
}

void EnsembleScores::AddOutputs(uint64_t word, int from, int to, int32_t* scores) const {
    for (int slot = from; slot < to; slot++) {
        const size_t leaf = static_cast<size_t>(slot) * slot_stride_ + packing_.Leaf(word, slot);
        for (size_t k = 0; k < outputs_; k++)
            scores[k] += leaf_values_[leaf * outputs_ + k];
    }
}

void EnsembleScores::StartFrom(const Model& model, Interrupt& interrupt) {
    constexpr size_t kRowsPerPoll = 512;
    CheckInternal(group_size_ == 0 && model.outputs() == outputs_, "rows start before the first tree");
    StartScores start(model, dataset_);
    for (size_t row = 0; row < dataset_.rows(); row++) {
        if (row % kRowsPerPoll == 0)
            interrupt.Poll();
        std::copy_n(start.Of(row), outputs_, scores_.begin() + static_cast<ptrdiff_t>(row * outputs_));
    }
}

void EnsembleScores::AddSlots(size_t first_row, size_t rows, int from, int to) {
    for (size_t i = first_row; outputs_ > 1 && i < first_row + rows; i++)
        AddOutputs(words_[i], from, to, scores_.data() + i * outputs_);
    if (outputs_ > 1)
        return;
    const Columns columns{words_.data() + first_row, leaf_values_.data()};
    if (packing_.bits() == 8)
        AddSlotsToRows<8>(columns, rows, from, to, scores_.data() + first_row);
    else
        AddSlotsToRows<16>(columns, rows, from, to, scores_.data() + first_row);
}

void EnsembleScores::BeginGroup(const Tree* trees, int count, Interrupt& interrupt) {
    for (LeafIndexer& indexer : indexers_)
        indexer.SetTrees(trees, count);
    pool_.Run(dataset_.blocks(), interrupt, [&](int worker, size_t block) {
        const size_t first_row = block * kBlockRows;
        if (applied_ < known_)
            AddSlots(first_row, dataset_.block_rows(block), applied_, known_);
        indexers_[static_cast<size_t>(worker)].IndexBlock(block, words_.data() + first_row);
    });
    group_size_ = count;
    known_ = 0;
    applied_ = 0;
}

void EnsembleScores::SetLeaves(int slot, const std::vector<int32_t>& leaves) {
    CheckInternal(slot < group_size_ && leaves.size() == outputs_ << depth_,
                  "leaf values do not fit the group");
    std::copy(
        leaves.begin(), leaves.end(),
        leaf_values_.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(slot) * slot_stride_ * outputs_));
    known_ = slot + 1;
}

void EnsembleScores::Gather(const uint32_t* rows, size_t n, int slot, int32_t* scores,
                            uint16_t* leaves) const {
    const int to = std::min(slot, known_);
    for (size_t i = 0; outputs_ > 1 && i < n; i++) {
        std::copy_n(scores_.data() + rows[i] * outputs_, outputs_, scores + i * outputs_);
        AddOutputs(words_[rows[i]], applied_, to, scores + i * outputs_);
        leaves[i] = Leaf(rows[i], slot);
    }
    if (outputs_ > 1)
        return;
    const Columns columns{words_.data(), leaf_values_.data()};
    if (packing_.bits() == 8)
        GatherRows<8>(columns, scores_.data(), rows, n, applied_, to, slot, scores, leaves);
    else
        GatherRows<16>(columns, scores_.data(), rows, n, applied_, to, slot, scores, leaves);
}

void EnsembleScores::LeavesFrom(size_t first_row, size_t n, int slot, uint16_t* leaves) const {
    const uint64_t* const words = words_.data() + first_row;
    for (size_t i = 0; i < n; i++)
        leaves[i] = static_cast<uint16_t>(packing_.Leaf(words[i], slot));
}

const int32_t* EnsembleScores::ApplyToBlock(size_t block, int slot) {
    const size_t first_row = block * kBlockRows;
    const int to = std::min(slot, known_);
    if (applied_ < to)
        AddSlots(first_row, dataset_.block_rows(block), applied_, to);
    return scores_.data() + first_row * outputs_;
}

}  // namespace dpboost
