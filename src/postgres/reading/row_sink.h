// Where rows go that a reading or an aggregate brings: into the buffer of a training or of an evaluation, by readers of
// their columns.
#pragma once

#include "training/row_buffer.h"

#include "postgres/columns/row_reader.h"

namespace dpboost {

struct RowSink;

// How parallel workers can read rows for a sink: what they must know to make a sink of their own, and how their rows are
// taken in. See parallel_scan.h.
struct RowSharing {
    bytea* (*describe)(RowSink*);
    void (*take)(RowSink*, const char* bytes, size_t size);
};

// Plain data; what uses it has it as its base.
struct RowSink {
    RowBuffer* buffer;
    const RowBuffer::Column* columns;
    int features;
    ColumnReader* readers;
    TargetReader target;
    bool has_units;
    Oid unit_type;            // base type
    void (*flush)(RowSink*);  // takes a full buffer's rows away
    // Null, or by the value behind the features: where a row belongs instead. Null: nowhere, it is skipped.
    RowSink* (*route)(RowSink*, NullableDatum);
    const RowSharing* sharing;  // null: one process reads all rows
};

// Puts one value of a column into row `row` of the buffer.
inline void BufferValue(const ColumnReader& reader, const RowBuffer::Column& column, size_t row, Datum value,
                        bool is_null) {
    if (reader.fast_kind == ValueKind::kFloat8)
        column.numbers[row] = is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetFloat8(value);
    else if (reader.fast_kind == ValueKind::kInt4)
        column.numbers[row] = is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetInt32(value);
    else if (reader.as_number)
        column.numbers[row] =
            is_null ? std::numeric_limits<double>::quiet_NaN() : ReadNumber(reader.kind, value);
    else
        column.codes[row] = is_null ? reader.missing : ReadSlowCode(reader, value);
}

// Appends a row; `feature(i, &is_null)` gives the i-th feature's value. A row without a target is skipped,
// and so is one whose unit is NULL: rows of nobody cannot be bounded per person. Either way what a person
// adds depends on that person's rows alone.
template <class Feature>
inline void AppendRow(RowSink* sink, NullableDatum target, NullableDatum unit, Feature feature) {
    float label;
    if (target.isnull || !ReadLabel(sink->target, target.value, &label))
        return;
    if (sink->has_units && unit.isnull)
        return;
    RowBuffer* const buffer = sink->buffer;
    const size_t row = buffer->rows;
    const int features = sink->features;
    for (int i = 0; i < features; ++i) {
        bool is_null;
        const Datum value = feature(i, &is_null);
        BufferValue(sink->readers[i], sink->columns[i], row, value, is_null);
    }
    buffer->labels[row] = label;
    if (sink->has_units)
        buffer->units[row] = ReadUnit(sink->unit_type, unit.value);
    if (++buffer->rows == RowBuffer::kRows)
        sink->flush(sink);
}

// The same with one array of features. An array of another length or with more dimensions has none: it must not raise,
// because whether it is there is private.
inline void AppendArrayRow(RowSink* sink, NullableDatum target, NullableDatum unit, NullableDatum array) {
    ArrayElements elements;
    const bool usable =
        !array.isnull && ReadArray(array.value, &elements) && elements.count == sink->features;
    AppendRow(sink, target, unit, [&](int i, bool* is_null) {
        *is_null = !usable || elements.nulls[i];
        return *is_null ? Datum(0) : elements.values[i];
    });
}

}  // namespace dpboost
