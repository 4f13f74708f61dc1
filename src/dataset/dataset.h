// Rows as the learners see them: codes in column-major blocks, labels, and optionally the privacy unit of
// each row. DatasetBuilder takes rows one by one, never copies a finished block and refuses to outgrow its
// memory limit; Dataset is immutable. Exact counts are for core code only and must not reach a caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/large_memory.h"
#include "dataset/feature.h"
#include "dataset/target.h"
#include "dataset/units.h"

namespace dpboost {

// Rows per block. A one-byte column of a block is 4 KiB: what a kernel touches stays in the first-level
// cache.
constexpr size_t kBlockRows = 4096;
// Columns of a block start 64 bytes further than the power of two, so that the cells of one row do not all
// fall into the same cache set while rows are appended.
constexpr size_t kColumnPadding = 64;

// A row's weight is a share of the largest one that its public range allows, in steps of 2^-14.
constexpr uint16_t kFullWeight = 1 << 14;

// Where each column lies within a block's bytes.
class BlockLayout {
  public:
    explicit BlockLayout(const std::vector<FeatureSpec>& features, bool has_weights = false);

    size_t bytes() const noexcept { return bytes_; }
    size_t offset(size_t column) const noexcept { return columns_[column].offset; }
    bool wide(size_t column) const noexcept { return columns_[column].wide; }
    size_t label_offset() const noexcept { return label_offset_; }
    size_t weight_offset() const noexcept { return weight_offset_; }  // 0: there are none

  private:
    struct Column {
        size_t offset;
        bool wide;
    };
    std::vector<Column> columns_;
    size_t label_offset_ = 0;
    size_t weight_offset_ = 0;
    size_t bytes_ = 0;
};

class Dataset {
  public:
    size_t rows() const noexcept { return rows_; }
    size_t columns() const noexcept { return features_.size(); }
    const std::vector<FeatureSpec>& features() const noexcept { return features_; }
    const TargetSpec& target() const noexcept { return target_; }

    // Block b holds rows [b * kBlockRows, b * kBlockRows + block_rows(b)). Every block has memory for
    // kBlockRows rows, columns aligned to 64 bytes; cells behind the last row are 0.
    size_t blocks() const noexcept { return blocks_.size(); }
    size_t block_rows(size_t block) const noexcept {
        size_t first = block * kBlockRows;
        return rows_ - first < kBlockRows ? rows_ - first : kBlockRows;
    }
    bool wide(size_t column) const noexcept { return layout_.wide(column); }
    // Codes8 for columns that are not wide, Codes16 for those that are.
    const uint8_t* Codes8(size_t block, size_t column) const noexcept {
        return blocks_[block].get() + layout_.offset(column);
    }
    const uint16_t* Codes16(size_t block, size_t column) const noexcept {
        return reinterpret_cast<const uint16_t*>(blocks_[block].get() + layout_.offset(column));
    }
    const float* Labels(size_t block) const noexcept {
        return reinterpret_cast<const float*>(blocks_[block].get() + layout_.label_offset());
    }
    uint16_t Code(size_t row, size_t column) const noexcept {
        size_t block = row / kBlockRows, i = row % kBlockRows;
        return wide(column) ? Codes16(block, column)[i] : Codes8(block, column)[i];
    }
    // How much each row counts, at most kFullWeight; null: all of them in full.
    const uint16_t* Weights(size_t block) const noexcept {
        return has_weights()
                   ? reinterpret_cast<const uint16_t*>(blocks_[block].get() + layout_.weight_offset())
                   : nullptr;
    }
    bool has_weights() const noexcept { return layout_.weight_offset() > 0; }
    uint16_t Weight(size_t row) const noexcept {
        return has_weights() ? Weights(row / kBlockRows)[row % kBlockRows] : kFullWeight;
    }
    float Label(size_t row) const noexcept { return Labels(row / kBlockRows)[row % kBlockRows]; }
    // All codes of a row, in the order of the features.
    void CopyRow(size_t row, uint16_t* codes) const noexcept;

    // Without a privacy unit every row is its own unit, and the three arrays below do not exist.
    bool has_units() const noexcept { return has_units_; }
    size_t units() const noexcept { return has_units_ ? unit_begin_.size() - 1 : rows_; }
    uint32_t Unit(size_t row) const noexcept {
        return has_units_ ? row_unit_[row] : static_cast<uint32_t>(row);
    }
    // The rows of a unit, ascending: unit_rows()[unit_begin()[u]] .. unit_rows()[unit_begin()[u + 1] - 1].
    const std::vector<uint32_t>& row_unit() const noexcept { return row_unit_; }
    const std::vector<uint32_t>& unit_begin() const noexcept { return unit_begin_; }
    const std::vector<uint32_t>& unit_rows() const noexcept { return unit_rows_; }

    // Leaves out the units for which keep[unit] is false, and numbers the others anew in the same order. In place, with
    // 4 bytes per unit. What is left is as if it had been read alone.
    void KeepUnits(const std::vector<bool>& keep, Interrupt& interrupt);

    // Throws Error(kOutOfMemory) if `bytes` more, as a learner's own state, would exceed the limit.
    void RequireMemory(size_t bytes) const;
    size_t memory_used() const noexcept { return memory_used_; }

  private:
    friend class DatasetBuilder;
    Dataset(std::vector<FeatureSpec> features, const TargetSpec& target, bool has_weights);
    void ListUnitRows(size_t units, Interrupt& interrupt);

    std::vector<FeatureSpec> features_;
    TargetSpec target_;
    BlockLayout layout_;
    std::vector<LargePiece> blocks_;
    size_t rows_ = 0;
    bool has_units_ = false;
    std::vector<uint32_t> row_unit_;
    std::vector<uint32_t> unit_begin_;
    std::vector<uint32_t> unit_rows_;
    size_t memory_limit_ = 0;
    size_t memory_used_ = 0;
};

struct DatasetLimits {
    size_t memory = size_t{1} << 62;    // bytes; dpboost.max_memory
    size_t learner_bytes_per_row = 16;  // kept free for the learner's state
    size_t learner_bytes = 0;           // and once, whatever the rows
};

// The hot path is SetCode for each column and AppendRow, both without a branch that can fail:
//     if (builder.Full()) builder.Grow();      // throws kOutOfMemory, kLimitExceeded
//     builder.SetCode(0, encoder.Number(x)); ...
//     builder.AppendRow(label, key);           // leave it out to skip the row
class DatasetBuilder {
  public:
    DatasetBuilder(std::vector<FeatureSpec> features, const TargetSpec& target, bool has_units,
                   const DatasetLimits& limits = {}, bool has_weights = false);

    const std::vector<FeatureSpec>& features() const noexcept { return dataset_.features_; }
    const TargetSpec& target() const noexcept { return dataset_.target_; }

    bool Full() const noexcept { return next_ == kBlockRows; }
    void Grow();

    // Sets one code of the row that AppendRow will add; a code beyond the feature's cells becomes missing.
    // Every column must be set for every row.
    void SetCode(size_t column, uint16_t code) noexcept {
        const Cursor& cursor = cursors_[column];
        code = code < cursor.missing ? code : cursor.missing;
        if (cursor.wide)
            reinterpret_cast<uint16_t*>(cursor.codes)[next_] = code;
        else
            cursor.codes[next_] = static_cast<uint8_t>(code);
    }
    // The same for `count` rows that AppendRows will add; at most room() of them.
    void SetCodes(size_t column, const uint16_t* codes, size_t count) noexcept;
    size_t room() const noexcept { return kBlockRows - next_; }

    // The label is TargetSpec::Label's. The key is ignored without privacy units, the weight without weights; a larger one
    // is a full one.
    void AppendRow(float label, const UnitKey& unit = {}, uint16_t weight = kFullWeight) noexcept {
        labels_[next_] = label;
        if (weights_ != nullptr)
            weights_[next_] = weight < kFullWeight ? weight : kFullWeight;
        if (unit_keys_ != nullptr)
            unit_keys_[next_] = unit;
        next_++;
    }

    void AppendRows(const float* labels, const UnitKey* units, size_t count,
                    const uint16_t* weights = nullptr) noexcept;

    // Bytes in use, counted against the limit.
    size_t memory_used() const noexcept { return dataset_.memory_used_; }

    // The rows as bytes for another builder that was made of the same features, target and units, in this process or in
    // another of the same machine type (partial_rows.cpp). WritePartial writes PartialBytes() of them and frees the rows
    // as it goes: the builder is empty afterwards. Both are rows as they are, for core code only.
    size_t PartialBytes() const noexcept;
    void WritePartial(char* out) noexcept;
    // Appends them, and calls grown() whenever it has taken memory. Throws kCorrupted for bytes that no such builder
    // wrote, whatever they are; rows may have been appended then.
    void AppendPartial(std::string_view bytes, Interrupt& interrupt, const std::function<void()>& grown);

    // Numbers the units and hands over the rows; the builder is empty afterwards. `keys` gets each unit's key, by number.
    Dataset Finish(Interrupt& interrupt, std::vector<UnitKey>* keys = nullptr);

  private:
    struct Cursor {
        uint8_t* codes;
        uint16_t missing;
        bool wide;
    };
    size_t PartialRowBytes() const noexcept;
    void AppendPiece(const char* piece, size_t rows, size_t first, size_t count);
    void PointInto(size_t block) noexcept;
    UnitKey* UnitKeys(size_t block) const noexcept {
        return reinterpret_cast<UnitKey*>(unit_blocks_[block].get());
    }
    void GroupUnits(Interrupt& interrupt, std::vector<UnitKey>* keys);

    Dataset dataset_;
    DatasetLimits limits_;
    std::vector<Cursor> cursors_;
    float* labels_ = nullptr;
    uint16_t* weights_ = nullptr;
    UnitKey* unit_keys_ = nullptr;
    size_t next_ = kBlockRows;  // row within the current block; kBlockRows before the first Grow
    LargePieces pieces_, unit_pieces_;
    std::vector<LargePiece> unit_blocks_;
};

}  // namespace dpboost
