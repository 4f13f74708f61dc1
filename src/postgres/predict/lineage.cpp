#include "postgres/predict/lineage.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "privacy/accountant/calibrate.h"

namespace dpboost {
namespace {

constexpr char kFindOwn[] =
    "SELECT l.plan, m.options #> '{update,version}' IS NOT NULL FROM dpboost.ledger AS l"
    " LEFT JOIN dpboost.model AS m USING (release_id) WHERE l.release_id = $1";

// Of an update.
constexpr char kFindAll[] =
    "WITH RECURSIVE way(release_id, name_id, before) AS ("
    "  SELECT release_id, name_id, (options #>> '{update,version}')::int FROM dpboost.model"
    "  WHERE release_id = $1"
    "  UNION ALL SELECT m.release_id, m.name_id, (m.options #>> '{update,version}')::int"
    "  FROM way AS w JOIN dpboost.model AS m ON m.name_id = w.name_id AND m.version = w.before),"
    " lost(name_id, version) AS (SELECT name_id, before FROM way AS w WHERE NOT EXISTS ("
    "  SELECT FROM dpboost.model AS m WHERE m.name_id = w.name_id AND m.version = w.before))"
    " SELECT plan FROM (SELECT release_id FROM way UNION SELECT l.release_id FROM dpboost.ledger AS l"
    "  JOIN lost AS o ON o.name_id = l.name_id AND l.version <= o.version WHERE l.kind = 'training'"
    "  UNION SELECT g.release_id FROM dpboost.group_model AS g"
    "  JOIN lost AS o ON o.name_id = g.name_id AND g.version <= o.version) AS r"
    " JOIN dpboost.ledger USING (release_id) ORDER BY release_id DESC";

}  // namespace

Lineage LineageOf(int64 release_id) {
    const MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    uint64 rows = CatalogRead(kFindOwn, {Int8(release_id)}, 1);
    bool is_null;
    if (rows > 0 && DatumGetBool(CatalogValue(0, 2, &is_null)))
        rows = CatalogRead(kFindAll, {Int8(release_id)});
    Lineage lineage = {static_cast<int>(rows), nullptr};
    const MemoryContext inner = MemoryContextSwitchTo(outer);
    lineage.plans =
        static_cast<const struct varlena**>(palloc0(sizeof(struct varlena*) * (lineage.count + 1)));
    for (int i = 0; i < lineage.count; ++i)
        lineage.plans[i] = PG_DETOAST_DATUM_COPY(CatalogValue(i, 1));
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    return lineage;
}

Cost CostOf(const Lineage& lineage) {
    const auto parse = [&](int i) {
        return Cost::Parse({VARDATA_ANY(lineage.plans[i]), VARSIZE_ANY_EXHDR(lineage.plans[i])});
    };
    Cost cost = parse(0);
    for (int i = 1; i < lineage.count; ++i) {
        const Cost before = parse(i);
        cost.events.insert(cost.events.end(), before.events.begin(), before.events.end());
    }
    if (lineage.count == 1)
        return cost;
    cost.aside.reset();
    cost.epsilon = ProvenEpsilon(cost.events, cost.delta);
    cost.curve = EventsCurve(cost.events);
    return cost;
}

double LineageEpsilon(const Lineage& lineage, double own) {
    if (lineage.count <= 1)
        return own;
    double epsilon = own;
    CallCore([&] { epsilon = std::max(own, CostOf(lineage).epsilon); });
    return epsilon;
}

}  // namespace dpboost
