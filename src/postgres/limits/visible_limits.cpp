// Finds the limits that a role may see.
#include "postgres/limits/visible_limits.h"

#include "postgres/catalog/catalog.h"
#include "postgres/population/population_tables.h"

namespace dpboost {
namespace {

// Every relation on which `viewer` may see a limit, by name.
RelationSet* LimitedRelations(Oid viewer) {
    const uint64 rows = CatalogRead(
        "SELECT c.oid, c.relowner, s.nspname, c.relname"
        " FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace"
        " WHERE c.oid IN (SELECT relation::oid FROM dpboost.allowance WHERE NOT revoked AND grantee::oid IN ("
        "  SELECT oid FROM pg_roles WHERE pg_has_role($1, oid, 'USAGE')))"
        " OR c.oid IN (SELECT relation::oid FROM dpboost.allowance WHERE NOT revoked"
        "  UNION ALL SELECT n.relation::oid FROM dpboost.relation_name AS n JOIN dpboost.protection USING "
        "(relation_id)"
        "  UNION ALL SELECT k.oid FROM dpboost.relation_name AS n JOIN dpboost.protection USING (relation_id)"
        "   JOIN pg_namespace AS m ON m.nspname = n.schema_name"
        "   JOIN pg_class AS k ON k.relnamespace = m.oid AND k.relname = n.relation_name)"
        "  AND ($2 OR pg_has_role($1, c.relowner, 'USAGE'))"
        " ORDER BY c.relname, c.oid",
        {OidOf(viewer), {BOOLOID, BoolGetDatum(SeesAll(viewer))}});
    return RelationsRead(rows);
}

bool IsVisible(const BudgetState* budget, const bool* owned, const bool* usable, Oid viewer) {
    if (owned[budget->position])
        return true;
    return OidIsValid(budget->role) ? has_privs_of_role(viewer, budget->role) : usable[budget->position];
}

// Those of the limits that `viewer` may see, relation by relation.
BudgetList* Visible(const BudgetList* all, const RelationSet* relations, Oid viewer) {
    auto* owned = static_cast<bool*>(palloc0(relations->count + 1));
    auto* usable = static_cast<bool*>(palloc0(relations->count + 1));
    auto* end = static_cast<int*>(palloc0(sizeof(int) * (relations->count + 2)));
    for (int i = 0; i < relations->count; ++i)
        owned[i] = SeesAll(viewer) || OwnsRelation(relations->items[i].relid, viewer);
    for (int i = 0; i < all->count; ++i) {
        const BudgetState* budget = &all->items[i];
        usable[budget->position] |= OidIsValid(budget->role) && has_privs_of_role(viewer, budget->role);
    }
    for (int i = 0; i < all->count; ++i)
        end[all->items[i].position + 1] += IsVisible(&all->items[i], owned, usable, viewer) ? 1 : 0;
    for (int i = 0; i < relations->count; ++i)
        end[i + 1] += end[i];
    auto* visible = static_cast<BudgetList*>(
        palloc0(offsetof(BudgetList, items) + (end[relations->count] + 1) * sizeof(BudgetState)));
    visible->count = end[relations->count];
    for (int i = 0; i < all->count; ++i) {
        if (IsVisible(&all->items[i], owned, usable, viewer))
            visible->items[end[all->items[i].position]++] = all->items[i];
    }
    return visible;
}

// The populations of the visible limits, and those that `viewer` owns: their caps, once each.
BudgetList* PopulationCaps(const BudgetList* visible, Oid viewer) {
    ArrayBuildState* used = initArrayResult(INT8OID, CurrentMemoryContext, false);
    for (int i = 0; i < visible->count; ++i) {
        if (visible->items[i].population_id != 0)
            accumArrayResult(used, Int64GetDatum(visible->items[i].population_id), false, INT8OID,
                             CurrentMemoryContext);
    }
    const uint64 rows = CatalogRead(
        "SELECT q.population_id, q.name, q.epsilon, q.delta, q.rdp_order,"
        " (SELECT coalesce(sum(earlier_releases), 0)::bigint FROM dpboost.protection AS p"
        "  WHERE p.population_id = q.population_id), coalesce(q.unit_state_id, 0)"
        " FROM dpboost.population AS q WHERE population_id = ANY ($1) OR NOT dropped AND ($3"
        "  OR owner::oid IN (SELECT oid FROM pg_roles WHERE pg_has_role($2, oid, 'USAGE'))) ORDER BY q.name",
        {{INT8ARRAYOID, makeArrayResult(used, CurrentMemoryContext)},
         OidOf(viewer),
         {BOOLOID, BoolGetDatum(SeesAll(viewer))}});
    auto* caps =
        static_cast<BudgetList*>(palloc0(offsetof(BudgetList, items) + (rows + 1) * sizeof(BudgetState)));
    for (uint64 row = 0; row < rows; ++row) {
        BudgetState* cap = &caps->items[caps->count++];
        cap->population_id = DatumGetInt64(CatalogValue(row, 1));
        strlcpy(cap->population_name, NameStr(*DatumGetName(CatalogValue(row, 2))), NAMEDATALEN);
        cap->epsilon = DatumGetFloat8(CatalogValue(row, 3));
        cap->delta = DatumGetFloat8(CatalogValue(row, 4));
        cap->order = static_cast<uint32>(DatumGetInt64(CatalogValue(row, 5)));
        cap->earlier_releases = DatumGetInt64(CatalogValue(row, 6));
        cap->unit_state_id = DatumGetInt64(CatalogValue(row, 7));
        cap->max_epsilon_per_train = std::numeric_limits<double>::infinity();
    }
    return caps;
}

// What a table's membership says about it, its unit and its population, its other limits say as well.
void AddMembership(BudgetState* limit, const BudgetList* visible, const int* memberships, int count) {
    for (int i = 0; i < count; ++i) {
        const BudgetState* membership = &visible->items[memberships[i]];
        if (membership->relid != limit->relid)
            continue;
        strlcpy(limit->population_name, membership->population_name, NAMEDATALEN);
        if (limit->privacy_unit[0] == '\0')
            strlcpy(limit->privacy_unit, membership->privacy_unit, NAMEDATALEN);
    }
}

// The limits with those of populations once, at the end, and not once for each table.
BudgetList* WithPopulations(const BudgetList* visible, Oid viewer) {
    const BudgetList* caps = PopulationCaps(visible, viewer);
    auto* all = static_cast<BudgetList*>(
        palloc0(offsetof(BudgetList, items) + (visible->count + caps->count + 1) * sizeof(BudgetState)));
    auto* memberships = static_cast<int*>(palloc(sizeof(int) * (visible->count + 1)));
    int count = 0;
    for (int i = 0; i < visible->count; ++i) {
        if (visible->items[i].population_id != 0)
            memberships[count++] = i;
    }
    for (int i = 0; i < visible->count; ++i) {
        if (visible->items[i].population_id != 0)
            continue;
        all->items[all->count] = visible->items[i];
        AddMembership(&all->items[all->count++], visible, memberships, count);
    }
    memcpy(&all->items[all->count], caps->items, caps->count * sizeof(BudgetState));
    all->count += caps->count;
    return all;
}

}  // namespace

bool SeesAll(Oid viewer) {
    return has_privs_of_role(viewer, get_role_oid("pg_read_all_stats", false));
}

void CheckMaySeeRelease(Oid function, int64 release_id) {
    const char* schema = get_namespace_name(get_func_namespace(function));  // the extension's
    if (SPI_connect() != SPI_OK_CONNECT)
        elog(ERROR, "could not connect to SPI");
    const bool found = ReadAsCaller(psprintf("SELECT FROM %s WHERE release_id OPERATOR(pg_catalog.=) $1",
                                             quote_qualified_identifier(schema, "dpboost_ledger")),
                                    {Int8(release_id)}, 1) > 0;
    SPI_finish();
    if (!found)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("there is no release " INT64_FORMAT " in dpboost_ledger", release_id),
                        errdetail("It shows one's own releases, and all from one's own tables.")));
}

VisibleLimits FindVisibleLimits(Oid viewer) {
    VisibleLimits visible;
    const RelationSet* relations = LimitedRelations(viewer);
    const Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    visible.budgets =
        WithPopulations(Visible(CollectLimits(relations, identities), relations, viewer), viewer);
    AddPopulations(visible.budgets, &relations, &identities);
    visible.relations = relations;
    visible.identities = identities;
    return visible;
}

}  // namespace dpboost
