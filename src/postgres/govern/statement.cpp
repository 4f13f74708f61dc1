// dpboost_statement: finds what is proven of a model, or which limits the caller may see, and has the core put it into
// words. Reads the ledger and limits, never a row.
#include "privacy/words/statement.h"

#include "base/text.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/limits/visible_limits.h"
#include "postgres/predict/lineage.h"
#include "postgres/predict/model_lookup.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_statement);
}

namespace dpboost {
namespace {

using Paragraphs = std::vector<StatedLoss>;

// Which of the visible limits are asked for.
struct Wanted {
    Oid relid;               // 0: any
    const char* population;  // nullptr: none is named
    Oid role;                // 0: caps
};

// A population that is misspelt may be one that the caller sees.
[[noreturn]] void RaiseNoLimit(const BudgetList* budgets, const Wanted& wanted) {
    auto* hint = static_cast<char*>(palloc0(CoreFailure::kTextSize));
    CallCore([&] {
        std::vector<std::string> names;
        for (int i = 0; wanted.population != nullptr && i < budgets->count; ++i)
            names.emplace_back(budgets->items[i].population_name);
        NearestHint(wanted.population != nullptr ? wanted.population : "", names)
            .copy(hint, CoreFailure::kTextSize - 1);
    });
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no such limit in dpboost_budgets"),
                    errdetail("It shows what one may use, and all of one's own tables and populations."),
                    hint[0] != '\0' ? errhint("%s", hint) : 0));
    pg_unreachable();
}

// The release that a model came from; only who may use the model learns it.
int64 ReleaseOfModel(const text* model, Oid caller) {
    ModelText read;
    ModelEntry entry;
    ReadModelText(VARDATA_ANY(model), VARSIZE_ANY_EXHDR(model), NameUse::kRead, &read);
    FindModel(caller, read, &entry);
    const int64 model_id = entry.model_id;
    CloseModelEntry(&entry);
    CatalogScope scope;
    CatalogBegin(&scope);
    int64 release_id = 0;
    if (CatalogRead("SELECT coalesce(release_id, 0) FROM dpboost.model WHERE model_id = $1", {Int8(model_id)},
                    1) > 0)
        release_id = DatumGetInt64(CatalogValue(0, 1));
    CatalogEnd(&scope);
    return release_id;
}

void StateRelease(int64 release_id, Paragraphs* paragraphs) {
    const Lineage lineage = LineageOf(release_id);
    CatalogScope scope;
    CatalogBegin(&scope);
    if (CatalogRead("SELECT model, version, method, array_to_string(relations, ', '),"
                    " coalesce(privacy_unit::text, ''), (SELECT count(*) FROM dpboost.group_model AS g"
                    " WHERE g.release_id = l.release_id) FROM dpboost.ledger AS l WHERE release_id = $1",
                    {Int8(release_id)}, 1) == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the ledger does not hold the charge of this model"),
                        errdetail("Models that were imported are accounted for where they were trained.")));
    const char* name = TextDatumGetCString(CatalogValue(0, 1));
    const int32 version = DatumGetInt32(CatalogValue(0, 2));
    const char* method = TextDatumGetCString(CatalogValue(0, 3));
    const char* relations = TextDatumGetCString(CatalogValue(0, 4));
    const char* unit = TextDatumGetCString(CatalogValue(0, 5));
    const int64 groups = DatumGetInt64(CatalogValue(0, 6));
    CallCore([&] {
        const dpboost::Cost cost = CostOf(lineage);
        StatedLoss stated;
        stated.subject = "Model " + Quoted(name) + ", version " + std::to_string(version) +
                         (groups == 0 ? "" : ", one for each of " + std::to_string(groups) + " groups") +
                         (relations[0] == '\0' ? "" : ", was trained on " + std::string(relations)) + " by " +
                         method + ", with epsilon " + PrintedUp(cost.epsilon, 4) + " at delta " +
                         Printed(cost.delta) +
                         (lineage.count > 1 ? " together with the versions that it goes on from." : ".");
        stated.person = PersonInWords(unit);
        stated.loss = ProvenLoss::OfRelease(cost);
        paragraphs->push_back(stated);
    });
    CatalogEnd(&scope);
}

bool IsWanted(const BudgetState* budget, const Wanted& wanted, const char* population_of_relation) {
    if (budget->role != wanted.role)
        return false;
    if (wanted.population != nullptr || (budget->population_id != 0 && population_of_relation != nullptr))
        return budget->population_id != 0 &&
               strcmp(budget->population_name,
                      wanted.population != nullptr ? wanted.population : population_of_relation) == 0;
    return budget->population_id == 0 && (!OidIsValid(wanted.relid) || budget->relid == wanted.relid);
}

// In the core. `renew` is empty for a limit that holds for ever; `most` is what it lets through over all time.
StatedLoss StateLimit(const BudgetState& budget, const char* described, const char* renew, LossPoint most,
                      const LimitTotals& totals) {
    const Spent spent = SumOf(totals);
    StatedLoss stated;
    stated.by_unit = budget.unit_state_id != 0;
    stated.subject =
        "All trainings " + (budget.role_name[0] != '\0' ? std::string("by ") : std::string("on ")) +
        described +
        (stated.by_unit ? " together may cost each person epsilon " : " together may cost epsilon ") +
        Printed(budget.epsilon) + " at delta " + Printed(budget.delta) +
        (renew[0] == '\0' ? "" : std::string(" in each ") + renew + ", and over all time the cap") +
        ", by whatever method, and chosen in the light of earlier ones.";
    stated.person = budget.population_id != 0
                        ? "A person is the same in all its tables, by the column that each of them names."
                        : PersonInWords(budget.privacy_unit);
    stated.loss = ProvenLoss::OfPair(most.epsilon, most.delta);
    stated.is_limit = true;
    stated.renews = budget.renews;
    stated.releases = static_cast<int64_t>(spent.releases);
    stated.spent_delta = budget.delta;
    stated.spent_epsilon = spent.releases == 0 ? 0 : AdaptiveEpsilon(spent, budget.delta);
    if (spent.releases > 0 && spent.IsGaussian())
        stated.spent_mu = std::sqrt(spent.mu_squared);
    return stated;
}

// The population that the relation belongs to, among what is visible; nullptr: none.
const char* PopulationOf(const BudgetList* budgets, Oid relid) {
    for (int i = 0; OidIsValid(relid) && i < budgets->count; ++i) {
        if (budgets->items[i].relid == relid && budgets->items[i].population_name[0] != '\0')
            return budgets->items[i].population_name;
    }
    return nullptr;
}

// The most that a role's budget lets through over all time: what it says, or the cap of its table or population if that
// is less, or if the budget renews.
LossPoint OverAllTime(const BudgetList* budgets, const BudgetState& limit) {
    LossPoint most = {limit.renews ? std::numeric_limits<double>::infinity() : limit.epsilon, limit.delta};
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState& cap = budgets->items[i];
        const bool holds = cap.population_id != 0 ? strcmp(cap.population_name, limit.population_name) == 0
                                                  : !OidIsValid(cap.role) && cap.relid == limit.relid;
        if (holds && cap.epsilon < most.epsilon && (cap.delta <= most.delta || std::isinf(most.epsilon)))
            most = {cap.epsilon, cap.delta};
    }
    return most;
}

// Basic composition over the tables: holds for whoever is in all of them, however the trainings on them take turns.
LossPoint AddUp(const BudgetList* budgets, const int* chosen, int count) {
    LossPoint sum = {0, 0};
    for (int i = 0; i < count; ++i) {
        const LossPoint most = OverAllTime(budgets, budgets->items[chosen[i]]);
        sum = {sum.epsilon + most.epsilon, sum.delta + most.delta};
    }
    return sum;
}

void StateLimits(const Wanted& wanted, Oid caller, Paragraphs* paragraphs, LossPoint* together) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const VisibleLimits visible = FindVisibleLimits(caller);
    const LimitTotals* totals = FindTotals(visible.budgets, visible.relations, visible.identities);
    const char* population = PopulationOf(visible.budgets, wanted.relid);
    auto* chosen = static_cast<int*>(palloc(sizeof(int) * (visible.budgets->count + 1)));
    int count = 0;
    for (int i = 0; i < visible.budgets->count; ++i) {
        if (!IsWanted(&visible.budgets->items[i], wanted, population))
            continue;
        const BudgetState* budget = &visible.budgets->items[i];
        const char* described = DescribeBudget(budget);
        const char* renew = !budget->renews
                                ? ""
                                : DatumGetCString(DirectFunctionCall1(
                                      interval_out, PointerGetDatum(const_cast<Interval*>(&budget->renew))));
        // Without renewal the limit itself: it is what the paragraph is about, also where a cap is smaller.
        const LossPoint most = budget->renews ? OverAllTime(visible.budgets, *budget)
                                              : LossPoint{budget->epsilon, budget->delta};
        CallCore([&] { paragraphs->push_back(StateLimit(*budget, described, renew, most, totals[i])); });
        chosen[count++] = i;
    }
    *together =
        OidIsValid(wanted.role) && count > 1 ? AddUp(visible.budgets, chosen, count) : LossPoint{0, 0};
    CatalogEnd(&scope);
    if (count == 0)
        RaiseNoLimit(visible.budgets, wanted);
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_statement(PG_FUNCTION_ARGS) {
    const Oid caller = GetUserId();
    const bool has_limit = !PG_ARGISNULL(1) || !PG_ARGISNULL(2) || !PG_ARGISNULL(3);
    const int subjects = (PG_ARGISNULL(0) ? 0 : 1) + (PG_ARGISNULL(4) ? 0 : 1) + (has_limit ? 1 : 0);
    if (subjects != 1 || (!PG_ARGISNULL(2) && (!PG_ARGISNULL(1) || !PG_ARGISNULL(3))))
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("a statement is about a model, a release, a population, or a table, a role or both")));
    auto* paragraphs = CoreState<Paragraphs>::Make(CurrentMemoryContext);
    LossPoint together = {0, 0};
    if (!PG_ARGISNULL(0)) {
        StateRelease(ReleaseOfModel(PG_GETARG_TEXT_PP(0), caller), &**paragraphs);
    } else if (!PG_ARGISNULL(4)) {
        CheckMaySeeRelease(fcinfo->flinfo->fn_oid, PG_GETARG_INT64(4));
        StateRelease(PG_GETARG_INT64(4), &**paragraphs);
    } else {
        const Wanted wanted = {PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1),
                               PG_ARGISNULL(2) ? nullptr : NameStr(*PG_GETARG_NAME(2)),
                               PG_ARGISNULL(3) ? InvalidOid : PG_GETARG_OID(3)};
        StateLimits(wanted, caller, &**paragraphs, &together);
    }
    auto* result = CoreState<std::string>::Make(CurrentMemoryContext);
    CallCore([&] { **result = WriteStatement(**paragraphs, together); });
    PG_RETURN_TEXT_P(cstring_to_text_with_len((**result).data(), static_cast<int>((**result).size())));
}
