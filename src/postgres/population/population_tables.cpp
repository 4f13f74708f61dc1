// Looks up what counts for a population.
#include "postgres/population/population_tables.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

// The relations that now bear one of the identities, or one of the names under which they were seen.
RelationSet* Candidates(int64 population_id) {
    const uint64 rows = CatalogRead(
        "SELECT DISTINCT c.oid, c.relowner, s.nspname, c.relname"
        " FROM dpboost.population_member AS m JOIN dpboost.relation_name AS n USING (relation_id)"
        " JOIN pg_class AS c ON c.oid = n.relation::oid OR c.oid = to_regclass(format('%I.%I', n.schema_name,"
        "  n.relation_name)) JOIN pg_namespace AS s ON s.oid = c.relnamespace"
        " WHERE m.population_id = $1 ORDER BY c.oid",
        {Int8(population_id)});
    return RelationsRead(rows);
}

ArrayType* OnlyId(int64 id) {
    Datum value = Int64GetDatum(id);
    return construct_array(&value, 1, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

Identity IdentityOfPopulation(int64 population_id) {
    const PopulationTables tables = FindPopulationTables(population_id);
    ArrayBuildState* any = initArrayResult(INT8OID, CurrentMemoryContext, false);
    ArrayBuildState* whole = initArrayResult(INT8OID, CurrentMemoryContext, false);
    for (int i = 0; i < tables.count; ++i) {
        const CountedIdentities counted = IdentitiesThatCount(tables.items[i].relid, tables.items[i].counted);
        AccumulateIdentities(any, DatumGetArrayTypeP(counted.any));
        AccumulateIdentities(whole, DatumGetArrayTypeP(counted.direct));
    }
    return {nullptr, DatumGetArrayTypeP(makeArrayResult(any, CurrentMemoryContext)),
            DatumGetArrayTypeP(makeArrayResult(whole, CurrentMemoryContext))};
}

// The position of a population among those that were added, or -1.
int FindAdded(const BudgetList* budgets, int before, int64 population_id) {
    for (int b = 0; b < before; ++b) {
        if (budgets->items[b].population_id == population_id)
            return budgets->items[b].position;
    }
    return -1;
}

}  // namespace

PopulationTables FindPopulationTables(int64 population_id) {
    const RelationSet* candidates = Candidates(population_id);
    const Identities* identities = ResolveIdentities(candidates, CurrentMemoryContext);
    const uint64 rows = CatalogRead(
        "SELECT m.relation_id, CASE WHEN p.relation_id IS NOT NULL THEN p.privacy_unit ELSE m.privacy_unit "
        "END,"
        " CASE WHEN p.relation_id IS NOT NULL THEN p.earlier_until ELSE m.earlier_until END"
        " FROM dpboost.population_member AS m LEFT JOIN dpboost.protection AS p"
        " ON p.relation_id = m.relation_id AND p.population_id = m.population_id WHERE m.population_id = $1",
        {Int8(population_id)});
    PopulationTables tables = {0, nullptr};
    tables.items = static_cast<PopulationTable*>(
        palloc0(sizeof(PopulationTable) * (rows * (candidates->count + 1) + 1)));
    for (uint64 row = 0; row < rows; ++row) {
        const int64 relation_id = DatumGetInt64(CatalogValue(row, 1));
        PopulationTable table = {InvalidOid, OnlyId(relation_id), {}, 0};
        bool is_null;
        const Datum unit = CatalogValue(row, 2, &is_null);
        if (!is_null)
            table.unit = *DatumGetName(unit);
        table.earlier_until = DatumGetInt64(CatalogValue(row, 3));
        tables.items[tables.count++] =
            table;  // also if a living relation has it: a charge keeps its identity
        for (int i = 0; i < candidates->count; ++i) {
            if (!HasIdentity(identities->of[i].own, relation_id))
                continue;
            table.relid = candidates->items[i].relid;
            table.counted = identities->of[i].counted;
            tables.items[tables.count++] = table;
        }
    }
    return tables;
}

void AddPopulations(BudgetList* budgets, const RelationSet** relations, const Identities** identities) {
    int most = 0;
    for (int b = 0; b < budgets->count; ++b)
        most += budgets->items[b].population_id != 0 ? 1 : 0;
    if (most == 0)
        return;
    const int count = (*relations)->count;
    auto* set = static_cast<RelationSet*>(
        palloc0(offsetof(RelationSet, items) + (count + most) * sizeof(ReadRelation)));
    memcpy(set, *relations, offsetof(RelationSet, items) + count * sizeof(ReadRelation));
    auto* all =
        static_cast<Identities*>(palloc0(offsetof(Identities, of) + (count + most) * sizeof(Identity)));
    memcpy(all, *identities, offsetof(Identities, of) + count * sizeof(Identity));
    for (int b = 0; b < budgets->count; ++b) {
        BudgetState* budget = &budgets->items[b];
        if (budget->population_id == 0)
            continue;
        budget->position = FindAdded(budgets, b, budget->population_id);
        if (budget->position >= 0)
            continue;
        budget->position = set->count++;
        all->of[all->count++] = IdentityOfPopulation(budget->population_id);
    }
    *relations = set;
    *identities = all;
}

}  // namespace dpboost
