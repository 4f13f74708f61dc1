// Few lines are looked through, one by one; of many, PostgreSQL's index on what they are about finds those that matter. Both
// ways give the same lines: the first costs a new process, which has planned nothing, less than a statement does.
#include "postgres/ledger/total_lines.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "privacy/spent.h"

namespace dpboost {
namespace {

constexpr BlockNumber kFewPages = 32;

bool HasFewLines(const RowTable& rows) {
    return RelationGetNumberOfBlocks(rows.table) <= kFewPages;
}

int CompareLines(const void* a, const void* b) {
    const auto* left = static_cast<const TotalLine*>(a);
    const auto* right = static_cast<const TotalLine*>(b);
    if (left->first_release_id != right->first_release_id)
        return left->first_release_id < right->first_release_id ? -1 : 1;
    return left->total_id < right->total_id ? -1 : left->total_id > right->total_id;
}

TotalLine* AppendLine(TotalLines* lines) {
    if (lines->count == lines->capacity) {
        lines->capacity = 2 * lines->capacity + 4;
        const size_t size = sizeof(TotalLine) * static_cast<size_t>(lines->capacity);
        lines->items =
            static_cast<TotalLine*>(lines->items == nullptr ? palloc(size) : repalloc(lines->items, size));
    }
    return &lines->items[lines->count++];
}

ArrayType* ArrayOf(HeapTuple row, const RowTable& rows, const char* column) {
    return DatumGetArrayTypeP(ColumnOf(row, rows.table, column));
}

TotalLine LineOf(HeapTuple row, const RowTable& rows, int64 id) {
    return {id,
            HasIdentity(ArrayOf(row, rows, "direct_ids"), id),
            DatumGetInt64(ColumnOf(row, rows.table, "total_id")),
            DatumGetInt64(ColumnOf(row, rows.table, "first_release_id")),
            DatumGetInt64(ColumnOf(row, rows.table, "last_release_id")),
            ArrayOf(row, rows, "roles"),
            ArrayOf(row, rows, "role_names"),
            DatumGetByteaPP(ColumnOf(row, rows.table, "spent"))};
}

void LookThrough(const RowTable& rows, const CountedKeys& keys, TotalLines* lines) {
    SysScanDesc scan = AllRows(rows);
    while (HeapTuple tuple = systable_getnext(scan)) {
        HeapTuple row = nullptr;  // a copy, of a line that matters
        const ArrayType* ids = ArrayOf(tuple, rows, "relation_ids");
        for (int k = 0; k < keys.count; ++k) {
            const int64 id = keys.items[k].id;
            if ((k > 0 && keys.items[k - 1].id == id) || !HasIdentity(ids, id))
                continue;
            if (row == nullptr)
                row = heap_copytuple(tuple);
            *AppendLine(lines) = LineOf(row, rows, id);
        }
    }
    systable_endscan(scan);
}

void FindByIndex(const CountedKeys& keys, TotalLines* lines) {
    const uint64 found = CatalogRead(
        "SELECT k.id, t.direct_ids @> ARRAY[k.id], t.total_id, t.first_release_id,"
        " t.last_release_id, t.roles, t.role_names, t.spent"
        " FROM unnest($1) AS k(id) JOIN dpboost.total AS t ON t.relation_ids @> ARRAY[k.id]",
        {{INT8ARRAYOID, IdsOf(keys, Which::kAll)}});
    for (uint64 row = 0; row < found; ++row)
        *AppendLine(lines) = {
            DatumGetInt64(CatalogValue(row, 1)),      DatumGetBool(CatalogValue(row, 2)),
            DatumGetInt64(CatalogValue(row, 3)),      DatumGetInt64(CatalogValue(row, 4)),
            DatumGetInt64(CatalogValue(row, 5)),      DatumGetArrayTypeP(CatalogValue(row, 6)),
            DatumGetArrayTypeP(CatalogValue(row, 7)), DatumGetByteaPP(CatalogValue(row, 8))};
}

// ---- the line of a release ----

// Sorts them, and gives the number of different ones, which then come first.
template <typename T>
int Distinct(T* items, int count) {
    std::sort(items, items + count);
    return static_cast<int>(std::unique(items, items + count) - items);
}

// Whom a release was charged to, as dpboost.charged has it: each in order and once.
struct ChargedTo {
    int relations, directs, roles, names;
    int64* relation_ids;
    int64* direct_ids;
    Oid* role_oids;
    NameData* role_names;
};

int CompareNames(const void* a, const void* b) {
    return strncmp(NameStr(*static_cast<const NameData*>(a)), NameStr(*static_cast<const NameData*>(b)),
                   NAMEDATALEN);
}

template <typename T>
void Push(T** items, int* count, T value) {
    *items = static_cast<T*>(*count == 0 ? palloc(sizeof(T)) : repalloc(*items, sizeof(T) * (*count + 1)));
    (*items)[(*count)++] = value;
}

ChargedTo ReadCharged(int64 release_id) {
    ChargedTo charged = {};
    const RowTable rows = OpenRows("charge", "charge_release");
    ScanKeyData key = RowKey(rows, "release_id", F_INT8EQ, Int64GetDatum(release_id));
    SysScanDesc scan = FindRows(rows, &key, 1);
    while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection)) {
        const int64 id = DatumGetInt64(ColumnOf(row, rows.table, "relation_id"));
        Push(&charged.relation_ids, &charged.relations, id);
        if (DatumGetBool(ColumnOf(row, rows.table, "direct")))
            Push(&charged.direct_ids, &charged.directs, id);
        Push(&charged.role_oids, &charged.roles, RememberedOid(ColumnOf(row, rows.table, "role")));
        Push(&charged.role_names, &charged.names, *DatumGetName(ColumnOf(row, rows.table, "role_name")));
    }
    systable_endscan_ordered(scan);
    CloseRows(rows);
    charged.relations = Distinct(charged.relation_ids, charged.relations);
    charged.directs = Distinct(charged.direct_ids, charged.directs);
    charged.roles = Distinct(charged.role_oids, charged.roles);
    qsort(charged.role_names, charged.names, sizeof(NameData), CompareNames);
    charged.names = static_cast<int>(
        std::unique(charged.role_names, charged.role_names + charged.names,
                    [](const NameData& a, const NameData& b) { return CompareNames(&a, &b) == 0; }) -
        charged.role_names);
    return charged;
}

bool HasSame(const ArrayType* array, const void* items, int count, size_t size) {
    return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == count &&
           (count == 0 || memcmp(ARR_DATA_PTR(array), items, count * size) == 0);
}

bool HasSameNames(const ArrayType* array, const ChargedTo& charged) {
    const auto* names = reinterpret_cast<const NameData*>(ARR_DATA_PTR(array));
    bool same = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == charged.names;
    for (int i = 0; same && i < charged.names; ++i)
        same = CompareNames(&names[i], &charged.role_names[i]) == 0;
    return same;
}

// Roles may have been written in another order, or have the number 0 in common.
bool HasSameRoles(const ArrayType* array, const ChargedTo& charged) {
    const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    auto* roles = static_cast<Oid*>(palloc(sizeof(Oid) * (count + 1)));
    for (int i = 0; i < count; ++i)
        roles[i] = RoleAt(array, i);
    return Distinct(roles, count) == charged.roles &&
           std::equal(charged.role_oids, charged.role_oids + charged.roles, roles);
}

bool IsLineOf(HeapTuple row, const RowTable& rows, const ChargedTo& charged) {
    return HasSame(ArrayOf(row, rows, "relation_ids"), charged.relation_ids, charged.relations,
                   sizeof(int64)) &&
           HasSame(ArrayOf(row, rows, "direct_ids"), charged.direct_ids, charged.directs, sizeof(int64)) &&
           HasSameNames(ArrayOf(row, rows, "role_names"), charged) &&
           HasSameRoles(ArrayOf(row, rows, "roles"), charged);
}

// The first of the lines; null: there is none so far.
HeapTuple FindLine(const RowTable& rows, const ChargedTo& charged) {
    HeapTuple line = nullptr;
    int64 first = PG_INT64_MAX;
    SysScanDesc scan = AllRows(rows);
    while (HeapTuple row = systable_getnext(scan)) {
        const int64 total_id = DatumGetInt64(ColumnOf(row, rows.table, "total_id"));
        if (total_id >= first || !IsLineOf(row, rows, charged))
            continue;
        line = heap_copytuple(row);
        first = total_id;
    }
    systable_endscan(scan);
    return line;
}

// Whether there was a line to add it to.
bool AddToLine(const RowTable& rows, int64 release_id, std::string_view plan) {
    HeapTuple line = FindLine(rows, ReadCharged(release_id));
    if (line == nullptr)
        return false;
    const bytea* spent = DatumGetByteaPP(ColumnOf(line, rows.table, "spent"));
    const int64 last = DatumGetInt64(ColumnOf(line, rows.table, "last_release_id"));
    UpdateRow(rows, line,
              {{"spent", {BYTEAOID, PointerGetDatum(AddCost(spent, plan))}},
               {"last_release_id", Int8(Max(last, release_id))}});
    return true;
}

bool AddByIndex(int64 release_id) {
    return CatalogWrite(
               "UPDATE dpboost.total AS t SET spent = dpboost.add_cost(t.spent, l.plan),"
               " last_release_id = greatest(t.last_release_id, $1)"
               " FROM dpboost.ledger AS l WHERE l.release_id = $1 AND t.total_id = ("
               "  SELECT min(s.total_id) FROM dpboost.charged AS c JOIN dpboost.total AS s"
               "  ON s.relation_ids = c.relation_ids AND s.direct_ids = c.direct_ids"
               "   AND s.role_names = c.role_names AND ARRAY(SELECT DISTINCT r::oid FROM unnest(s.roles) AS r"
               "   ORDER BY 1) = c.role_oids"
               "  WHERE c.release_id = $1)",
               {Int8(release_id)}) > 0;
}

}  // namespace

TotalLines ReadLines(const CountedKeys& keys) {
    TotalLines lines = {};
    const RowTable rows = OpenRows("total", nullptr);
    if (HasFewLines(rows))
        LookThrough(rows, keys, &lines);
    else
        FindByIndex(keys, &lines);
    CloseRows(rows);
    qsort(lines.items, lines.count, sizeof(TotalLine), CompareLines);
    return lines;
}

int64* ReadLastCharges(const CountedKeys& keys) {
    auto* last = static_cast<int64*>(palloc0(sizeof(int64) * (keys.count + 1)));
    const RowTable rows = OpenRows("charge", "charge_last");
    for (int k = 0; k < keys.count; ++k) {
        if (k > 0 && keys.items[k - 1].id == keys.items[k].id)
            continue;
        ScanKeyData key = RowKey(rows, "relation_id", F_INT8EQ, Int64GetDatum(keys.items[k].id));
        HeapTuple row = LastRow(rows, &key);
        if (row != nullptr)
            last[k] = DatumGetInt64(ColumnOf(row, rows.table, "release_id"));
    }
    CloseRows(rows);
    return last;
}

void RebuildTotals() {
    CatalogWrite("DELETE FROM dpboost.total");
    CatalogWrite(
        "INSERT INTO dpboost.total"
        " (relation_ids, direct_ids, roles, role_names, first_release_id, last_release_id, spent)"
        " SELECT g.relation_ids, g.direct_ids, f.roles, g.role_names, g.first, g.last, g.spent FROM ("
        "  SELECT c.relation_ids, c.direct_ids, c.role_oids, c.role_names, min(l.release_id) AS first,"
        "   max(l.release_id) AS last, dpboost.spent(l.plan ORDER BY l.release_id) AS spent"
        "  FROM dpboost.charged AS c JOIN dpboost.ledger AS l USING (release_id)"
        "  GROUP BY c.relation_ids, c.direct_ids, c.role_oids, c.role_names) AS g,"
        " LATERAL (SELECT roles FROM dpboost.charged WHERE release_id = g.first) AS f");
    CommandCounterIncrement();
}

bytea* AddCost(const bytea* before, std::string_view plan) {
    char bytes[Spent::kMaxBytes];
    size_t size = 0;
    CallCore([&] {
        Spent spent;
        if (before != nullptr)
            spent = Spent::Parse(std::string_view(VARDATA_ANY(before), VARSIZE_ANY_EXHDR(before)));
        spent.Add(Cost::Parse(plan));
        size = spent.Serialize().copy(bytes, sizeof bytes);
    });
    auto* result = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(result, size + VARHDRSZ);
    memcpy(VARDATA(result), bytes, size);
    return result;
}

void AddToTotals(int64 release_id, std::string_view plan) {
    const RowTable rows = OpenRows("total", nullptr, RowExclusiveLock);
    const bool added = HasFewLines(rows) ? AddToLine(rows, release_id, plan) : AddByIndex(release_id);
    CloseRows(rows);
    if (!added)
        CatalogWrite(
            "INSERT INTO dpboost.total"
            " (relation_ids, direct_ids, roles, role_names, first_release_id, last_release_id, spent)"
            " SELECT c.relation_ids, c.direct_ids, c.roles, c.role_names, $1, $1, dpboost.add_cost(NULL,"
            " l.plan)"
            " FROM dpboost.charged AS c JOIN dpboost.ledger AS l USING (release_id) WHERE release_id = $1",
            {Int8(release_id)});
}

}  // namespace dpboost
