// Looks for charges of another privacy unit. An index finds them without reading the others.
#include "postgres/population/earlier_units.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/catalog/identity.h"
#include "postgres/population/population_tables.h"

namespace dpboost {

// Releases that were found, some of them several times.
struct FoundReleases {
    int count;
    int capacity;
    int64* ids;
};

static void AddRelease(FoundReleases* found, int64 release_id) {
    if (found->count == found->capacity) {
        found->capacity = 2 * found->capacity + 16;
        const size_t size = sizeof(int64) * static_cast<size_t>(found->capacity);
        found->ids = static_cast<int64*>(found->ids == nullptr ? palloc(size) : repalloc(found->ids, size));
    }
    found->ids[found->count++] = release_id;
}

// Which units of charges are looked for: that of the name, or others.
enum class UnitIs { kNull, kSame, kLess, kGreater };

static ScanKeyData UnitKey(const RowTable& rows, const NameData* unit, UnitIs which) {
    ScanKeyData key = RowKey(rows, "privacy_unit", F_NAMEEQ, NameGetDatum(unit));
    const Oid collation = key.sk_collation;
    if (which == UnitIs::kNull)
        ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNULL, key.sk_attno, InvalidStrategy, InvalidOid,
                               InvalidOid, InvalidOid, Datum(0));
    else if (which != UnitIs::kSame)
        ScanKeyEntryInitialize(
            &key, 0, key.sk_attno, which == UnitIs::kLess ? BTLessStrategyNumber : BTGreaterStrategyNumber,
            InvalidOid, collation, which == UnitIs::kLess ? F_NAMELT : F_NAMEGT, NameGetDatum(unit));
    return key;
}

// Those after number `after` that were charged to the identity for such a unit.
static void FindCharges(const RowTable& rows, int64 relation_id, const ScanKeyData& unit, int64 after,
                        bool direct, FoundReleases* found) {
    ScanKeyData keys[3] = {RowKey(rows, "relation_id", F_INT8EQ, Int64GetDatum(relation_id)), unit,
                           RowKey(rows, "release_id", F_INT8EQ, Int64GetDatum(after))};
    ScanKeyEntryInitialize(&keys[2], 0, keys[2].sk_attno, BTGreaterStrategyNumber, InvalidOid, InvalidOid,
                           F_INT8GT, Int64GetDatum(after));
    SysScanDesc scan = FindRows(rows, keys, 3);
    while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection)) {
        CHECK_FOR_INTERRUPTS();
        if (!direct || DatumGetBool(ColumnOf(row, rows.table, "direct")))
            AddRelease(found, DatumGetInt64(ColumnOf(row, rows.table, "release_id")));
    }
    systable_endscan_ordered(scan);
}

EarlierReleases FindEarlierReleases(Oid relid, const ArrayType* counted, const char* unit, int64 after,
                                    int64 accepted) {
    const CountedIdentities ids = IdentitiesThatCount(relid, counted);
    NameData name;
    namestrcpy(&name, unit);
    FoundReleases found = {};
    const RowTable rows = OpenRows("charge", "charge_relation");
    for (const bool direct : {false, true}) {
        const ArrayType* array = DatumGetArrayTypeP(direct ? ids.direct : ids.any);
        const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(array));
        for (int i = 0; i < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)); ++i) {
            const auto find = [&](UnitIs which) {
                FindCharges(rows, values[i], UnitKey(rows, &name, which), after, direct, &found);
            };
            if (unit[0] == '\0') {
                find(UnitIs::kSame);  // a release for persons bounds their rows as well
            } else {
                find(UnitIs::kNull);
                find(UnitIs::kLess);
                find(UnitIs::kGreater);
            }
        }
    }
    CloseRows(rows);
    std::sort(found.ids, found.ids + found.count);
    const int64* end = std::unique(found.ids, found.ids + found.count);
    const int64* first_unaccepted = std::upper_bound<const int64*>(found.ids, end, accepted);
    return {end - found.ids, found.count == 0 ? 0 : end[-1], end - first_unaccepted};
}

// Arrays of equal length, for unnest: which of the tables' identities count for which of them, and how.
struct TableKeys {
    ArrayBuildState* position;
    ArrayBuildState* id;
    ArrayBuildState* whole;
    ArrayBuildState* unit;
    ArrayBuildState* until;
};

static void AddTableKeys(TableKeys* keys, int position, const PopulationTable* table, Datum ids, bool whole) {
    const ArrayType* array = DatumGetArrayTypeP(ids);
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(array));
    const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    MemoryContext context = CurrentMemoryContext;
    for (int i = 0; i < count; ++i) {
        accumArrayResult(keys->position, Int32GetDatum(position), false, INT4OID, context);
        accumArrayResult(keys->id, Int64GetDatum(values[i]), false, INT8OID, context);
        accumArrayResult(keys->whole, BoolGetDatum(whole), false, BOOLOID, context);
        accumArrayResult(keys->unit, NameGetDatum(&table->unit), false, NAMEOID, context);
        accumArrayResult(keys->until, Int64GetDatum(table->earlier_until), false, INT8OID, context);
    }
}

// The same condition as above, for all tables of a population at once; the position of the first, or -1.
// (Ordered as the index is: else PostgreSQL may look through all charges for tables that have none.)
#define DPBOOST_CHARGE_WITH(unit)                                                                            \
    "(SELECT true FROM dpboost.charge AS c WHERE c.relation_id = t.id AND c.privacy_unit " unit              \
    " AND c.release_id > t.until AND (c.direct OR NOT t.whole) ORDER BY c.privacy_unit, c.release_id LIMIT " \
    "1)"
constexpr char kFindUnaccepted[] =
    "SELECT t.position FROM unnest($1, $2, $3, $4, $5) AS t(position, id, whole, unit, until)"
    " WHERE CASE WHEN t.unit = '' THEN " DPBOOST_CHARGE_WITH("BETWEEN t.unit AND t.unit")
    " ELSE " DPBOOST_CHARGE_WITH("IS NULL") " OR " DPBOOST_CHARGE_WITH("< t.unit")
    " OR " DPBOOST_CHARGE_WITH("> t.unit") " END ORDER BY 1";
#undef DPBOOST_CHARGE_WITH

static int FindUnaccepted(const PopulationTables& tables) {
    MemoryContext context = CurrentMemoryContext;
    TableKeys keys = {initArrayResult(INT4OID, context, false), initArrayResult(INT8OID, context, false),
                      initArrayResult(BOOLOID, context, false), initArrayResult(NAMEOID, context, false),
                      initArrayResult(INT8OID, context, false)};
    for (int i = 0; i < tables.count; ++i) {
        const PopulationTable* table = &tables.items[i];
        if (!OidIsValid(table->relid))
            continue;  // nobody can train on it, or accept anything for it
        const CountedIdentities ids = IdentitiesThatCount(table->relid, table->counted);
        AddTableKeys(&keys, i, table, ids.any, false);
        AddTableKeys(&keys, i, table, ids.direct, true);
    }
    return CatalogRead(kFindUnaccepted,
                       {{INT4ARRAYOID, makeArrayResult(keys.position, context)},
                        {INT8ARRAYOID, makeArrayResult(keys.id, context)},
                        {BOOLARRAYOID, makeArrayResult(keys.whole, context)},
                        {NAMEARRAYOID, makeArrayResult(keys.unit, context)},
                        {INT8ARRAYOID, makeArrayResult(keys.until, context)}},
                       1) == 0
               ? -1
               : DatumGetInt32(CatalogValue(0, 1));
}

// The first table of the populations, also of those that have left, that counts releases for another unit than its own: what they cost says nothing
// of a person, whichever table of hers is trained on. 0: none does.
static Oid FindUnacceptedTable(const BudgetList* limits, NameData* unit) {
    int64 checked = 0;
    for (int b = 0; b < limits->count; ++b) {
        const int64 population_id = limits->items[b].population_id;
        if (population_id == 0 || population_id == checked)
            continue;
        checked = population_id;
        const PopulationTables tables = FindPopulationTables(population_id);
        const int found = FindUnaccepted(tables);
        if (found >= 0) {
            *unit = tables.items[found].unit;
            return tables.items[found].relid;
        }
    }
    return InvalidOid;
}

void CheckEarlierUnits(const RelationSet* relations, const BudgetList* limits) {
    const BudgetState* found = nullptr;
    NameData unit;
    CatalogScope scope;
    CatalogBegin(&scope);
    const Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    for (int b = 0; b < limits->count && found == nullptr; ++b) {
        const BudgetState* limit = &limits->items[b];
        for (int i = 0; i < relations->count; ++i) {
            if (!OidIsValid(limit->role) && relations->items[i].relid == limit->relid &&
                FindEarlierReleases(limit->relid, identities->of[i].counted, limit->privacy_unit,
                                    limit->earlier_until, limit->earlier_until)
                        .unaccepted > 0)
                found = limit;
        }
    }
    Oid relid = InvalidOid;
    if (found != nullptr) {
        relid = found->relid;
        namestrcpy(&unit, found->privacy_unit);
    } else {
        relid = FindUnacceptedTable(limits, &unit);
    }
    CatalogEnd(&scope);
    if (OidIsValid(relid))
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s counts releases that did not protect %s", DescribeRelation(relid),
                        DescribeUnit(NameStr(unit))),
                 errdetail("They were made before its privacy unit was declared, or on a table that became "
                           "part of it."),
                 errhint("Its owner can accept them, by dpboost_protect with accept_earlier => true.")));
}

char* DescribeUnit(const char* unit) {
    return unit[0] == '\0' ? pstrdup("each of its rows") : psprintf("all rows of one \"%s\" together", unit);
}

}  // namespace dpboost
