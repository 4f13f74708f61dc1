// Numbers out of datums, for ranges and bounds.
#include "postgres/columns/domain.h"

namespace dpboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double NumberOfTimestamp(Timestamp value) {
    if (TIMESTAMP_IS_NOBEGIN(value))
        return -kInfinity;
    if (TIMESTAMP_IS_NOEND(value))
        return kInfinity;
    return static_cast<double>(value) / USECS_PER_SEC;
}

double NumberOfDate(DateADT value) {
    if (DATE_IS_NOBEGIN(value))
        return -kInfinity;
    if (DATE_IS_NOEND(value))
        return kInfinity;
    return value;
}

}  // namespace

bool HasNumber(Oid base_type) {
    switch (base_type) {
        case BOOLOID:
        case INT2OID:
        case INT4OID:
        case INT8OID:
        case FLOAT4OID:
        case FLOAT8OID:
        case NUMERICOID:
        case DATEOID:
        case TIMESTAMPOID:
        case TIMESTAMPTZOID:
            return true;
        default:
            return false;
    }
}

bool NumberOfDatum(Oid base_type, Datum value, double* number) {
    switch (base_type) {
        case BOOLOID:
            *number = DatumGetBool(value) ? 1 : 0;
            return true;
        case INT2OID:
            *number = DatumGetInt16(value);
            return true;
        case INT4OID:
            *number = DatumGetInt32(value);
            return true;
        case INT8OID:
            *number = static_cast<double>(DatumGetInt64(value));
            return true;
        case FLOAT4OID:
            *number = DatumGetFloat4(value);
            return true;
        case FLOAT8OID:
            *number = DatumGetFloat8(value);
            return true;
        case NUMERICOID:
            *number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
            return true;
        case DATEOID:
            *number = NumberOfDate(DatumGetDateADT(value));
            return true;
        case TIMESTAMPOID:
        case TIMESTAMPTZOID:
            *number = NumberOfTimestamp(DatumGetTimestamp(value));
            return true;
        default:
            return false;
    }
}

}  // namespace dpboost
