#include "dataset/dataset.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr size_t kAlignment = 64;
// Row and unit indices are 32 bits.
constexpr size_t kMaxRows = 0xffff0000u;
constexpr uint32_t kEmpty = 0xffffffffu;
constexpr size_t kAhead = 16;  // rows whose slots are wanted soon

// Per row, beside the blocks. While units are numbered: key, hash table of 3/2 entries, unit index. After:
// unit index, rows in order of units, start of each unit.
constexpr size_t kGroupingBytesPerRow = sizeof(UnitKey) + 6 + 4;
constexpr size_t kUnitBytesPerRow = 4 + 4 + 4;

size_t AlignUp(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Says nothing about how many rows there are but that they are too many for the limit.
[[noreturn]] void ThrowOutOfMemory(size_t limit) {
    throw Error(ErrorCode::kOutOfMemory, "training data does not fit into the memory limit",
                "The limit is " + std::to_string(limit / 1024) + " kB.",
                "Ask a superuser to raise \"dpboost.max_memory\", or train on fewer columns or rows.");
}

uint64_t HashKey(const UnitKey& key) noexcept {
    uint64_t hash = (key.low ^ (key.high * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 29);
}

}  // namespace

BlockLayout::BlockLayout(const std::vector<FeatureSpec>& features, bool has_weights) {
    columns_.reserve(features.size());
    for (const FeatureSpec& feature : features) {
        columns_.push_back({bytes_, feature.wide()});
        bytes_ += kBlockRows * (feature.wide() ? 2 : 1) + kColumnPadding;
    }
    label_offset_ = bytes_;
    bytes_ = AlignUp(bytes_ + kBlockRows * sizeof(float));
    if (!has_weights)
        return;
    weight_offset_ = bytes_;
    bytes_ = AlignUp(bytes_ + kBlockRows * sizeof(uint16_t));
}

Dataset::Dataset(std::vector<FeatureSpec> features, const TargetSpec& target, bool has_weights)
    : features_(std::move(features)), target_(target), layout_(features_, has_weights) {}

void Dataset::CopyRow(size_t row, uint16_t* codes) const noexcept {
    for (size_t column = 0; column < columns(); column++)
        codes[column] = Code(row, column);
}

void Dataset::RequireMemory(size_t bytes) const {
    if (bytes > memory_limit_ || memory_used_ > memory_limit_ - bytes)
        ThrowOutOfMemory(memory_limit_);
}

// Sorts rows by unit, by counting.
void Dataset::ListUnitRows(size_t units, Interrupt& interrupt) {
    std::vector<uint32_t>& begin = unit_begin_;
    begin.assign(units + 1, 0);
    for (size_t row = 0; row < rows_; row++)
        begin[row_unit_[row] + 1]++;
    for (size_t unit = 0; unit < units; unit++)
        begin[unit + 1] += begin[unit];
    unit_rows_.resize(rows_);
    for (size_t row = 0; row < rows_; row++) {
        if (row % kBlockRows == 0)
            interrupt.Poll();
        unit_rows_[begin[row_unit_[row]]++] = static_cast<uint32_t>(row);
    }
    for (size_t unit = units; unit > 0; unit--)  // each start has moved to its unit's end: move back
        begin[unit] = begin[unit - 1];
    begin[0] = 0;
}

void Dataset::KeepUnits(const std::vector<bool>& keep, Interrupt& interrupt) {
    CheckInternal(keep.size() == units(), "there is a word about every unit");
    // A row moves to where the next kept one belongs, which lies behind nothing that is still to be read.
    const auto move = [&](const auto& cell) {
        size_t kept = 0;
        for (size_t row = 0; row < rows_; row++) {
            if (row % kBlockRows == 0)
                interrupt.Poll();
            if (keep[Unit(row)])
                *cell(kept++) = *cell(row);
        }
        return kept;
    };
    const auto bytes_at = [&](size_t row, size_t offset, size_t size) {
        return blocks_[row / kBlockRows].get() + offset + row % kBlockRows * size;
    };
    for (size_t column = 0; column < columns(); column++) {
        const size_t offset = layout_.offset(column);
        if (wide(column))
            move([&](size_t row) { return reinterpret_cast<uint16_t*>(bytes_at(row, offset, 2)); });
        else
            move([&](size_t row) { return bytes_at(row, offset, 1); });
    }
    const size_t kept = move([&](size_t row) {
        return reinterpret_cast<float*>(bytes_at(row, layout_.label_offset(), sizeof(float)));
    });
    if (has_weights())
        move([&](size_t row) {
            return reinterpret_cast<uint16_t*>(bytes_at(row, layout_.weight_offset(), sizeof(uint16_t)));
        });
    std::vector<uint32_t> numbers(has_units_ ? units() : 0);
    uint32_t units_left = 0;
    for (size_t unit = 0; unit < numbers.size(); unit++)
        numbers[unit] = keep[unit] ? units_left++ : 0;
    if (has_units_) {
        memory_used_ -= 4 * (2 * rows_ + units() + 1);
        size_t next = 0;
        for (size_t row = 0; row < rows_; row++)
            if (keep[row_unit_[row]])
                row_unit_[next++] = numbers[row_unit_[row]];
        row_unit_.resize(kept);
    }
    const size_t blocks = (kept + kBlockRows - 1) / kBlockRows;
    memory_used_ -= (blocks_.size() - std::min(blocks, blocks_.size())) * layout_.bytes();
    blocks_.resize(std::min(blocks, blocks_.size()));
    rows_ = kept;
    for (size_t row = kept; row < blocks * kBlockRows; row++)
        for (size_t column = 0; column < columns(); column++)
            std::memset(bytes_at(row, layout_.offset(column), wide(column) ? 2 : 1), 0, wide(column) ? 2 : 1);
    if (has_units_) {
        ListUnitRows(units_left, interrupt);
        memory_used_ += 4 * (2 * rows_ + units_left + 1);
    }
}

DatasetBuilder::DatasetBuilder(std::vector<FeatureSpec> features, const TargetSpec& target, bool has_units,
                               const DatasetLimits& limits, bool has_weights)
    : dataset_(std::move(features), target, has_weights), limits_(limits) {
    if (dataset_.features_.size() > kMaxFeatures)
        throw Error(ErrorCode::kLimitExceeded, "too many features", "At most 65535 features can be used.");
    dataset_.has_units_ = has_units;
    dataset_.memory_limit_ = limits.memory;
    for (const FeatureSpec& feature : dataset_.features_)
        cursors_.push_back({nullptr, feature.missing(), feature.wide()});
}

// Refuses if, at the end, blocks plus the larger of what grouping units and what the learner needs would
// exceed the limit. So a training fails while it reads, not after.
void DatasetBuilder::Grow() {
    size_t blocks = dataset_.blocks_.size() + 1;
    if (blocks * kBlockRows > kMaxRows)
        throw Error(ErrorCode::kLimitExceeded, "too many rows to train on");
    size_t later = limits_.learner_bytes_per_row;
    if (dataset_.has_units_)
        later = std::max(kGroupingBytesPerRow, kUnitBytesPerRow + limits_.learner_bytes_per_row);
    if (limits_.learner_bytes + blocks * (dataset_.layout_.bytes() + kBlockRows * later) > limits_.memory)
        ThrowOutOfMemory(limits_.memory);

    size_t bytes = dataset_.layout_.bytes();
    LargePiece block = pieces_.Take(bytes);
    if (dataset_.has_units_)
        unit_blocks_.push_back(unit_pieces_.Take(kBlockRows * sizeof(UnitKey)));
    dataset_.blocks_.push_back(std::move(block));
    dataset_.memory_used_ += bytes + (dataset_.has_units_ ? kBlockRows * sizeof(UnitKey) : 0);
    PointInto(blocks - 1);
}

void DatasetBuilder::PointInto(size_t block) noexcept {
    uint8_t* bytes = dataset_.blocks_[block].get();
    for (size_t column = 0; column < cursors_.size(); column++)
        cursors_[column].codes = bytes + dataset_.layout_.offset(column);
    labels_ = reinterpret_cast<float*>(bytes + dataset_.layout_.label_offset());
    weights_ = dataset_.has_weights() ? reinterpret_cast<uint16_t*>(bytes + dataset_.layout_.weight_offset())
                                      : nullptr;
    unit_keys_ = dataset_.has_units_ ? UnitKeys(block) : nullptr;
    next_ = 0;
}

Dataset DatasetBuilder::Finish(Interrupt& interrupt, std::vector<UnitKey>* keys) {
    size_t blocks = dataset_.blocks_.size();
    dataset_.rows_ = blocks == 0 ? 0 : (blocks - 1) * kBlockRows + next_;
    if (blocks > 0 && next_ < kBlockRows)  // what a skipped row left behind the last one
        for (size_t column = 0; column < cursors_.size(); column++)
            SetCode(column, 0);
    // Whoever has an account may be left out, and KeepUnits moves codes, labels and weights: a column that stayed where it
    // is would give what is one person's to another.
    const BlockLayout& layout = dataset_.layout_;
    CheckInternal(keys == nullptr ||
                      layout.bytes() == AlignUp(dataset_.has_weights()
                                                    ? layout.weight_offset() + kBlockRows * sizeof(uint16_t)
                                                    : layout.label_offset() + kBlockRows * sizeof(float)),
                  "of persons with accounts all columns are moved");
    if (dataset_.has_units_)
        GroupUnits(interrupt, keys);
    next_ = kBlockRows;
    pieces_.Reset();
    return std::move(dataset_);
}

// Numbers units in the order of their first row, by a hash table of first rows; then sorts rows by unit by
// counting. The keys are freed before the second part.
void DatasetBuilder::SetCodes(size_t column, const uint16_t* codes, size_t count) noexcept {
    const Cursor cursor = cursors_[column];
    const uint16_t missing = cursor.missing;
    if (cursor.wide) {
        auto* out = reinterpret_cast<uint16_t*>(cursor.codes) + next_;
        for (size_t i = 0; i < count; i++)
            out[i] = std::min(codes[i], missing);
    } else {
        uint8_t* out = cursor.codes + next_;
        for (size_t i = 0; i < count; i++)
            out[i] = static_cast<uint8_t>(std::min(codes[i], missing));
    }
}

void DatasetBuilder::AppendRows(const float* labels, const UnitKey* units, size_t count,
                                const uint16_t* weights) noexcept {
    std::copy(labels, labels + count, labels_ + next_);
    for (size_t i = 0; weights_ != nullptr && i < count; i++)
        weights_[next_ + i] = weights == nullptr ? kFullWeight : std::min(weights[i], kFullWeight);
    if (unit_keys_ != nullptr)
        std::copy(units, units + count, unit_keys_ + next_);
    next_ += count;
}

void DatasetBuilder::GroupUnits(Interrupt& interrupt, std::vector<UnitKey>* keys) {
    size_t rows = dataset_.rows_;
    std::vector<uint32_t>& row_unit = dataset_.row_unit_;
    row_unit.resize(rows);
    uint32_t units = 0;
    {
        size_t slots = rows + rows / 2 + 1;
        LargeVector<uint32_t> first_rows(slots, kEmpty);
        auto key_of = [&](size_t row) -> const UnitKey& {
            return UnitKeys(row / kBlockRows)[row % kBlockRows];
        };
        const auto slot_of = [&](size_t row) {
            return static_cast<size_t>(((HashKey(key_of(row)) >> 32) * slots) >> 32);
        };
        if (keys != nullptr)
            keys->reserve(rows);
        for (size_t row = 0; row < rows; row++) {
            if (row % kBlockRows == 0)
                interrupt.Poll();
            if (row + kAhead < rows)
                __builtin_prefetch(&first_rows[slot_of(row + kAhead)], 1);
            const UnitKey& key = key_of(row);
            size_t at = slot_of(row);
            while (first_rows[at] != kEmpty && !(key_of(first_rows[at]) == key))
                at = at + 1 == slots ? 0 : at + 1;
            if (first_rows[at] == kEmpty) {
                first_rows[at] = static_cast<uint32_t>(row);
                row_unit[row] = units++;
                if (keys != nullptr)
                    keys->push_back(key);
            } else {
                row_unit[row] = row_unit[first_rows[at]];
            }
        }
    }
    dataset_.memory_used_ -= dataset_.blocks_.size() * kBlockRows * sizeof(UnitKey);
    std::vector<LargePiece>().swap(unit_blocks_);
    unit_pieces_.Reset();

    dataset_.ListUnitRows(units, interrupt);
    dataset_.memory_used_ += 4 * (2 * rows + units + 1);
}

}  // namespace dpboost
