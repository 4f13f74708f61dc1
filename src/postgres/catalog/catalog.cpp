// Reading and writing our own tables. Every statement here runs as the extension's owner, in a restricted
// security context, with search_path pinned, so that a caller needs no privileges on the tables and none of
// his settings, operators or temporary objects can change what a statement means.
#include "postgres/catalog/catalog.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_keep_ledger);
}

namespace dpboost {
namespace {

constexpr int kMaxParameters = 24;

// A session's setting, for the length of a catalog scope.
void PinSetting(const char* name, const char* value) {
    set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void CheckResult(int result) {
    if (result < 0)
        elog(ERROR, "could not run a catalog statement: %s", SPI_result_code_string(result));
}

// What is committed now: charges of others, and of the groups before. The leader of a parallel query gets that from
// PostgreSQL as its catalogs' snapshot only; a worker keeps to the snapshot of the query, and decides nothing by it.
Snapshot LatestSnapshot() {
    if (!IsInParallelMode())
        return GetLatestSnapshot();
    if (IsParallelWorker())
        return GetActiveSnapshot();
    InvalidateCatalogSnapshot();
    return GetCatalogSnapshot(ExtensionRelationId);
}

constexpr int kMaxMomentTables = 32;
Oid moment_tables[kMaxMomentTables];
int moment_table_count = 0;
uint64 moment_completions = 0;  // transactions that had ended
bool moment_is_held = false;

void ForgetMoment(void*) {
    moment_is_held = false;
}

void LockMomentTables(std::initializer_list<const char*> tables) {
    if (tables.size() > kMaxMomentTables)
        elog(ERROR, "a moment has more than %d tables", kMaxMomentTables);
    moment_table_count = 0;
    for (const char* table : tables)
        moment_tables[moment_table_count++] =
            RangeVarGetRelid(makeRangeVar(pstrdup("dpboost"), pstrdup(table), -1), AccessShareLock, false);
}

}  // namespace

void CheckReadAtMoment(Oid table) {
    const Oid* const end = moment_tables + moment_table_count;
    if (moment_is_held && std::find<const Oid*>(moment_tables, end, table) == end)
        elog(ERROR, "dpboost.%s was not locked before it is read as of a moment", get_rel_name(table));
}

// Who waits for a table after the moment would not see what ALTER TABLE has made of it meanwhile: rows that it has written anew
// are of a later moment, so that the table looks empty, and a limit in it is not there.
void HoldMoment(std::initializer_list<const char*> tables) {
    LockMomentTables(tables);
    Snapshot now = GetTransactionSnapshot();
    moment_completions = now->snapXactCompletionCount;
    PushActiveSnapshot(now);
    AcceptInvalidationMessages();  // what PostgreSQL keeps of its own catalogs is then not older
    auto* at_end = static_cast<MemoryContextCallback*>(
        MemoryContextAllocZero(TopTransactionContext, sizeof(MemoryContextCallback)));
    at_end->func = ForgetMoment;
    MemoryContextRegisterResetCallback(TopTransactionContext, at_end);
    moment_is_held = true;
}

void LetMomentGo() {
    moment_is_held = false;
    PopActiveSnapshot();
}

bool IsMomentPast() {
    return moment_is_held && GetLatestSnapshot()->snapXactCompletionCount != moment_completions;
}

// Of the moment that is held a copy, which knows what this transaction did meanwhile.
Snapshot RegisterMoment(Oid relation) {
    if (!moment_is_held)
        return RegisterSnapshot(OidIsValid(relation) ? GetCatalogSnapshot(relation) : LatestSnapshot());
    PushCopiedSnapshot(GetActiveSnapshot());
    UpdateActiveSnapshotCommandId();
    Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
    PopActiveSnapshot();
    return snapshot;
}

void CatalogBegin(CatalogScope* scope) {
    const Oid owner = DpboostOwner();
    GetUserIdAndSecContext(&scope->saved_user, &scope->saved_security);
    SetUserIdAndSecContext(
        owner, scope->saved_security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    scope->guc_level = NewGUCNestLevel();
    PinSetting("search_path", "pg_catalog, pg_temp");
    PinSetting("row_security", "off");
    PinSetting("transform_null_equals", "off");
    if (SPI_connect() != SPI_OK_CONNECT)
        elog(ERROR, "could not connect to SPI");
}

void CatalogEnd(CatalogScope* scope) {
    SPI_finish();
    AtEOXact_GUC(true, scope->guc_level);
    SetUserIdAndSecContext(scope->saved_user, scope->saved_security);
}

namespace {

// A list of parameters as the arrays that SPI takes.
struct ParameterArrays {
    Oid types[kMaxParameters];
    Datum values[kMaxParameters];
    char nulls[kMaxParameters];
    int count;
};

ParameterArrays ArraysOf(std::initializer_list<Parameter> parameters) {
    if (parameters.size() > kMaxParameters)
        elog(ERROR, "a statement has more than %d parameters", kMaxParameters);
    ParameterArrays arrays;
    arrays.count = 0;
    for (const Parameter& parameter : parameters) {
        arrays.types[arrays.count] = parameter.type;
        arrays.values[arrays.count] = parameter.value;
        arrays.nulls[arrays.count++] = parameter.is_null ? 'n' : ' ';
    }
    return arrays;
}

// A statement that this session has run before. PostgreSQL parses and plans it anew when what it names has changed.
struct KeptPlan {
    const char* query;
    SPIPlanPtr plan;
};

// There are fewer statements than that; should one be made up of changing parts, it does not fill the memory.
constexpr int kMostPlans = 256;
KeptPlan kept_plans[kMostPlans];
int kept_count = 0;

bool IsOf(const KeptPlan& kept, const char* query, const ParameterArrays& arrays) {
    bool same = strcmp(kept.query, query) == 0 && SPI_getargcount(kept.plan) == arrays.count;
    for (int i = 0; same && i < arrays.count; ++i)
        same = SPI_getargtypeid(kept.plan, i) == arrays.types[i];
    return same;
}

// One plan for all parameters: each statement has one purpose, and looks something up.
SPIPlanPtr Prepare(const char* query, ParameterArrays* arrays) {
    for (int i = 0; i < kept_count; ++i)
        if (IsOf(kept_plans[i], query, *arrays))
            return kept_plans[i].plan;
    SPIPlanPtr plan = SPI_prepare_cursor(query, arrays->count, arrays->types, CURSOR_OPT_GENERIC_PLAN);
    if (plan == nullptr)
        elog(ERROR, "could not prepare a catalog statement: %s", SPI_result_code_string(SPI_result));
    if (kept_count < kMostPlans) {
        const char* text = MemoryContextStrdup(TopMemoryContext, query);
        SPI_keepplan(plan);
        kept_plans[kept_count++] = {text, plan};
    }
    return plan;
}

// Of all tables that a statement reads.
void CheckTablesOf(SPIPlanPtr plan) {
    ListCell* source;
    ListCell* relation;
    if (!moment_is_held)
        return;
    foreach (source, SPI_plan_get_plan_sources(plan))
        foreach (relation, static_cast<CachedPlanSource*>(lfirst(source))->relationOids)
            if (lfirst_oid(relation) >= FirstNormalObjectId &&
                get_rel_relkind(lfirst_oid(relation)) == RELKIND_RELATION)
                CheckReadAtMoment(lfirst_oid(relation));
}

}  // namespace

uint64 CatalogRead(const char* query, std::initializer_list<Parameter> parameters, uint64 limit) {
    ParameterArrays arrays = ArraysOf(parameters);
    SPIPlanPtr plan = Prepare(query, &arrays);
    CheckTablesOf(plan);
    Snapshot snapshot = RegisterMoment();
    CheckResult(SPI_execute_snapshot(plan, arrays.values, arrays.nulls, snapshot, InvalidSnapshot, true,
                                     false, static_cast<long>(limit)));
    UnregisterSnapshot(snapshot);
    return SPI_processed;
}

uint64 CatalogWrite(const char* query, std::initializer_list<Parameter> parameters) {
    ParameterArrays arrays = ArraysOf(parameters);
    SPIPlanPtr plan = Prepare(query, &arrays);
    CheckResult(SPI_execute_plan(plan, arrays.values, arrays.nulls, false, 0));
    return SPI_processed;
}

uint64 ReadAsCaller(const char* query, std::initializer_list<Parameter> parameters, uint64 limit) {
    ParameterArrays arrays = ArraysOf(parameters);
    CheckResult(SPI_execute_plan(Prepare(query, &arrays), arrays.values, arrays.nulls, true,
                                 static_cast<long>(limit)));
    return SPI_processed;
}

Datum CatalogValue(uint64 row, int column, bool* is_null) {
    return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, is_null);
}

Datum CatalogValue(uint64 row, int column) {
    bool is_null;
    return CatalogValue(row, column, &is_null);
}

Oid DpboostExtension() {
    Oid extension = get_extension_oid("dpboost", true);
    if (!OidIsValid(extension))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("extension \"dpboost\" is not installed in this database"),
                        errhint("Run CREATE EXTENSION dpboost.")));
    return extension;
}

Oid DpboostOwner() {
    const Oid extension = DpboostExtension();
    Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
    SysScanDesc scan = systable_beginscan(catalog, ExtensionOidIndexId, true, nullptr, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    Oid owner = HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extowner
                                        : InvalidOid;
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    if (!OidIsValid(owner))
        elog(ERROR, "could not find the owner of extension \"dpboost\"");
    return owner;
}

bool InLedgerWorker() {
    return MyBgworkerEntry != nullptr &&
           strcmp(MyBgworkerEntry->bgw_function_name, "dpboost_ledger_worker") == 0;
}

char* RoleName(Oid role) {
    return GetUserNameFromId(role, true);
}

}  // namespace dpboost

// What was spent stays spent. A trigger with an argument lets the ledger worker pass: totals change.
Datum dpboost_keep_ledger(PG_FUNCTION_ARGS) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR,
                (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("not called by a trigger")));
    const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context)->tg_trigger;
    if (trigger->tgnargs > 0 && dpboost::InLedgerWorker())
        PG_RETURN_DATUM(0);
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the privacy ledger cannot be changed"),
                    errdetail("What was released cannot be taken back.")));
}
