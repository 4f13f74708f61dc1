#include "training/row_buffer.h"

#include <cmath>
#include <utility>

#include "base/error.h"

namespace dpboost {

namespace {

// Held by all trainings of this process.
size_t held_bytes = 0;

}  // namespace

uint16_t RowWeights::Of(double value, float label) const {
    double share = column < 0 ? 1 : value == value ? std::clamp(value, least, most) / most : 0;
    if (!classes.empty())
        share *= classes[static_cast<size_t>(label)];
    return static_cast<uint16_t>(std::nearbyint(share * kFullWeight));
}

RowBuffer::RowBuffer(const std::vector<FeatureSpec>& features, bool has_units, RowWeights how_weighted)
    : row_weights(std::move(how_weighted)) {
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
    size_t next = 0;
    for (size_t i = 0; i < encoders.size(); ++i) {
        if (static_cast<int>(i) == row_weights.column)
            continue;
        const Column& column = columns[i];
        uint16_t encoded[kRows];
        if (column.numbers != nullptr)
            encoders[i].Numbers(column.numbers + first, count, encoded);
        builder.SetCodes(next++, column.numbers != nullptr ? encoded : column.codes + first, count);
    }
    uint16_t shares[kRows];
    const double* const weights =
        row_weights.column < 0 ? nullptr : columns[static_cast<size_t>(row_weights.column)].numbers + first;
    for (size_t i = 0; row_weights.any() && i < count; ++i)
        shares[i] = row_weights.Of(weights == nullptr ? 1 : weights[i], labels[first + i]);
    builder.AppendRows(labels.data() + first, units.empty() ? nullptr : units.data() + first, count,
                       row_weights.any() ? shares : nullptr);
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
                    "Ask a superuser to raise \"dpboost.max_memory\", or train fewer groups at a time.");
    held_bytes = others + bytes;
    bytes_ = bytes;
}

}  // namespace dpboost
