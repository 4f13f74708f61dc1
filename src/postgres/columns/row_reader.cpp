// Conversions that cannot fail on a value. Types are named by their OIDs of pg_catalog: no cast, operator or
// input function that a user could have replaced takes part.
#include "postgres/columns/row_reader.h"

namespace dpboost {

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Levels that are codes of an integer column, as they are written.
bool HasIntegerLevels(const FeatureSpec& feature) {
    if (feature.kind() != FeatureKind::kLevels)
        return false;
    for (const std::string& level : feature.levels()) {
        const char* digits = level.c_str() + (level[0] == '-' ? 1 : 0);
        if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits))
            return false;
    }
    return true;
}

long long ReadWhole(ValueKind kind, Datum value) {
    return kind == ValueKind::kInt2   ? DatumGetInt16(value)
           : kind == ValueKind::kInt4 ? DatumGetInt32(value)
                                      : DatumGetInt64(value);
}

uint16_t EnumToCode(const ColumnReader& reader, Oid value) {
    int low = 0, high = reader.enum_count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (reader.enum_codes[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < reader.enum_count && reader.enum_codes[low].value == value)
        return reader.enum_codes[low].code;
    return reader.missing;
}

int CompareEnumCodes(const void* a, const void* b) {
    const Oid left = static_cast<const ColumnReader::EnumCode*>(a)->value;
    const Oid right = static_cast<const ColumnReader::EnumCode*>(b)->value;
    return left < right ? -1 : left > right;
}

int CompareSortOrders(const ListCell* a, const ListCell* b) {
    auto order = [](const ListCell* cell) {
        return reinterpret_cast<Form_pg_enum>(GETSTRUCT(static_cast<HeapTuple>(lfirst(cell))))->enumsortorder;
    };
    return order(a) < order(b) ? -1 : order(a) > order(b);
}

}  // namespace

bool ValueKindOf(Oid type, ValueKind* kind) {
    const Oid base = getBaseType(type);
    switch (base) {
        case FLOAT8OID:
            *kind = ValueKind::kFloat8;
            return true;
        case FLOAT4OID:
            *kind = ValueKind::kFloat4;
            return true;
        case INT2OID:
            *kind = ValueKind::kInt2;
            return true;
        case INT4OID:
            *kind = ValueKind::kInt4;
            return true;
        case INT8OID:
            *kind = ValueKind::kInt8;
            return true;
        case NUMERICOID:
            *kind = ValueKind::kNumeric;
            return true;
        case DATEOID:
            *kind = ValueKind::kDate;
            return true;
        case TIMESTAMPOID:
        case TIMESTAMPTZOID:
            *kind = ValueKind::kTimestamp;
            return true;
        case BOOLOID:
            *kind = ValueKind::kBoolean;
            return true;
        case TEXTOID:
        case VARCHAROID:
            *kind = ValueKind::kText;
            return true;
        case BPCHAROID:
            *kind = ValueKind::kBpchar;
            return true;
        case NAMEOID:
            *kind = ValueKind::kName;
            return true;
        case UNKNOWNOID:
            *kind = ValueKind::kUnknown;
            return true;
        default:
            *kind = ValueKind::kEnum;
            return type_is_enum(base);
    }
}

EnumLabel* ReadEnumLabels(Oid type, int* count) {
    struct catclist* members = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(getBaseType(type)));
    List* sorted = NIL;
    for (int i = 0; i < members->n_members; ++i)
        sorted = lappend(sorted, &members->members[i]->tuple);
    list_sort(sorted, CompareSortOrders);
    auto* labels = static_cast<EnumLabel*>(palloc0(sizeof(EnumLabel) * (members->n_members + 1)));
    *count = 0;
    ListCell* cell;
    foreach (cell, sorted) {
        auto form = reinterpret_cast<Form_pg_enum>(GETSTRUCT(static_cast<HeapTuple>(lfirst(cell))));
        labels[(*count)++] = {form->oid, pstrdup(NameStr(form->enumlabel))};
    }
    ReleaseSysCacheList(members);
    list_free(sorted);
    return labels;
}

double ReadNumber(ValueKind kind, Datum value) {
    switch (kind) {
        case ValueKind::kFloat8:
            return DatumGetFloat8(value);
        case ValueKind::kFloat4:
            return DatumGetFloat4(value);
        case ValueKind::kInt2:
            return DatumGetInt16(value);
        case ValueKind::kInt4:
            return DatumGetInt32(value);
        case ValueKind::kInt8:
            return static_cast<double>(DatumGetInt64(value));
        case ValueKind::kNumeric:
            return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
        case ValueKind::kDate:
            return DATE_NOT_FINITE(DatumGetDateADT(value)) ? kNotANumber : DatumGetDateADT(value);
        case ValueKind::kTimestamp:
            return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value))
                       ? kNotANumber
                       : static_cast<double>(DatumGetTimestamp(value)) / 1e6;
        case ValueKind::kBoolean:
            return DatumGetBool(value) ? 1.0 : 0.0;
        case ValueKind::kUnknown: {  // a literal of the call, not a value of a row
            char* end;
            const char* text = DatumGetCString(value);
            const double number = strtod(text, &end);
            return end == text || *end != '\0' ? kNotANumber : number;
        }
        default:
            return kNotANumber;
    }
}

TextView ReadText(ValueKind kind, Datum value) {
    switch (kind) {
        case ValueKind::kName: {
            const char* name = NameStr(*DatumGetName(value));
            return {name, strnlen(name, NAMEDATALEN)};
        }
        case ValueKind::kUnknown: {
            const char* text = DatumGetCString(value);
            return {text, strlen(text)};
        }
        case ValueKind::kBoolean:
            return DatumGetBool(value) ? TextView{"true", 4} : TextView{"false", 5};
        case ValueKind::kText:
        case ValueKind::kBpchar: {
            struct varlena* text = PG_DETOAST_DATUM_PACKED(value);
            size_t size = VARSIZE_ANY_EXHDR(text);
            const char* data = VARDATA_ANY(text);
            while (kind == ValueKind::kBpchar && size > 0 && data[size - 1] == ' ')
                --size;
            return {data, size};
        }
        default:
            return {"", 0};
    }
}

bool Fits(ValueKind kind, const FeatureSpec& feature) {
    if (kind == ValueKind::kUnknown || kind == ValueKind::kBoolean)
        return kind == ValueKind::kUnknown || feature.kind() != FeatureKind::kHashed;
    if (IsWhole(kind) && HasIntegerLevels(feature))
        return true;
    return IsNumber(kind) == feature.ordered();
}

void MakeColumnReader(Oid type, ValueKind kind, const Encoder* encoder, ColumnReader* reader) {
    memset(static_cast<void*>(reader), 0, sizeof *reader);
    reader->kind = kind;
    reader->encoder = encoder;
    reader->missing = encoder->Missing();
    reader->as_number = encoder->kind() == FeatureKind::kNumeric;
    const bool is_fast_number =
        kind == ValueKind::kFloat8 || kind == ValueKind::kFloat4 || kind == ValueKind::kInt4;
    const bool is_fast = reader->as_number ? is_fast_number : kind == ValueKind::kText;
    reader->fast_kind = is_fast ? kind : ValueKind::kUnknown;
    reader->boolean_codes[0] = encoder->Text("false", 5);
    reader->boolean_codes[1] = encoder->Text("true", 4);
    if (kind != ValueKind::kEnum)
        return;
    EnumLabel* labels = ReadEnumLabels(type, &reader->enum_count);
    reader->enum_codes = static_cast<ColumnReader::EnumCode*>(
        palloc(sizeof(ColumnReader::EnumCode) * (reader->enum_count + 1)));
    for (int i = 0; i < reader->enum_count; ++i)
        reader->enum_codes[i] = {labels[i].value, encoder->Text(labels[i].label, strlen(labels[i].label))};
    qsort(reader->enum_codes, reader->enum_count, sizeof(ColumnReader::EnumCode), CompareEnumCodes);
}

uint16_t ReadSlowCode(const ColumnReader& reader, Datum value) {
    if (reader.as_number)
        return reader.encoder->Number(ReadNumber(reader.kind, value));
    if (reader.kind == ValueKind::kBoolean)
        return reader.boolean_codes[DatumGetBool(value) ? 1 : 0];
    if (reader.kind == ValueKind::kEnum)
        return EnumToCode(reader, DatumGetObjectId(value));
    if (IsWhole(reader.kind)) {
        char digits[24];
        const int size = snprintf(digits, sizeof digits, "%lld", ReadWhole(reader.kind, value));
        return reader.encoder->Text(digits, static_cast<size_t>(size));
    }
    const TextView text = ReadText(reader.kind, value);
    return reader.encoder->Text(text.data, text.size);
}

bool ReadLabel(const TargetReader& reader, Datum value, float* label) {
    if (reader.by_number)
        return reader.spec->Label(ReadNumber(reader.kind, value), label);
    if (reader.classes !=
        nullptr)  // what is no class is missing: a code behind the last one, which is no label
        return reader.spec->Label(ReadCode(*reader.classes, value), label);
    bool positive;
    if (reader.kind == ValueKind::kBoolean) {
        positive = DatumGetBool(value) == reader.positive_boolean;
    } else if (reader.kind == ValueKind::kEnum) {
        positive = DatumGetObjectId(value) == reader.positive_enum;
    } else if (IsNumber(reader.kind)) {
        const double number = ReadNumber(reader.kind, value);
        if (!std::isfinite(number))
            return false;
        positive = number == reader.positive_number;
    } else {
        const TextView text = ReadText(reader.kind, value);
        positive =
            text.size == reader.positive_size && memcmp(text.data, reader.positive_text, text.size) == 0;
    }
    return reader.spec->Label(positive ? 1.0 : 0.0, label);
}

bool IsUnitType(Oid type) {
    switch (getBaseType(type)) {
        case INT2OID:
        case INT4OID:
        case INT8OID:
        case OIDOID:
        case DATEOID:
        case NUMERICOID:
        case TEXTOID:
        case VARCHAROID:
        case BPCHAROID:
        case NAMEOID:
        case UUIDOID:
        case BYTEAOID:
            return true;
        default:
            return type_is_enum(getBaseType(type));
    }
}

UnitKey ReadUnit(Oid base_type, Datum value) {
    switch (base_type) {
        case INT2OID:
            return UnitKeyOf(static_cast<int64_t>(DatumGetInt16(value)));
        case INT4OID:
        case DATEOID:
            return UnitKeyOf(static_cast<int64_t>(DatumGetInt32(value)));
        case INT8OID:
            return UnitKeyOf(static_cast<int64_t>(DatumGetInt64(value)));
        case UUIDOID:
            return UnitKeyOf(DatumGetPointer(value), 16);
        case NUMERICOID: {  // 1.0 and 1.00 are one person
            char* text = numeric_normalize(DatumGetNumeric(value));
            const UnitKey key = UnitKeyOf(text, strlen(text));
            pfree(text);
            return key;
        }
        case TEXTOID:
        case VARCHAROID:
        case BYTEAOID: {
            const TextView text = ReadText(ValueKind::kText, value);
            return UnitKeyOf(text.data, text.size);
        }
        case BPCHAROID:
        case NAMEOID: {
            const TextView text =
                ReadText(base_type == NAMEOID ? ValueKind::kName : ValueKind::kBpchar, value);
            return UnitKeyOf(text.data, text.size);
        }
        default:  // oid and enums
            return UnitKeyOf(static_cast<int64_t>(DatumGetObjectId(value)));
    }
}

bool ReadArray(Datum array, ArrayElements* elements) {
    ArrayType* flat = DatumGetArrayTypeP(array);
    if (ARR_NDIM(flat) > 1)
        return false;
    elements->type = ARR_ELEMTYPE(flat);
    int16 length;
    bool by_value;
    char alignment;
    get_typlenbyvalalign(elements->type, &length, &by_value, &alignment);
    deconstruct_array(flat, elements->type, length, by_value, alignment, &elements->values, &elements->nulls,
                      &elements->count);
    return true;
}

}  // namespace dpboost
