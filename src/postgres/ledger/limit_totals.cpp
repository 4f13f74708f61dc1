// Reads and keeps the running totals of limits. The condition by which a release counts against a limit stands
// here twice, once for lines and once for the ledger; dpboost_verify() and the tests compare the two.
#include "postgres/ledger/limit_totals.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/counted_keys.h"
#include "postgres/ledger/total_lines.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_add_cost);
}

namespace dpboost {
namespace {

std::string_view BytesOf(const bytea* value) {
    return std::string_view(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

// Marks the relations to one of whose identities a charge was made that no line knows; whether there are any.
// Charges were read before the lines, which know all that was committed when they were read.
bool FindBehind(const CountedKeys& keys, const int64* last_charges, const TotalLines& lines, bool* behind) {
    auto* known = static_cast<int64*>(palloc0(sizeof(int64) * (keys.count + 1)));
    for (int i = 0; i < lines.count; ++i) {
        int64* last = &known[FindKey(keys, lines.items[i].id)];
        *last = Max(*last, lines.items[i].last_release_id);
    }
    bool any = false;
    for (int k = 0; k < keys.count; ++k) {
        const int first = FindKey(keys, keys.items[k].id);
        behind[keys.items[k].position] |= last_charges[first] > known[first];
        any |= last_charges[first] > known[first];
    }
    return any;
}

bool WasCharged(const TotalLine* line, const BudgetState* budget) {
    if (!OidIsValid(budget->role) || HasRole(line->roles, budget->role))
        return true;
    const ArrayType* names = line->role_names;
    const int count = ArrayGetNItems(ARR_NDIM(names), ARR_DIMS(names));
    for (int i = 0; i < count; ++i) {
        const char* name = ARR_DATA_PTR(names) + static_cast<size_t>(i) * NAMEDATALEN;
        if (strncmp(name, budget->role_name, NAMEDATALEN) == 0 ||
            strncmp(name, budget->granted_name, NAMEDATALEN) == 0)
            return true;
    }
    return false;
}

void Append(LimitTotals* totals, const bytea* spent) {
    if (totals->count == totals->capacity) {
        totals->capacity = totals->capacity * 2 + 2;
        const size_t size = sizeof(bytea*) * static_cast<size_t>(totals->capacity);
        totals->items = static_cast<const bytea**>(totals->items == nullptr ? palloc(size)
                                                                            : repalloc(totals->items, size));
    }
    totals->items[totals->count++] = spent;
}

// The lines that count for each relation, in the order of their first releases.
struct RelationLine {
    const TotalLine* line;
    bool own;  // found under one of the relation's own identities
};

struct RelationLines {
    int capacity;
    int count;
    RelationLine* items;
};

void AppendLine(RelationLines* relation, const TotalLine* line, bool own) {
    if (relation->count > 0 && relation->items[relation->count - 1].line->total_id == line->total_id) {
        relation->items[relation->count - 1].own |= own;  // found under another identity before
        return;
    }
    if (relation->count == relation->capacity) {
        relation->capacity = relation->capacity * 2 + 2;
        const size_t size = sizeof(RelationLine) * static_cast<size_t>(relation->capacity);
        relation->items = static_cast<RelationLine*>(
            relation->items == nullptr ? palloc(size) : repalloc(relation->items, size));
    }
    relation->items[relation->count++] = {line, own};
}

RelationLines* AssignLines(const CountedKeys& keys, const TotalLines& lines, int relation_count) {
    auto* relations = static_cast<RelationLines*>(palloc0(sizeof(RelationLines) * (relation_count + 1)));
    for (int i = 0; i < lines.count; ++i) {
        const TotalLine* line = &lines.items[i];
        for (int k = FindKey(keys, line->id); k < keys.count && keys.items[k].id == line->id; ++k) {
            if (!keys.items[k].direct || line->direct)
                AppendLine(&relations[keys.items[k].position], line, keys.items[k].own);
        }
    }
    return relations;
}

// The releases that count against a budget, as a condition on dpboost.ledger.
constexpr char kCountedForAll[] =
    " WHERE release_id IN (SELECT release_id FROM dpboost.charge"
    " WHERE relation_id = ANY ($1) OR direct AND relation_id = ANY ($2))";
constexpr char kCountedForRole[] =
    " WHERE release_id IN (SELECT release_id FROM dpboost.charge"
    " WHERE (relation_id = ANY ($1) OR direct AND relation_id = ANY ($2))"
    " AND (role::oid = $3 OR role_name IN ($4, $5)))";

// The same for a budget that renews: of its present window.
constexpr char kCountedInWindow[] =
    " WHERE released_at >= $6 AND release_id IN (SELECT release_id FROM dpboost.charge"
    " WHERE (relation_id = ANY ($1) OR direct AND relation_id = ANY ($2))"
    " AND release_id >= (SELECT min(release_id) FROM dpboost.ledger WHERE released_at >= $6)"
    " AND (role::oid = $3 OR role_name IN ($4, $5)))";

// One line, of what the query over the ledger finds for these identities; nullptr if that is nothing.
const bytea* CountReleases(const char* select, const char* order, const BudgetState* budget, Datum any,
                           Datum direct) {
    const char* counted = budget->renews             ? kCountedInWindow
                          : OidIsValid(budget->role) ? kCountedForRole
                                                     : kCountedForAll;
    NameData role_name;
    NameData granted_name;
    namestrcpy(&role_name, budget->role_name);
    namestrcpy(&granted_name, budget->granted_name);
    // What only a role's or a renewing budget asks for, others do not name.
    const uint64 rows = CatalogRead(psprintf("SELECT %s FROM dpboost.ledger%s%s", select, counted, order),
                                    {{INT8ARRAYOID, any},
                                     {INT8ARRAYOID, direct},
                                     OidOf(budget->role),
                                     {NAMEOID, NameGetDatum(&role_name)},
                                     {NAMEOID, NameGetDatum(&granted_name)},
                                     TimeOf(budget->window.start)});
    bool is_null = true;
    const Datum spent = rows == 0 ? Datum(0) : CatalogValue(0, 1, &is_null);
    return is_null ? nullptr : DatumGetByteaPP(spent);
}

}  // namespace

LimitTotals* FindTotals(const BudgetList* budgets, const RelationSet* relations,
                        const Identities* identities) {
    auto* totals = static_cast<LimitTotals*>(palloc0(sizeof(LimitTotals) * (budgets->count + 1)));
    // The ledger worker looks also for a release without limits: its line must not hide that older ones are missing.
    if (budgets->count == 0 && !InLedgerWorker())
        return totals;
    const CountedKeys keys = KeysOf(relations, identities);
    auto* behind = static_cast<bool*>(palloc0(sizeof(bool) * (relations->count + 1)));
    const int64* last_charges = ReadLastCharges(keys);
    TotalLines lines = ReadLines(keys);
    if (FindBehind(keys, last_charges, lines, behind) && InLedgerWorker()) {
        RebuildTotals();
        lines = ReadLines(keys);
        memset(behind, 0, sizeof(bool) * relations->count);
    }
    const RelationLines* of = AssignLines(keys, lines, relations->count);
    for (int b = 0; b < budgets->count; ++b) {
        const BudgetState* budget = &budgets->items[b];
        if (behind[budget->position] || budget->renews) {  // lines know no time
            totals[b] = CountLedger(budget, relations, identities);
            continue;
        }
        totals[b].both_filters = budget->population_id != 0;
        for (int i = 0; i < of[budget->position].count; ++i) {
            const RelationLine& found = of[budget->position].items[i];
            if (!WasCharged(found.line, budget))
                continue;
            Append(&totals[b], found.line->spent);
            if (found.own && totals[b].first_own == nullptr)
                totals[b].first_own = found.line->spent;
        }
    }
    return totals;
}

LimitTotals CountLedger(const BudgetState* budget, const RelationSet* relations,
                        const Identities* identities) {
    const CountedKeys keys = KeysOfOne(relations, identities, budget->position);
    const Datum own = IdsOf(keys, Which::kOwn);
    LimitTotals totals = {};
    totals.both_filters = budget->population_id != 0;
    Append(&totals, CountReleases("dpboost.spent(plan ORDER BY release_id)", "", budget,
                                  IdsOf(keys, Which::kAny), IdsOf(keys, Which::kDirect)));
    totals.first_own =
        CountReleases("dpboost.add_cost(NULL, plan)", " ORDER BY release_id LIMIT 1", budget, own, own);
    return totals;
}

Spent SumOf(const LimitTotals& totals) {
    Spent sum;
    for (int i = 0; i < totals.count; ++i) {
        if (totals.items[i] == nullptr)
            continue;
        const Spent line = Spent::Parse(BytesOf(totals.items[i]));
        if (sum.releases == 0)
            sum = line;
        else
            sum.Add(line);
    }
    if (totals.first_own != nullptr && !sum.gaussian_first)
        sum.gaussian_first = Spent::Parse(BytesOf(totals.first_own)).gaussian_first;
    sum.gaussian_first |= totals.both_filters && sum.releases > 0;
    return sum;
}

}  // namespace dpboost

using namespace dpboost;

// The step of the aggregate dpboost.spent. A plan is never NULL in the ledger; one that is adds nothing.
Datum dpboost_add_cost(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(1)) {
        if (PG_ARGISNULL(0))
            PG_RETURN_NULL();
        PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    }
    const bytea* before = PG_ARGISNULL(0) ? nullptr : PG_GETARG_BYTEA_PP(0);
    const bytea* plan = PG_GETARG_BYTEA_PP(1);
    PG_RETURN_BYTEA_P(AddCost(before, BytesOf(plan)));
}
