// Opens accounts. Whoever is present when a limit with a history is switched over starts at what all its releases have
// cost, at the limit's order: each of them may have been in all of them. For somebody who was in none that is too much;
// who was, and has no rows now, starts anew when he comes back, which doc/units.md says. From the first look at the ledger
// until the commit no release can be charged, so that none is missed and none is of persons that were not seen.
#include <algorithm>
#include <vector>

#include "postgres/units/unit_start.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/columns/row_reader.h"
#include "postgres/columns/source_column.h"
#include "postgres/limits/budget.h"
#include "postgres/population/population_tables.h"
#include "postgres/reading/fresh_settings.h"
#include "postgres/units/unit_history.h"
#include "postgres/units/unit_state.h"

namespace dpboost {
namespace {

constexpr int kRowsAtOnce = 1000;

// The limit whose accounts are to be opened, as it stands now.
const BudgetState* FindLimit(const BudgetList* budgets, Oid relid, int64 population_id) {
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->relid == relid && !OidIsValid(budget->role) && budget->population_id == population_id)
            return budget;
    }
    elog(ERROR, "there is no limit to open accounts for");
    return nullptr;
}

// What is common to all accounts of a limit when they are opened, and who has one.
struct Start {
    uint32_t spent = 0;
    std::vector<UnitKey> keys;
    std::string bytes;
};

// The persons that a relation shows now, with the rights of the caller, who owns it. All of them: row security that would
// hide some, and give them new accounts, is an error.
void ReadPersons(Oid relid, const char* unit, Start* start) {
    if (IsolationUsesXactSnapshot())
        ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
                        errmsg("cannot open accounts for persons in this transaction"),
                        errdetail("It does not see all rows that others have committed."),
                        errhint("Use READ COMMITTED.")));
    const Oid type = getBaseType(FindColumn(relid, unit).type);
    // Values that a collation takes for equal are persons of their own.
    const char* query = psprintf(
        "SELECT DISTINCT %s%s FROM %s", quote_identifier(unit),
        OidIsValid(get_typcollation(type)) ? " COLLATE pg_catalog.\"C\"" : "",
        quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid)));
    const int level = NewGUCNestLevel();
    PinSetting("row_security", "off");
    if (SPI_connect() != SPI_OK_CONNECT)
        elog(ERROR, "could not connect to SPI");
    Portal portal = SPI_cursor_open_with_args(nullptr, query, 0, nullptr, nullptr, nullptr, false, 0);
    uint64 rows;
    do {
        SPI_cursor_fetch(portal, true, kRowsAtOnce);
        rows = SPI_processed;
        for (uint64 row = 0; row < rows; ++row) {
            bool is_null;
            const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &is_null);
            if (is_null)
                continue;
            const UnitKey key = ReadUnit(type, value);
            CallCore([&] { start->keys.push_back(key); });
        }
        SPI_freetuptable(SPI_tuptable);
    } while (rows > 0);
    SPI_cursor_close(portal);
    SPI_finish();
    AtEOXact_GUC(true, level);
}

void ReadAllPersons(Oid relid, int64 population_id, const NameData& unit, Start* start) {
    if (population_id == 0) {
        ReadPersons(relid, NameStr(unit), start);
        return;
    }
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    const PopulationTables found = FindPopulationTables(population_id);
    MemoryContext inner = MemoryContextSwitchTo(outer);
    PopulationTables tables = {found.count, nullptr};
    tables.items = static_cast<PopulationTable*>(palloc0(sizeof(PopulationTable) * (found.count + 1)));
    memcpy(static_cast<void*>(tables.items), found.items, sizeof(PopulationTable) * found.count);
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    for (int i = 0; i < tables.count; ++i) {
        const PopulationTable& table = tables.items[i];
        if (!OidIsValid(table.relid))
            continue;
        if (NameStr(table.unit)[0] == '\0')
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("%s of the population names no person", DescribeRelation(table.relid)),
                            errhint("Protect it with a privacy_unit first.")));
        ReadPersons(table.relid, NameStr(table.unit), start);
    }
}

// In the core.
void OpenAll(const char* salt, const UnitLimit& limit, Start* start, Interrupt& interrupt) {
    const auto less = [](const UnitKey& a, const UnitKey& b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    };
    std::sort(start->keys.begin(), start->keys.end(), less);
    start->keys.erase(std::unique(start->keys.begin(), start->keys.end()), start->keys.end());
    UnitBook book(std::string_view(salt, kUnitSaltSize), {}, limit);
    book.SetUnits(start->keys, interrupt);
    book.FinishLoading(interrupt);
    for (size_t unit = 0; unit < book.units(); ++unit)
        book.Set(unit, start->spent);
    book.TouchAll();
    start->bytes = book.WriteOut(interrupt);
}

int64 WriteState(char family, const char* salt) {
    auto* bytes = static_cast<bytea*>(palloc(kUnitSaltSize + VARHDRSZ));
    SET_VARSIZE(bytes, kUnitSaltSize + VARHDRSZ);
    memcpy(VARDATA(bytes), salt, kUnitSaltSize);
    CatalogWrite("INSERT INTO dpboost.unit_state (salt, key_family) VALUES ($1, $2) RETURNING unit_state_id",
                 {{BYTEAOID, PointerGetDatum(bytes)}, {CHAROID, CharGetDatum(family)}});
    return DatumGetInt64(CatalogValue(0, 1));
}

void NameState(int64 id, ArrayType* ids, int64 population_id) {
    const uint64 named =
        population_id != 0
            ? CatalogWrite("UPDATE dpboost.population SET unit_state_id = $1 WHERE population_id = $2",
                           {Int8(id), Int8(population_id)})
            : CatalogWrite("UPDATE dpboost.protection SET unit_state_id = $1 WHERE relation_id = ANY ($2)",
                           {Int8(id), Int8s(ids)});
    if (named == 0)
        elog(ERROR, "there is no limit to open accounts for");
}

}  // namespace

Accounting ReadAccounting(const char* text) {
    if (strcmp(text, "release") == 0)
        return Accounting::kRelease;
    if (strcmp(text, "unit") == 0)
        return Accounting::kUnit;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("accounting must be \"release\" or \"unit\", not \"%s\"", text)));
    pg_unreachable();
}

void PrimaryKeyUnit(Oid relid, NameData* unit) {
    Relation relation = relation_open(relid, AccessShareLock);
    Bitmapset* key = RelationGetIndexAttrBitmap(relation, INDEX_ATTR_BITMAP_PRIMARY_KEY);
    int column;
    const bool is_one = bms_get_singleton_member(key, &column);
    relation_close(relation, NoLock);
    if (!is_one)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("%s does not say who a person is", DescribeRelation(relid)),
             errdetail("Every person has an account, by the privacy unit or a primary key of one column."),
             errhint("Name a privacy_unit.")));
    const auto attnum = static_cast<AttrNumber>(column + FirstLowInvalidHeapAttributeNumber);
    namestrcpy(unit, get_attname(relid, attnum, false));
}

int64 UnitStateOf(ArrayType* ids, int64 population_id) {
    CatalogRead(
        "SELECT coalesce(CASE WHEN $2 <> 0"
        " THEN (SELECT unit_state_id FROM dpboost.population WHERE population_id = $2)"
        " ELSE (SELECT max(unit_state_id) FROM dpboost.protection WHERE relation_id = ANY ($1)) END, 0)",
        {Int8s(ids), Int8(population_id)}, 1);
    return DatumGetInt64(CatalogValue(0, 1));
}

void StartUnits(const ReadRelation* relation, ArrayType* ids, int64 population_id, const NameData& unit,
                Oid caller) {
    const char family = KeyFamily(FindColumn(relation->relid, NameStr(unit)).type);
    LockRelationOid(get_relname_relid("charge_lock", get_namespace_oid("dpboost", false)), ExclusiveLock);
    const BudgetState* limit =
        FindLimit(LoadBudgets(caller, FamilyOf(relation->relid)), relation->relid, population_id);
    auto* start = CoreState<Start>::Make(CurrentMemoryContext);
    CallCore([&] {
        const UnitLimit of(limit->epsilon, limit->delta, limit->order);
        (*start)->spent = of.StartAfter(limit->spent);
    });
    if (limit->spent.releases > 0)
        ReadAllPersons(relation->relid, population_id, unit, &**start);
    char salt[kUnitSaltSize];
    if (!pg_strong_random(salt, sizeof salt))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] {
        PgInterrupt interrupt;
        OpenAll(salt, UnitLimit(limit->epsilon, limit->delta, limit->order), &**start, interrupt);
    });
    CatalogScope scope;
    CatalogBegin(&scope);
    const int64 id = WriteState(family, salt);
    NameState(id, ids, population_id);
    RecordUnitHistory(id, relation->relid, population_id);
    if (!WriteUnitBuckets(id, 0, (*start)->bytes.data(), (*start)->bytes.size()))
        elog(ERROR, "new accounts were changed by somebody else");
    CatalogEnd(&scope);
}

void CheckAllBelong(int64 population_id) {
    if (CatalogRead(
            "SELECT c.oid FROM dpboost.population_member AS m JOIN dpboost.relation_name AS n USING "
            "(relation_id)"
            " JOIN pg_class AS c ON c.oid = n.relation::oid WHERE m.population_id = $1 AND NOT EXISTS ("
            "  SELECT FROM dpboost.relation_name AS o JOIN dpboost.protection AS p USING (relation_id)"
            "  WHERE o.relation::oid = c.oid AND p.population_id = $1)",
            {Int8(population_id)}, 1) > 0)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s has left the population", DescribeRelation(DatumGetObjectId(CatalogValue(0, 1)))),
                 errdetail("What is released from it would not be in its persons' accounts."),
                 errhint("Protect it again with the population, or drop it.")));
}

bool BelongsTo(int64 population_id, ArrayType* ids) {
    return CatalogRead("SELECT FROM dpboost.protection WHERE population_id = $1 AND relation_id = ANY ($2)",
                       {Int8(population_id), Int8s(ids)}, 1) > 0;
}

void CheckMayJoinUnits(int64 id, const ReadRelation* relation, const NameData& unit,
                       const ArrayType* counted) {
    if (NameStr(unit)[0] == '\0')
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s does not say who a person is", DescribeRelation(relation->relid)),
                        errdetail("Every person of the population has an account."),
                        errhint("Name a privacy_unit.")));
    const StoredUnits stored = ReadStoredUnits(id, "the population");
    if (stored.family != KeyFamily(FindColumn(relation->relid, NameStr(unit)).type))
        ereport(
            ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("\"%s\" of %s has another kind of type than what tells the population's persons apart",
                    NameStr(unit), DescribeRelation(relation->relid)),
             errdetail("So the same person would have two accounts.")));
    const CountedIdentities ids = IdentitiesThatCount(relation->relid, counted);
    if (CatalogRead(
            "SELECT FROM dpboost.charge WHERE relation_id = ANY ($1) OR direct AND relation_id = ANY ($2)",
            {{INT8ARRAYOID, ids.any}, {INT8ARRAYOID, ids.direct}}, 1) > 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("there are releases from %s already", DescribeRelation(relation->relid)),
                        errdetail("They are not in the accounts of the population's persons.")));
}

}  // namespace dpboost
