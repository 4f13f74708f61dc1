// Rows of a DatasetBuilder on their way to another one: what a process has read
// of a query, given to the process that trains. Columns of a block follow each
// other without padding, then labels (of classes in a byte), weights and unit keys. Bytes are checked when they
// are read: a code beyond its feature's cells or a label that is no class would
// lead a learner out of its tables.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "dataset/dataset.h"

namespace dpboost {
namespace {

// Also tells the order of bytes.
constexpr uint32_t kFormat = 0x32525044;

struct Header {
    uint32_t format;
    uint32_t row_bytes;
    uint64_t rows;
};

void Require(bool holds) {
    if (!holds)
        throw Error(ErrorCode::kCorrupted, "a partial state of a training is damaged");
}

template <typename Code>
bool AllWithin(const char* bytes, size_t count, uint16_t most) {
    Code largest = 0;
    for (size_t i = 0; i < count; i++) {
        Code code;
        std::memcpy(&code, bytes + i * sizeof code, sizeof code);
        largest = std::max(largest, code);
    }
    return largest <= most;
}

size_t ClassCount(const TargetSpec& target) {
    return target.task() == Task::kBinary ? 2 : target.classes().size();
}

size_t LabelBytes(const TargetSpec& target) {
    return target.task() == Task::kRegression || ClassCount(target) > 256 ? sizeof(float) : sizeof(uint8_t);
}

bool IsLabel(const TargetSpec& target, float label) {
    if (target.task() == Task::kRegression)
        return label >= -1 && label <= 1;
    return label >= 0 && label < static_cast<float>(ClassCount(target)) && label == std::floor(label);
}

void WriteLabels(const float* labels, size_t count, size_t label_bytes, char* out) {
    if (label_bytes == sizeof(float))
        std::memcpy(out, labels, count * sizeof(float));
    else
        for (size_t i = 0; i < count; i++)
            out[i] = static_cast<char>(static_cast<uint8_t>(labels[i]));
}

void ReadLabels(const char* bytes, size_t count, size_t label_bytes, float* labels) {
    if (label_bytes == sizeof(float))
        std::memcpy(labels, bytes, count * sizeof(float));
    else
        for (size_t i = 0; i < count; i++)
            labels[i] = static_cast<unsigned char>(bytes[i]);
}

}  // namespace

size_t DatasetBuilder::PartialRowBytes() const noexcept {
    size_t bytes = LabelBytes(dataset_.target_) + (dataset_.has_weights() ? sizeof(uint16_t) : 0) +
                   (dataset_.has_units_ ? sizeof(UnitKey) : 0);
    for (const Cursor& cursor : cursors_)
        bytes += cursor.wide ? sizeof(uint16_t) : sizeof(uint8_t);
    return bytes;
}

size_t DatasetBuilder::PartialBytes() const noexcept {
    const size_t blocks = dataset_.blocks_.size();
    const size_t rows = blocks == 0 ? 0 : (blocks - 1) * kBlockRows + next_;
    return sizeof(Header) + rows * PartialRowBytes();
}

void DatasetBuilder::WritePartial(char* out) noexcept {
    const size_t blocks = dataset_.blocks_.size();
    const size_t last_rows = next_;
    const Header header{kFormat, static_cast<uint32_t>(PartialRowBytes()),
                        blocks == 0 ? 0 : (blocks - 1) * kBlockRows + last_rows};
    std::memcpy(out, &header, sizeof header);
    out += sizeof header;
    const size_t label_bytes = LabelBytes(dataset_.target_);
    const auto write = [&out](const void* from, size_t bytes) {
        std::memcpy(out, from, bytes);
        out += bytes;
    };
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t* const block = dataset_.blocks_[b].get();
        const size_t rows = b + 1 < blocks ? kBlockRows : last_rows;
        for (size_t column = 0; column < cursors_.size(); column++)
            write(block + dataset_.layout_.offset(column), rows * (cursors_[column].wide ? 2 : 1));
        WriteLabels(reinterpret_cast<const float*>(block + dataset_.layout_.label_offset()), rows,
                    label_bytes, out);
        out += rows * label_bytes;
        if (dataset_.has_weights())
            write(block + dataset_.layout_.weight_offset(), rows * sizeof(uint16_t));
        if (dataset_.has_units_) {
            write(UnitKeys(b), rows * sizeof(UnitKey));
            unit_blocks_[b].reset();
        }
        dataset_.blocks_[b].reset();
    }
    dataset_.blocks_.clear();
    unit_blocks_.clear();
    pieces_.Reset();
    unit_pieces_.Reset();
    dataset_.memory_used_ = 0;
    next_ = kBlockRows;
}

// `count` rows from `first` on of a piece of `rows`; there is room for them.
void DatasetBuilder::AppendPiece(const char* piece, size_t rows, size_t first, size_t count) {
    const char* at = piece;
    for (const Cursor& cursor : cursors_) {
        const size_t size = cursor.wide ? 2 : 1;
        Require(cursor.wide ? AllWithin<uint16_t>(at + first * size, count, cursor.missing)
                            : AllWithin<uint8_t>(at + first * size, count, cursor.missing));
        std::memcpy(cursor.codes + next_ * size, at + first * size, count * size);
        at += rows * size;
    }
    const size_t label_bytes = LabelBytes(dataset_.target_);
    ReadLabels(at + first * label_bytes, count, label_bytes, labels_ + next_);
    for (size_t i = 0; i < count; i++)
        Require(IsLabel(dataset_.target_, labels_[next_ + i]));
    at += rows * label_bytes;
    if (weights_ != nullptr) {
        Require(AllWithin<uint16_t>(at + first * sizeof(uint16_t), count, kFullWeight));
        std::memcpy(weights_ + next_, at + first * sizeof(uint16_t), count * sizeof(uint16_t));
        at += rows * sizeof(uint16_t);
    }
    if (unit_keys_ != nullptr)
        std::memcpy(static_cast<void*>(unit_keys_ + next_), at + first * sizeof(UnitKey),
                    count * sizeof(UnitKey));
    next_ += count;
}

void DatasetBuilder::AppendPartial(std::string_view bytes, Interrupt& interrupt,
                                   const std::function<void()>& grown) {
    const size_t row_bytes = PartialRowBytes();
    Header header;
    Require(bytes.size() >= sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    Require(header.format == kFormat && header.row_bytes == row_bytes && bytes.size() % row_bytes == 0 &&
            header.rows == bytes.size() / row_bytes);
    for (uint64_t left = header.rows; left > 0;) {
        const size_t rows = std::min<uint64_t>(left, kBlockRows);
        for (size_t done = 0; done < rows;) {
            if (Full()) {
                Grow();
                grown();
            }
            const size_t count = std::min(rows - done, room());
            AppendPiece(bytes.data(), rows, done, count);
            done += count;
        }
        bytes.remove_prefix(rows * row_bytes);
        left -= rows;
        interrupt.Poll();
    }
}

}  // namespace dpboost
