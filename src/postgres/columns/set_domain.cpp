// dpboost_set_domain and dpboost_drop_domain: what a table's owner declares public about a column. Bounds and levels
// may be of any type that reads as the column's: numbers, dates as such, texts, integer codes.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/columns/domain.h"
#include "postgres/columns/source_column.h"
#include "postgres/limits/protect.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_set_domain_range);
PG_FUNCTION_INFO_V1(dpboost_set_domain_levels);
PG_FUNCTION_INFO_V1(dpboost_drop_domain);
}

namespace dpboost {
namespace {

enum Argument { kRelation, kColumn, kLower, kUpper, kScale, kLevels = kLower };

// The column of a call whose first two arguments name it.
struct OpenedColumn {
    ReadRelation relation;
    const char* name;
    AttrNumber attnum;
    Oid type;  // base type
    ValueKind kind;
};

OpenedColumn OpenColumn(FunctionCallInfo fcinfo) {
    OpenedColumn column;
    OpenGoverned(PG_GETARG_OID(kRelation), GetUserId(), &column.relation);
    column.name = NameStr(*PG_GETARG_NAME(kColumn));
    const SourceColumn found = FindColumn(column.relation.relid, column.name);
    column.attnum = found.attnum;
    column.type = getBaseType(found.type);
    if (!ValueKindOf(column.type, &column.kind))
        column.kind = ValueKind::kUnknown;
    return column;
}

// Of a new domain, for errors. In the current memory context.
const char* DomainOfColumn(const OpenedColumn& column) {
    return psprintf("domain of column \"%s\"", column.name);
}

// A value of any type as text; a literal whose type nobody has decided is text already.
char* OutputOf(Oid type, Datum value) {
    if (type == UNKNOWNOID)
        return DatumGetCString(value);
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type, &output, &is_varlena);
    return OidOutputFunctionCall(output, value);
}

Datum ReadAs(Oid type, const char* text) {
    Oid input, element;
    getTypeInputInfo(type, &input, &element);
    return OidInputFunctionCall(input, const_cast<char*>(text), element, -1);
}

// A bound as the number that the column's values become. Dates are read as such, numbers need not be whole.
double ReadBound(FunctionCallInfo fcinfo, int argument, const OpenedColumn& column) {
    const char* text = OutputOf(get_fn_expr_argtype(fcinfo->flinfo, argument), PG_GETARG_DATUM(argument));
    const Oid type = IsTime(column.kind) ? column.type : FLOAT8OID;
    double number;
    NumberOfDatum(type, ReadAs(type, text), &number);
    return number;
}

// The levels of the call as a text[], those of an integer column written as integers are.
ArrayType* ReadLevels(FunctionCallInfo fcinfo, const OpenedColumn& column) {
    const Oid type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, kLevels));
    const bool is_array = OidIsValid(get_element_type(type));
    const char* literal = type == UNKNOWNOID ? DatumGetCString(PG_GETARG_DATUM(kLevels)) : nullptr;
    if (!is_array && (literal == nullptr || strchr(literal, '{') == nullptr))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("levels must be an array"),
                        errhint("As in dpboost_set_domain('%s', '%s', ARRAY['a', 'b']).",
                                column.relation.relation_name, column.name)));
    ArrayElements levels;
    const Datum array = is_array ? PG_GETARG_DATUM(kLevels) : ReadAs(TEXTARRAYOID, literal);
    if (!ReadArray(array, &levels))
        ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("levels must be a plain list")));
    const char* what = DomainOfColumn(column);
    CallCore([&] { CheckLevelCount(what, static_cast<size_t>(levels.count)); });
    auto** texts = static_cast<char**>(palloc(sizeof(char*) * levels.count));
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * levels.count));
    for (int i = 0; i < levels.count; ++i) {
        if (levels.nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a level must not be NULL"),
                            errdetail("NULL is always allowed, as a missing value.")));
        texts[i] = OutputOf(levels.type, levels.values[i]);
        if (IsWhole(column.kind))
            texts[i] = OutputOf(column.type, ReadAs(column.type, texts[i]));
        values[i] = CStringGetTextDatum(texts[i]);
    }
    CallCore([&] { Domain::Levels(what, std::vector<std::string>(texts, texts + levels.count)); });
    return construct_array(values, levels.count, TEXTOID, -1, false, TYPALIGN_INT);
}

void WriteDomain(const OpenedColumn& column, const double* range, const char* scale, ArrayType* levels) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const bool is_range = range != nullptr;
    const ReadRelation& relation = column.relation;
    CatalogWrite(
        "INSERT INTO dpboost.column_domain (described, lower, upper, scale, levels)"
        " VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT ((described::oid), (dpboost.column_ref_number(described))) WHERE described::oid <> 0"
        " DO UPDATE SET (described, lower, upper, scale, levels) = ROW(excluded.described, excluded.lower,"
        "  excluded.upper, excluded.scale, excluded.levels)",
        {{ColumnRefType(), ColumnReference(relation.relid, column.attnum, relation.schema_name,
                                           relation.relation_name, column.name)},
         is_range ? Float8(range[0]) : NullOf(FLOAT8OID),
         is_range ? Float8(range[1]) : NullOf(FLOAT8OID),
         is_range ? TextOf(scale) : NullOf(TEXTOID),
         {TEXTARRAYOID, PointerGetDatum(levels), is_range}});
    CatalogEnd(&scope);
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_set_domain_range(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "column_name", "lower", "upper", "scale"});
    const OpenedColumn column = OpenColumn(fcinfo);
    if (!IsNumber(column.kind))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of type %s cannot have a range", column.name,
                               format_type_be(column.type)),
                        errhint("Declare its values as a list of levels.")));
    const double range[] = {ReadBound(fcinfo, kLower, column), ReadBound(fcinfo, kUpper, column)};
    const char* scale = text_to_cstring(PG_GETARG_TEXT_PP(kScale));
    const char* what = DomainOfColumn(column);
    CallCore([&] { Domain::Range(what, range[0], range[1], scale); });
    WriteDomain(column, range, scale, nullptr);
    PG_RETURN_VOID();
}

Datum dpboost_set_domain_levels(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "column_name", "levels"});
    const OpenedColumn column = OpenColumn(fcinfo);
    if (column.kind == ValueKind::kBoolean || (IsNumber(column.kind) && !IsWhole(column.kind)))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of type %s cannot have levels", column.name,
                               format_type_be(column.type)),
                        IsTime(column.kind)
                            ? errhint("Declare its range, as in dpboost_set_domain('%s', '%s', '2020-01-01', "
                                      "'2029-12-31').",
                                      column.relation.relation_name, column.name)
                        : column.kind == ValueKind::kBoolean
                            ? errhint("Nothing need be declared: its values are true and false.")
                            : errhint("Declare its range with a lower and an upper value.")));
    WriteDomain(column, nullptr, nullptr, ReadLevels(fcinfo, column));
    PG_RETURN_VOID();
}

Datum dpboost_drop_domain(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "column_name"});
    const OpenedColumn column = OpenColumn(fcinfo);
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 dropped = CatalogWrite(
        "DELETE FROM dpboost.column_domain WHERE described::oid = $1"
        " AND dpboost.column_ref_number(described) = $2",
        {OidOf(column.relation.relid), Int4(column.attnum)});
    CatalogEnd(&scope);
    if (dropped == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("no domain is declared for column \"%s\" of %s", column.name,
                               DescribeRelation(column.relation.relid)),
                        errhint("What CHECK constraints and types say is dropped with them.")));
    PG_RETURN_VOID();
}
