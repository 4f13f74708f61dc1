#include "training/row_buffer.h"

#include "base/error.h"

namespace dpboost {

namespace {

// Held by all trainings of this process.
size_t held_bytes = 0;

}  // namespace

RowBuffer::RowBuffer(const std::vector<FeatureSpec>& features, bool has_units) {
    size_t numeric = 0;
    for (const FeatureSpec& feature : features)
        numeric += feature.kind() == FeatureKind::kNumeric ? 1 : 0;
    numbers.resize(numeric * kRows);
    codes.resize((features.size() - numeric) * kRows);
    labels.resize(kRows);
    if (has_units)
        units.resize(kRows);
    double* next_numbers = numbers.data();
    uint16_t* next_codes = codes.data();
    for (const FeatureSpec& feature : features) {
        const bool is_numeric = feature.kind() == FeatureKind::kNumeric;
        columns.push_back({is_numeric ? next_numbers : nullptr, is_numeric ? nullptr : next_codes});
        if (is_numeric)
            next_numbers += kRows;
        else
            next_codes += kRows;
    }
}

void RowBuffer::Append(const std::vector<Encoder>& encoders, size_t first, size_t count,
                       DatasetBuilder& builder) const {
    for (size_t i = 0; i < encoders.size(); ++i) {
        const Column& column = columns[i];
        uint16_t encoded[kRows];
        if (column.numbers != nullptr)
            encoders[i].Numbers(column.numbers + first, count, encoded);
        builder.SetCodes(i, column.numbers != nullptr ? encoded : column.codes + first, count);
    }
    builder.AppendRows(labels.data() + first, units.empty() ? nullptr : units.data() + first, count);
}

size_t RowBuffer::bytes() const {
    return numbers.size() * sizeof(double) + codes.size() * sizeof(uint16_t) + labels.size() * sizeof(float) +
           units.size() * sizeof(UnitKey);
}

HeldMemory::~HeldMemory() {
    held_bytes -= bytes_;
}

void HeldMemory::Count(size_t bytes) {
    const size_t others = held_bytes - bytes_;
    if ((alone_ ? 0 : others) + bytes > limit_)
        throw Error(ErrorCode::kOutOfMemory, "the trainings of this query need more than dpboost.max_memory",
                    "Each group trains a model of its own, and their rows are held at the same time.",
                    "Raise dpboost.max_memory, or train fewer groups at a time.");
    held_bytes = others + bytes;
    bytes_ = bytes;
}

}  // namespace dpboost
