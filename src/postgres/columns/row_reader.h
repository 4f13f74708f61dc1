// From PostgreSQL's datums to the core's codes, labels and unit keys, one row at a time. Everything that can
// be decided per column (type, encoder, enum labels) is decided once; per value there is one switch and no
// allocation for fixed-size types. Odd values (NULL, NaN, infinities, overflow) become missing, never an
// error.
#pragma once

#include "dataset/encoder.h"
#include "dataset/target.h"
#include "dataset/units.h"
#include "training/value_kind.h"

#include "postgres/boundary/pg.h"

namespace dpboost {

// The kind of a type's values, looking through domains; false for a type that cannot be used.
bool ValueKindOf(Oid type, ValueKind* kind);

// Labels of an enum type in their order.
struct EnumLabel {
    Oid value;
    const char* label;
};
EnumLabel* ReadEnumLabels(Oid type, int* count);

// A value as a number; NaN for what is not finite as a double. Booleans are 0 and 1.
double ReadNumber(ValueKind kind, Datum value);

// A value's text for text-like kinds, not zero-terminated; it may be palloc'ed.
struct TextView {
    const char* data;
    size_t size;
};
TextView ReadText(ValueKind kind, Datum value);

// How one column's values become codes. Plain data; the encoder belongs to the core and outlives it.
struct ColumnReader {
    struct EnumCode {
        Oid value;
        uint16_t code;
    };

    ValueKind kind;
    ValueKind
        fast_kind;   // kFloat8, kFloat4 or kInt4 of a numeric feature, kText of another one, else kUnknown
    bool as_number;  // the feature is numeric
    uint16_t missing;
    uint16_t boolean_codes[2];
    const Encoder* encoder;
    EnumCode* enum_codes;
    int enum_count;
};

// Whether values of the kind fit the feature.
bool Fits(ValueKind kind, const FeatureSpec& feature);

// Fills in a reader for values of the type; the caller has checked that they fit.
void MakeColumnReader(Oid type, ValueKind kind, const Encoder* encoder, ColumnReader* reader);

// Codes of the kinds that the fast path below leaves out.
uint16_t ReadSlowCode(const ColumnReader& reader, Datum value);

inline uint16_t ReadCode(const ColumnReader& reader, Datum value) {
    if (reader.fast_kind == ValueKind::kFloat8)
        return reader.encoder->Number(DatumGetFloat8(value));
    if (reader.fast_kind == ValueKind::kInt4)
        return reader.encoder->Number(DatumGetInt32(value));
    if (reader.fast_kind == ValueKind::kFloat4)
        return reader.encoder->Number(DatumGetFloat4(value));
    if (reader.fast_kind == ValueKind::kText) {
        const auto* text = reinterpret_cast<const struct varlena*>(DatumGetPointer(value));
        if (!VARATT_IS_COMPRESSED(text) && !VARATT_IS_EXTERNAL(text))
            return reader.encoder->Text(VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text));
    }
    return ReadSlowCode(reader, value);
}

// How the target becomes a label: by number, by comparison with the positive class, or by the list of classes.
struct TargetReader {
    ValueKind kind;
    bool by_number;          // regression
    bool positive_boolean;   // the positive class of a boolean
    double positive_number;  // ... of a number
    Oid positive_enum;       // ... of an enum
    const char* positive_text;
    size_t positive_size;
    const TargetSpec* spec;
    ColumnReader* classes;  // more than two; else null
};

// False for a value that gives no label (not a finite number): the row is skipped.
bool ReadLabel(const TargetReader& reader, Datum value, float* label);

// Whether a column of the type can be the privacy unit: one whose equal values have equal bytes.
bool IsUnitType(Oid type);
UnitKey ReadUnit(Oid base_type, Datum value);

// A one-dimensional array's elements. False if it has more dimensions; an empty array has length 0.
struct ArrayElements {
    Datum* values;
    bool* nulls;
    int count;
    Oid type;
};
bool ReadArray(Datum array, ArrayElements* elements);

}  // namespace dpboost
