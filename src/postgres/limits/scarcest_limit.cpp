#include "postgres/limits/scarcest_limit.h"

#include "base/text.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/limits/visible_limits.h"
#include "privacy/budget.h"

namespace dpboost {
namespace {

// As the ledger writes it; null for a relation that is gone.
const char* NameOf(Oid relid) {
    const char* name = get_rel_name(relid);
    return name == nullptr ? nullptr
                           : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

// The relations of a release, by name.
List* NamesRead(int64 release_id) {
    const uint64 rows = CatalogRead(
        "SELECT pg_catalog.unnest(relations) FROM dpboost.ledger WHERE release_id = $1", {Int8(release_id)});
    List* names = NIL;
    for (uint64 row = 0; row < rows; ++row)
        names = lappend(names, makeString(TextDatumGetCString(CatalogValue(row, 1))));
    return names;
}

// Those of the limits that count releases and are on these relations.
BudgetList* LimitsOn(const BudgetList* all, const List* names) {
    const size_t size = offsetof(BudgetList, items) + sizeof(BudgetState) * (all->count + 1);
    auto* some = static_cast<BudgetList*>(palloc0(size));
    for (int i = 0; i < all->count; ++i) {
        const BudgetState* limit = &all->items[i];
        const char* name =
            OidIsValid(limit->relid) && limit->unit_state_id == 0 ? NameOf(limit->relid) : nullptr;
        if (name != nullptr && list_member(names, makeString(pstrdup(name))))
            some->items[some->count++] = *limit;
    }
    return some;
}

}  // namespace

ScarcestLimit FindScarcest(Oid viewer, int64 release_id) {
    const MemoryContext outer = CurrentMemoryContext;
    ScarcestLimit scarcest = {};
    CatalogScope scope;
    CatalogBegin(&scope);
    const VisibleLimits visible = FindVisibleLimits(viewer);
    const BudgetList* limits = LimitsOn(visible.budgets, NamesRead(release_id));
    const LimitTotals* totals = FindTotals(limits, visible.relations, visible.identities);
    for (int i = 0; i < limits->count; ++i) {
        const BudgetState& limit = limits->items[i];
        BudgetRemaining left;
        CallCore([&] {
            left = Budget::Restore(limit.epsilon, limit.delta, limit.order, SumOf(totals[i]).At(limit.order))
                       .Remaining();
        });
        if (scarcest.relation != nullptr && left.share >= scarcest.share)
            continue;
        scarcest = {MemoryContextStrdup(outer, NameOf(limit.relid)),
                    OidIsValid(limit.role) ? MemoryContextStrdup(outer, limit.role_name) : nullptr,
                    RoundedDown(left.share), RoundedDown(left.epsilon)};
    }
    CatalogEnd(&scope);
    return scarcest;
}

}  // namespace dpboost
