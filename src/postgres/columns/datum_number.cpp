// Numbers out of datums, for ranges and bounds.
#include "postgres/columns/domain.h"
#include "postgres/columns/row_reader.h"

namespace dpboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool NumberKindOf(Oid base_type, ValueKind* kind) {
    return ValueKindOf(base_type, kind) && (IsNumber(*kind) || *kind == ValueKind::kBoolean);
}

// The infinity that a date or timestamp means, 0 for one that is finite. (A row's value has no number then.)
double InfiniteTime(ValueKind kind, Datum value) {
    const bool is_date = kind == ValueKind::kDate;
    if (is_date ? DATE_IS_NOBEGIN(DatumGetDateADT(value)) : TIMESTAMP_IS_NOBEGIN(DatumGetTimestamp(value)))
        return -kInfinity;
    if (is_date ? DATE_IS_NOEND(DatumGetDateADT(value)) : TIMESTAMP_IS_NOEND(DatumGetTimestamp(value)))
        return kInfinity;
    return 0;
}

}  // namespace

bool HasNumber(Oid base_type) {
    ValueKind kind;
    return NumberKindOf(base_type, &kind);
}

bool NumberOfDatum(Oid base_type, Datum value, double* number) {
    ValueKind kind;
    if (!NumberKindOf(base_type, &kind))
        return false;
    *number = IsTime(kind) ? InfiniteTime(kind, value) : 0;
    if (*number == 0)
        *number = ReadNumber(kind, value);
    return true;
}

}  // namespace dpboost
