// dpboost_verify: proves a release again from its stored events, and counts the ledger again for every limit
// that the caller may see. Nothing is written and nothing depends on rows. What does not agree is reported, not
// raised, so that one wrong figure hides no other.
#include "base/text.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/limits/visible_limits.h"
#include "postgres/train/json_reader.h"
#include "privacy/budget.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_verify_release);
PG_FUNCTION_INFO_V1(dpboost_verify_totals);
}

namespace dpboost {
namespace {

// A release as the ledger holds it.
struct StoredRelease {
    bytea* plan;
    double epsilon;
    double delta;
    double rho[kOrderCount];
    double pure_epsilon;
};

void ReadRelease(int64 release_id, StoredRelease* release) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    if (CatalogRead(
            "SELECT plan, epsilon, delta, curve, pure_epsilon FROM dpboost.ledger WHERE release_id = $1",
            {Int8(release_id)}, 1) == 0)
        elog(ERROR, "release " INT64_FORMAT " has left the ledger", release_id);
    release->epsilon = DatumGetFloat8(CatalogValue(0, 2));
    release->delta = DatumGetFloat8(CatalogValue(0, 3));
    ArrayType* curve = DatumGetArrayTypeP(CatalogValue(0, 4));
    release->pure_epsilon = DatumGetFloat8(CatalogValue(0, 5));
    if (ArrayGetNItems(ARR_NDIM(curve), ARR_DIMS(curve)) != static_cast<int>(kOrderCount) ||
        ARR_HASNULL(curve))
        elog(ERROR, "the curve of a release has not one value per order");
    memcpy(release->rho, ARR_DATA_PTR(curve), sizeof release->rho);
    MemoryContext inner = MemoryContextSwitchTo(outer);
    release->plan = DatumGetByteaPCopy(CatalogValue(0, 1));
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
}

// In the core. What the events prove, and what is wrong with the claim, if anything is.
const char* ReplayRelease(const StoredRelease& release, double* proven) {
    static_assert(sizeof release.rho == sizeof(RdpCurve::rho), "one value per order");
    const std::string_view bytes(VARDATA_ANY(release.plan), VARSIZE_ANY_EXHDR(release.plan));
    try {
        const dpboost::Cost cost = dpboost::Cost::Replay(bytes, proven);
        if (cost.epsilon != release.epsilon || cost.delta != release.delta)
            return "The ledger claims another epsilon or delta than the plan.";
        if (!std::equal(cost.curve.rho.begin(), cost.curve.rho.end(), release.rho) ||
            cost.curve.pure_epsilon != release.pure_epsilon)
            return "The ledger has another curve than the plan.";
    } catch (const Error& error) {
        if (error.code() != ErrorCode::kCorrupted)
            throw;
        return "The stored plan is damaged, or claims less than its events prove.";
    }
    return nullptr;
}

// The shortest text that reads back as the same number; null for one that is not finite.
void AppendNumber(StringInfo json, double value) {
    char number[32];
    snprintf(number, sizeof number, "%.*g", 15, value);
    if (strtod(number, nullptr) != value)
        snprintf(number, sizeof number, "%.*g", 17, value);
    appendStringInfoString(json, std::isfinite(value) ? number : "null");
}

// A line that does not agree with the ledger.
struct Mismatch {
    bool found;
    int64 counted;
    int64 recounted;
    double counted_epsilon;
    double recounted_epsilon;
};

// In the core.
void CompareTotals(const BudgetState& budget, const LimitTotals& totals, const LimitTotals& ledger,
                   Mismatch* mismatch) {
    const Spent recounted = SumOf(ledger);
    Spent counted;
    try {
        counted = SumOf(totals);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::kCorrupted)
            throw;
    }
    *mismatch = {!counted.Agrees(recounted), static_cast<int64>(counted.releases),
                 static_cast<int64>(recounted.releases), QuickEpsilon(counted, budget.delta),
                 QuickEpsilon(recounted, budget.delta)};
}

void AppendMismatch(StringInfo text, const BudgetState* budget, const Mismatch& mismatch) {
    appendStringInfoString(text, text->len > 0 ? ", {\"table\": " : "{\"table\": ");
    escape_json(text, budget->relation_name);
    appendStringInfoString(text, ", \"role\": ");
    if (budget->role_name[0] != '\0')
        escape_json(text, budget->role_name);
    else
        appendStringInfoString(text, "null");
    appendStringInfo(text, ", \"releases\": " INT64_FORMAT ", \"recounted\": " INT64_FORMAT ", \"epsilon\": ",
                     mismatch.counted, mismatch.recounted);
    AppendNumber(text, mismatch.counted_epsilon);
    appendStringInfoString(text, ", \"epsilon_recounted\": ");
    AppendNumber(text, mismatch.recounted_epsilon);
    appendStringInfoChar(text, '}');
}

// The limits whose totals do not agree with the ledger, as JSON objects. Both are read one after the other, so a
// charge between them looks like a mismatch, and what is found has to be found again.
constexpr int kVerifyAttempts = 3;

int CollectMismatches(Oid viewer, StringInfo mismatches) {
    MemoryContext outer = CurrentMemoryContext;
    resetStringInfo(mismatches);
    CatalogScope scope;
    CatalogBegin(&scope);
    const VisibleLimits visible = FindVisibleLimits(viewer);
    const LimitTotals* totals = FindTotals(visible.budgets, visible.relations, visible.identities);
    for (int i = 0; i < visible.budgets->count; ++i) {
        CHECK_FOR_INTERRUPTS();
        const BudgetState* budget = &visible.budgets->items[i];
        const LimitTotals ledger = CountLedger(budget, visible.relations, visible.identities);
        Mismatch mismatch;
        CallCore([&] { CompareTotals(*budget, totals[i], ledger, &mismatch); });
        if (!mismatch.found)
            continue;
        MemoryContext inner = MemoryContextSwitchTo(outer);
        AppendMismatch(mismatches, budget, mismatch);
        MemoryContextSwitchTo(inner);
    }
    const int limits = visible.budgets->count;
    CatalogEnd(&scope);
    return limits;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_verify_release(PG_FUNCTION_ARGS) {
    dpboost::RequireArguments(fcinfo, {"release_id"});
    const int64 release_id = PG_GETARG_INT64(0);
    CheckMaySeeRelease(fcinfo->flinfo->fn_oid, release_id);
    StoredRelease release;
    ReadRelease(release_id, &release);
    const char* problem = nullptr;
    double proven = std::numeric_limits<double>::infinity();
    CallCore([&] { problem = ReplayRelease(release, &proven); });
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json, "{\"release_id\": " INT64_FORMAT ", \"epsilon_claimed\": ", release_id);
    AppendNumber(&json, release.epsilon);
    appendStringInfoString(&json, ", \"delta\": ");
    AppendNumber(&json, release.delta);
    appendStringInfoString(&json, ", \"epsilon_proven\": ");
    AppendNumber(&json, RoundedUp(proven));
    appendStringInfo(&json, ", \"ok\": %s", problem == nullptr ? "true" : "false");
    if (problem != nullptr) {
        appendStringInfoString(&json, ", \"problem\": ");
        escape_json(&json, problem);
    }
    appendStringInfoChar(&json, '}');
    return JsonTextToDatum(json.data);
}

Datum dpboost_verify_totals(PG_FUNCTION_ARGS) {
    const Oid viewer = GetUserId();
    StringInfoData mismatches;
    initStringInfo(&mismatches);
    int limits = 0;
    for (int attempt = 0; attempt < kVerifyAttempts && (attempt == 0 || mismatches.len > 0); ++attempt)
        limits = CollectMismatches(viewer, &mismatches);
    return JsonTextToDatum(psprintf("{\"ok\": %s, \"limits\": %d, \"mismatches\": [%s]}",
                                    mismatches.len == 0 ? "true" : "false", limits, mismatches.data));
}
