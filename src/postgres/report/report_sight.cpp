#include "postgres/report/report_sight.h"

#include "postgres/catalog/catalog.h"
#include "postgres/limits/scarcest_limit.h"

namespace dpboost {
namespace {

// SPI as the caller, with names that nobody can redirect.
struct CallerScope {
    int guc_level;
    MemoryContext outer;
};

void BeginAsCaller(CallerScope* scope) {
    scope->outer = CurrentMemoryContext;
    scope->guc_level = NewGUCNestLevel();
    (void)set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
                            true, 0, false);
    if (SPI_connect() != SPI_OK_CONNECT)
        elog(ERROR, "could not connect to SPI");
}

void EndAsCaller(const CallerScope& scope) {
    SPI_finish();
    AtEOXact_GUC(true, scope.guc_level);
}

// A text of the result that outlives SPI, or null.
const char* SeenText(const CallerScope& scope, uint64 row, int column) {
    const char* text = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
    return text == nullptr ? nullptr : MemoryContextStrdup(scope.outer, text);
}

double SeenNumber(uint64 row, int column, double otherwise = 0) {
    bool is_null;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &is_null);
    return is_null ? otherwise : DatumGetFloat8(value);
}

void SeeTime(const CallerScope& scope, TimestampTz time, ReportSight* sight) {
    ReadAsCaller("SELECT pg_catalog.to_char($1 AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC'",
                 {TimeOf(time)});
    sight->trained_at = SeenText(scope, 0, 1);
}

void SeeRelease(const CallerScope& scope, const char* schema, int64 release_id, ReportSight* sight) {
    if (ReadAsCaller(
            psprintf("SELECT role::text, pg_catalog.array_to_string(relations, ', '), privacy_unit::text"
                     " FROM %s.dpboost_ledger WHERE release_id = $1",
                     schema),
            {Int8(release_id)}) == 0)
        return;
    sight->in_ledger = true;
    sight->role = SeenText(scope, 0, 1);
    sight->relations = SeenText(scope, 0, 2);
    sight->privacy_unit = SeenText(scope, 0, 3);
}

// Of the budgets on what the release read the one of which the least is left.
void SeeBudget(int64 release_id, ReportSight* sight) {
    const ScarcestLimit limit = FindScarcest(GetUserId(), release_id);
    sight->budget_of = limit.relation;
    sight->budget_role = limit.role;
    sight->budget_share = limit.share;
    sight->budget_epsilon = limit.epsilon;
}

// The newest evaluation of this very model.
void SeeEvaluation(const CallerScope& scope, const char* schema, int64 model_id, ReportSight* sight) {
    const uint64 rows = ReadAsCaller(
        psprintf(
            "SELECT e.release_id::float8, pg_catalog.array_to_string(e.relations, ', '), e.epsilon::float8, "
            "f.key,"
            " f.value ->> 0, f.value ->> 1, f.value ->> 2"
            " FROM (SELECT * FROM %s.dpboost_evaluations WHERE model_id = $1 ORDER BY release_id DESC LIMIT "
            "1) e,"
            " pg_catalog.jsonb_each(e.metrics) f"
            " WHERE f.value -> 2 IS NOT NULL AND f.value -> 3 IS NULL ORDER BY"
            " pg_catalog.array_position('{auc,accuracy,mae,rmse,r2,log_loss,brier}'::text[], f.key), f.key",
            schema),
        {Int8(model_id)});
    if (rows == 0)
        return;
    sight->evaluation = static_cast<int64>(SeenNumber(0, 1));
    sight->evaluated_on = SeenText(scope, 0, 2);
    sight->evaluation_epsilon = SeenNumber(0, 3);
    sight->figures = static_cast<SeenFigure*>(MemoryContextAlloc(scope.outer, sizeof(SeenFigure) * rows));
    for (uint64 i = 0; i < rows; ++i)
        sight->figures[sight->figure_count++] = {SeenText(scope, i, 4), SeenText(scope, i, 5),
                                                 SeenText(scope, i, 6), SeenText(scope, i, 7)};
}

void SeeBins(const CallerScope& scope, const char* schema, ReportSight* sight) {
    const uint64 rows = ReadAsCaller(
        psprintf(
            "SELECT b.predicted, b.observed, b.low, b.high, b.true_positive_rate, b.false_positive_rate"
            " FROM %s.dpboost_evaluations e, pg_catalog.jsonb_array_elements(e.bins) WITH ORDINALITY v (bin, "
            "n),"
            " pg_catalog.jsonb_to_record(v.bin) b (predicted float8, observed float8, low float8, high "
            "float8,"
            " true_positive_rate float8, false_positive_rate float8) WHERE e.release_id = $1 ORDER BY v.n",
            schema),
        {Int8(sight->evaluation)});
    sight->bins = static_cast<SeenBin*>(MemoryContextAlloc(scope.outer, sizeof(SeenBin) * (rows + 1)));
    const double none = get_float8_nan();
    for (uint64 i = 0; i < rows; ++i)
        sight->bins[sight->bin_count++] = {SeenNumber(i, 1, none), SeenNumber(i, 2, none),
                                           SeenNumber(i, 3, none), SeenNumber(i, 4, none),
                                           SeenNumber(i, 5, none), SeenNumber(i, 6, none)};
}

void SeeConfusion(const CallerScope& scope, const char* schema, ReportSight* sight) {
    const uint64 rows = ReadAsCaller(
        psprintf("SELECT t.key, s.key, (s.value #>> '{}')::float8 FROM %s.dpboost_evaluations e,"
                 " pg_catalog.jsonb_each(e.metrics -> 'confusion') t, pg_catalog.jsonb_each(t.value) s"
                 " WHERE e.release_id = $1",
                 schema),
        {Int8(sight->evaluation)});
    sight->counts = static_cast<SeenCount*>(MemoryContextAlloc(scope.outer, sizeof(SeenCount) * (rows + 1)));
    for (uint64 i = 0; i < rows; ++i)
        sight->counts[sight->count_count++] = {SeenText(scope, i, 1), SeenText(scope, i, 2),
                                               SeenNumber(i, 3)};
}

// The events of a release that the caller sees, from which the accountant's figures follow.
void SeePlan(int64 release_id, ReportSight* sight) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    if (CatalogRead("SELECT plan FROM dpboost.ledger WHERE release_id = $1", {Int8(release_id)}, 1) == 1) {
        const struct varlena* plan = PG_DETOAST_DATUM_PACKED(CatalogValue(0, 1));
        sight->plan_size = VARSIZE_ANY_EXHDR(plan);
        sight->plan_bytes = static_cast<char*>(
            memcpy(MemoryContextAlloc(outer, sight->plan_size + 1), VARDATA_ANY(plan), sight->plan_size));
    }
    CatalogEnd(&scope);
}

}  // namespace

void LookAround(const ModelEntry& entry, const ModelFacts& facts, Oid schema, ReportSight* sight) {
    memset(static_cast<void*>(sight), 0, sizeof *sight);
    const char* views = quote_identifier(get_namespace_name(schema));
    CallerScope scope;
    BeginAsCaller(&scope);
    SeeTime(scope, facts.created_at, sight);
    if (!facts.imported)
        SeeRelease(scope, views, facts.release_id, sight);
    sight->can_evaluate = OidIsValid(get_relname_relid("dpboost_evaluations", schema));
    if (sight->can_evaluate)
        SeeEvaluation(scope, views, entry.model_id, sight);
    if (sight->evaluation != 0)
        SeeBins(scope, views, sight);
    if (sight->evaluation != 0)
        SeeConfusion(scope, views, sight);
    EndAsCaller(scope);
    if (!sight->in_ledger)
        return;
    SeeBudget(facts.release_id, sight);
    SeePlan(facts.release_id, sight);
}

}  // namespace dpboost
