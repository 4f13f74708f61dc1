// dpboost_columns: what a training on a relation would do with each of its columns, and what is missing. All of it
// comes from the schema, from declarations and from the call.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/row_values.h"
#include "postgres/boundary/short_locks.h"
#include "postgres/columns/source_column.h"
#include "postgres/limits/budget.h"
#include "postgres/population/privacy_unit.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_columns);
}

namespace dpboost {
namespace {

// The domain as the option "bounds" takes it, or nullptr.
const char* DomainText(const SourceColumn& column, const ColumnDomain& domain) {
    const char* zone = getBaseType(column.type) == TIMESTAMPTZOID ? "+00" : "";
    auto* text = CoreState<std::string>::Make(CurrentMemoryContext);
    CallCore([&] { **text = DescribeDomain(ToPublic(column, domain), zone); });
    const char* copy = (*text)->empty() ? nullptr : pstrdup((*text)->c_str());
    text->Release();
    return copy;
}

const char* SourceText(const ColumnDomain& domain, Oid relid) {
    static const char* const kSources[] = {nullptr, "dpboost_set_domain", "CHECK constraint", "type"};
    const char* source = kSources[static_cast<int>(domain.source)];
    if (domain.kind == DomainKind::kNone || source == nullptr)
        return nullptr;
    if (domain.source == DomainSource::kType || domain.source_relid == relid)
        return source;
    return psprintf("%s of %s", source, DescribeRelation(domain.source_relid));
}

const char* RoleOf(const SourceColumn& column, const char* target, const char* unit, const Bitmapset* key) {
    if (target != nullptr && strcmp(column.name, target) == 0)
        return "target";
    if (unit != nullptr && strcmp(column.name, unit) == 0)
        return "privacy unit";
    return bms_is_member(column.attnum - FirstLowInvalidHeapAttributeNumber, key) ? "primary key" : "feature";
}

// What keeps the column from being used, or what a user should know; nullptr: nothing.
const char* NoteOf(const SourceColumn& column, const ColumnDomain& domain, const char* role, bool* usable) {
    *usable = false;
    if (strcmp(role, "privacy unit") == 0)
        return IsUnitType(column.type) ? "says who a person is, and is no feature"
                                       : "its type cannot identify people";
    if (column.kind == ValueKind::kUnknown)
        return psprintf("type %s cannot be used: leave the column out, or cast it in a view",
                        format_type_be(column.type));
    const char* declare = psprintf(
        "dpboost_set_domain(%s, %s, %s)", quote_literal_cstr(SqlNameOf(column.relid)),
        quote_literal_cstr(column.name), IsTime(column.kind) ? "'YYYY-MM-DD', 'YYYY-MM-DD'" : "lower, upper");
    *usable = !IsNumber(column.kind) || domain.kind != DomainKind::kNone;
    if (strcmp(role, "primary key") == 0)
        return "left out unless it is named among the features";
    if (!*usable && strcmp(role, "target") == 0)
        return psprintf(
            "for regression it needs a public range: %s or the option \"target_range\"; a 0/1 target "
            "needs \"task\": \"classification\"",
            declare);
    if (!*usable)
        return psprintf("has no public range: %s%s, or the option \"bounds\"", declare,
                        IsWhole(column.kind) ? ", with ARRAY[1, 2, 3] instead of a range for codes" : "");
    if (!IsNumber(column.kind) && domain.kind == DomainKind::kNone)
        return strcmp(role, "target") == 0 ? "needs the option \"positive\" or \"classes\""
                                           : "texts are hashed to buckets; a list of levels is better";
    return nullptr;
}

constexpr int kFields = 7;

// The rows of the result.
struct ColumnRows {
    int count;
    struct Row {
        Datum values[kFields];
        bool nulls[kFields];
    } * rows;
};

Datum TextOrNull(const char* text, bool* is_null) {
    *is_null = text == nullptr;
    return text == nullptr ? Datum(0) : CStringGetTextDatum(text);
}

void FillRow(SourceColumn* column, const char* role, ColumnRows::Row* row) {
    ColumnDomain domain;
    bool usable;
    if (!ValueKindOf(column->type, &column->kind))
        column->kind = ValueKind::kUnknown;
    LoadColumnDomain(column->relid, column->attnum, &domain);
    const char* note = NoteOf(*column, domain, role, &usable);
    const char* text = DomainText(*column, domain);
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, column->name);
    memset(row->nulls, 0, sizeof row->nulls);
    row->values[0] = NameGetDatum(name);
    row->values[1] = CStringGetTextDatum(format_type_be(column->type));
    row->values[2] = CStringGetTextDatum(role);
    row->values[3] = BoolGetDatum(usable);
    row->nulls[4] = text == nullptr;
    row->values[4] = text == nullptr ? Datum(0) : JsonTextToDatum(text);
    row->values[5] = TextOrNull(SourceText(domain, column->relid), &row->nulls[5]);
    row->values[6] = TextOrNull(note, &row->nulls[6]);
}

// Whoever may train may see what with; so may the owner.
void CheckMaySee(Oid relid) {
    if (!OwnsRelation(relid, GetUserId()))
        CheckMayTrain(GetUserId(), relid, nullptr, 0);
}

ColumnRows* ReadColumns(Oid relid, const char* target) {
    CheckMaySee(relid);
    ShortLocks locks;
    ShortLocksBegin(&locks);
    Relation relation = relation_open(relid, AccessShareLock);
    if (target != nullptr)
        FindColumn(relid, target);
    const char* unit = UnitOfRelation(RelationsBehind(relid), relid);
    const Bitmapset* key = RelationGetIndexAttrBitmap(relation, INDEX_ATTR_BITMAP_PRIMARY_KEY);
    SourceColumns columns = ColumnsOfRowType(RelationGetDescr(relation), relid);
    auto* result = static_cast<ColumnRows*>(palloc0(sizeof(ColumnRows)));
    result->rows = static_cast<ColumnRows::Row*>(palloc(sizeof(ColumnRows::Row) * Max(columns.count, 1)));
    for (; result->count < columns.count; ++result->count) {
        SourceColumn* column = &columns.columns[result->count];
        FillRow(column, RoleOf(*column, target, unit, key), &result->rows[result->count]);
    }
    relation_close(relation, NoLock);
    ShortLocksEnd(&locks);
    return result;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_columns(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation"});
    const char* target = PG_ARGISNULL(1) ? nullptr : NameStr(*PG_GETARG_NAME(1));
    ColumnRows* columns = ReadColumns(PG_GETARG_OID(0), target);
    TupleDesc descriptor;
    Tuplestorestate* store = BeginRows(fcinfo, &descriptor);
    for (int i = 0; i < columns->count; ++i)
        tuplestore_putvalues(store, descriptor, columns->rows[i].values, columns->rows[i].nulls);
    return Datum(0);
}
