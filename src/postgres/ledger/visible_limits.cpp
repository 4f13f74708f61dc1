// Finds the limits that a role may see.
#include "postgres/ledger/visible_limits.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

// Every relation on which `viewer` may see a limit, by name.
RelationSet* LimitedRelations(Oid viewer) {
    const Oid types[] = {OIDOID};
    const Datum values[] = {ObjectIdGetDatum(viewer)};
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
        "  AND pg_has_role($1, c.relowner, 'USAGE')"
        " ORDER BY c.relname, c.oid",
        1, types, values, nullptr, 0);
    auto* set =
        static_cast<RelationSet*>(palloc0(offsetof(RelationSet, items) + (rows + 1) * sizeof(ReadRelation)));
    for (uint64 row = 0; row < rows; ++row) {
        ReadRelation* relation = &set->items[set->count++];
        relation->relid = DatumGetObjectId(CatalogValue(row, 1));
        relation->owner = DatumGetObjectId(CatalogValue(row, 2));
        strlcpy(relation->schema_name, NameStr(*DatumGetName(CatalogValue(row, 3))), NAMEDATALEN);
        strlcpy(relation->relation_name, NameStr(*DatumGetName(CatalogValue(row, 4))), NAMEDATALEN);
    }
    return set;
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
        owned[i] = OwnsRelation(relations->items[i].relid, viewer);
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

}  // namespace

VisibleLimits FindVisibleLimits(Oid viewer) {
    VisibleLimits visible;
    visible.relations = LimitedRelations(viewer);
    visible.identities = ResolveIdentities(visible.relations, CurrentMemoryContext);
    visible.budgets =
        Visible(CollectLimits(visible.relations, visible.identities), visible.relations, viewer);
    return visible;
}

}  // namespace dpboost
