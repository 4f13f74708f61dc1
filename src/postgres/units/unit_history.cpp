// Running totals tell it: all releases that were charged to the same relations are one line there. A release that is in the
// accounts was charged to the limit's own relation, too.
#include "postgres/units/unit_history.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/population/population_tables.h"

namespace dpboost {
namespace {

struct UnitIdentities {
    ArrayBuildState* own;  // of the relations that have the limit
    ArrayBuildState* any;  // whose charges count for them: of their partitions as well
};

void AddTable(UnitIdentities* ids, Oid relid, const ArrayType* counted) {
    if (OidIsValid(relid))
        AccumulateIdentities(ids->any, DatumGetArrayTypeP(IdentitiesThatCount(relid, counted).any));
}

UnitIdentities IdentitiesOf(Oid relid, int64 population_id, const RelationSet* relations) {
    UnitIdentities ids = {initArrayResult(INT8OID, CurrentMemoryContext, false),
                          initArrayResult(INT8OID, CurrentMemoryContext, false)};
    if (population_id != 0) {
        const PopulationTables tables = FindPopulationTables(population_id);
        for (int i = 0; i < tables.count; ++i) {
            if (!OidIsValid(tables.items[i].relid))
                AccumulateIdentities(ids.own, tables.items[i].counted);
            AddTable(&ids, tables.items[i].relid, tables.items[i].counted);
        }
        return ids;
    }
    const Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    for (int i = 0; i < relations->count; ++i) {
        if (relations->items[i].relid != relid)
            continue;
        AccumulateIdentities(ids.own, identities->of[i].own);
        AddTable(&ids, relid, identities->of[i].counted);
    }
    return ids;
}

Parameter ArrayOf(ArrayBuildState* ids) {
    return {INT8ARRAYOID, makeArrayResult(ids, CurrentMemoryContext)};
}

bool IsMissing(const BudgetState* budget, const RelationSet* relations) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const UnitIdentities ids = IdentitiesOf(budget->relid, budget->population_id, relations);
    const bool missing = CatalogRead(
                             "SELECT FROM dpboost.unit_state AS s CROSS JOIN unnest($2) AS k(id)"
                             " JOIN dpboost.total AS t ON t.relation_ids @> ARRAY[k.id]"
                             " WHERE s.unit_state_id = $1 AND NOT t.relation_ids && $3"
                             " AND NOT (k.id = ANY (s.earlier_ids) AND t.last_release_id <= s.earlier_until)",
                             {Int8(budget->unit_state_id), ArrayOf(ids.any), ArrayOf(ids.own)}, 1) > 0;
    CatalogEnd(&scope);
    return missing;
}

}  // namespace

void RecordUnitHistory(int64 unit_state_id, Oid relid, int64 population_id) {
    const UnitIdentities ids = IdentitiesOf(relid, population_id, FamilyOf(relid));
    CatalogWrite(
        "UPDATE dpboost.unit_state SET earlier_ids = $2,"
        " earlier_until = (SELECT coalesce(max(release_id), 0) FROM dpboost.ledger) WHERE unit_state_id = $1",
        {Int8(unit_state_id), ArrayOf(ids.any)});
}

void CheckUnitHistory(const BudgetList* budgets, const RelationSet* relations) {
    int64 checked = 0;
    for (int b = 0; b < budgets->count; ++b) {
        const BudgetState* budget = &budgets->items[b];
        if (budget->unit_state_id == 0 || budget->unit_state_id == checked)
            continue;
        checked = budget->unit_state_id;
        if (IsMissing(budget, relations))
            ereport(
                ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("releases that count for %s are not in its persons' accounts",
                        DescribeBudget(budget)),
                 errdetail("They were made on a table that became part of it, before it was."),
                 errhint(
                     "Detach that table: what is released of its persons would be more than they have.")));
    }
}

}  // namespace dpboost
