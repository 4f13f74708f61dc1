// Looks for charges of another privacy unit. An index finds them without reading the others.
#include "postgres/ledger/earlier_units.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/population_tables.h"

namespace dpboost {

// Appends the releases whose unit is as said, of all identities that count.
static void AppendReleases(StringInfo query, const char* unit) {
    appendStringInfo(query,
                     "%s SELECT release_id FROM dpboost.charge"
                     " WHERE relation_id = ANY ($1) AND privacy_unit %s AND release_id > $4"
                     " UNION SELECT release_id FROM dpboost.charge"
                     " WHERE relation_id = ANY ($2) AND direct AND privacy_unit %s AND release_id > $4",
                     query->len > 0 ? " UNION" : "", unit, unit);
}

EarlierReleases CountEarlierReleases(Oid relid, const ArrayType* counted, const char* unit, int64 accepted) {
    const CountedIdentities ids = IdentitiesThatCount(relid, counted);
    NameData name;
    namestrcpy(&name, unit);
    StringInfoData releases;
    initStringInfo(&releases);
    if (unit[0] == '\0') {
        AppendReleases(&releases, "= $3");  // a release for persons bounds their rows as well
    } else {
        AppendReleases(&releases, "IS NULL");
        AppendReleases(&releases, "< $3");
        AppendReleases(&releases, "> $3");
    }
    const Oid types[] = {INT8ARRAYOID, INT8ARRAYOID, NAMEOID, INT8OID};
    const Datum values[] = {ids.any, ids.direct, NameGetDatum(&name), Int64GetDatum(accepted)};
    CatalogRead(psprintf("SELECT count(*), coalesce(max(release_id), 0) FROM (%s) AS r", releases.data), 4,
                types, values, nullptr, 1);
    return {DatumGetInt64(CatalogValue(0, 1)), DatumGetInt64(CatalogValue(0, 2))};
}

// The first table of the populations that counts releases for another unit than its own: what they cost says nothing
// of a person, whichever table of hers is trained on. 0: none does.
static Oid FindUnacceptedTable(const BudgetList* limits, NameData* unit) {
    int64 checked = 0;
    for (int b = 0; b < limits->count; ++b) {
        const int64 population_id = limits->items[b].population_id;
        if (population_id == 0 || population_id == checked)
            continue;
        checked = population_id;
        const PopulationTables tables = FindPopulationTables(population_id);
        for (int i = 0; i < tables.count; ++i) {
            const PopulationTable& table = tables.items[i];
            if (table.belongs && OidIsValid(table.relid) &&
                CountEarlierReleases(table.relid, table.counted, NameStr(table.unit), table.earlier_until)
                        .count > 0) {
                *unit = table.unit;
                return table.relid;
            }
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
                CountEarlierReleases(limit->relid, identities->of[i].counted, limit->privacy_unit,
                                     limit->earlier_until)
                        .count > 0)
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
