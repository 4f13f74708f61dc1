#include "postgres/catalog/catalog_rows.h"

namespace dpboost {
namespace {

// Its place in the row, from 0. By name: a table that grew by an upgrade may have its columns in another order.
int FindColumn(Relation table, const char* column) {
    const TupleDesc columns = RelationGetDescr(table);
    for (int i = 0; i < columns->natts; ++i)
        if (!TupleDescAttr(columns, i)->attisdropped &&
            strcmp(NameStr(TupleDescAttr(columns, i)->attname), column) == 0)
            return i;
    elog(ERROR, "catalog table dpboost.%s has no column %s", RelationGetRelationName(table), column);
    pg_unreachable();
}

// What the executor needs to write into a table.
struct RowWriter {
    EState* state;
    ResultRelInfo* target;
    TupleTableSlot* slot;
};

RowWriter BeginWriting(Relation table) {
    RowWriter writer;
    writer.state = CreateExecutorState();
    writer.state->es_output_cid = GetCurrentCommandId(true);
    writer.target = makeNode(ResultRelInfo);
    InitResultRelInfo(writer.target, table, 0, nullptr, 0);
    writer.state->es_opened_result_relations =  // where triggers find it
        lappend(writer.state->es_opened_result_relations, writer.target);
    ExecOpenIndices(writer.target, false);
    writer.slot = ExecInitExtraTupleSlot(writer.state, RelationGetDescr(table), &TTSOpsVirtual);
    AfterTriggerBeginQuery();
    return writer;
}

void EndWriting(const RowWriter& writer) {
    if (!ItemPointerIsValid(&writer.slot->tts_tid))
        ereport(ERROR, (errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
                        errmsg("a trigger on dpboost.%s prevented a row from being written",
                               RelationGetRelationName(writer.target->ri_RelationDesc))));
    AfterTriggerEndQuery(writer.state);
    ExecResetTupleTable(writer.state->es_tupleTable, false);
    ExecCloseIndices(writer.target);
    FreeExecutorState(writer.state);
}

void SetValues(const RowWriter& writer, std::initializer_list<NamedValue> values) {
    Relation table = writer.target->ri_RelationDesc;
    for (const NamedValue& named : values) {
        const int column = FindColumn(table, named.column);
        if (TupleDescAttr(RelationGetDescr(table), column)->atttypid != named.value.type)
            elog(ERROR, "column %s of dpboost.%s has another type", named.column,
                 RelationGetRelationName(table));
        writer.slot->tts_values[column] = named.value.value;
        writer.slot->tts_isnull[column] = named.value.is_null;
    }
}

// A later version's column must not silently be null.
void CheckDefaults(const RowWriter& writer, std::initializer_list<NamedValue> values) {
    const TupleDesc columns = RelationGetDescr(writer.target->ri_RelationDesc);
    for (int i = 0; i < columns->natts; ++i) {
        const Form_pg_attribute column = TupleDescAttr(columns, i);
        bool named = column->attisdropped || !column->atthasdef;
        for (const NamedValue& value : values)
            named |= strcmp(NameStr(column->attname), value.column) == 0;
        if (!named)
            elog(ERROR, "column %s of dpboost.%s has a default that is not used", NameStr(column->attname),
                 RelationGetRelationName(writer.target->ri_RelationDesc));
    }
}

}  // namespace

Oid CatalogRelation(const char* name) {
    const Oid relation = get_relname_relid(name, get_namespace_oid("dpboost", false));
    if (!OidIsValid(relation))
        elog(ERROR, "catalog relation dpboost.%s is missing", name);
    return relation;
}

namespace {

Relation OpenTable(const char* name, LOCKMODE lock) {
    Relation table = table_open(CatalogRelation(name), lock);
    if (table->rd_rel->relkind != RELKIND_RELATION ||
        (table->rd_rel->relhassubclass && find_inheritance_children(RelationGetRelid(table), NoLock) != NIL))
        elog(ERROR, "dpboost.%s is no plain table", name);
    return table;
}

// A statement would not use an index that is not valid, and find all rows without it. While it is built anew, another one gets
// its name: then the second look finds that.
Relation OpenIndex(const char* name, Relation table, LOCKMODE lock) {
    for (int look = 0; look < 2; ++look) {
        Relation index = index_open(CatalogRelation(name), lock);
        const Form_pg_index form = index->rd_index;
        if (form->indrelid == RelationGetRelid(table) && form->indisvalid && form->indisready &&
            form->indislive)
            return index;
        index_close(index, NoLock);
        AcceptInvalidationMessages();
    }
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("index dpboost.%s is not valid", name),
             errhint("Build it anew: REINDEX INDEX dpboost.%s.", name)));
    pg_unreachable();
}

}  // namespace

RowTable OpenRows(const char* table, const char* index, LOCKMODE lock) {
    RowTable rows = {OpenTable(table, lock), nullptr, lock, nullptr};
    if (index != nullptr)
        rows.index = OpenIndex(index, rows.table, lock);
    rows.snapshot = RegisterMoment(RelationGetRelid(rows.table));
    return rows;
}

RowTable OpenRowsWith(const RowTable& rows, const char* table, const char* index) {
    RowTable other = {OpenTable(table, AccessShareLock), nullptr, AccessShareLock, nullptr};
    other.index = OpenIndex(index, other.table, AccessShareLock);
    other.snapshot = RegisterSnapshot(rows.snapshot);
    return other;
}

void CloseRows(const RowTable& rows) {
    UnregisterSnapshot(rows.snapshot);
    const LOCKMODE lock = rows.lock == AccessShareLock ? AccessShareLock : NoLock;
    if (rows.index != nullptr)
        index_close(rows.index, lock);
    table_close(rows.table, lock);
}

ScanKeyData RowKey(const RowTable& rows, const char* column, RegProcedure equals, Datum value) {
    const auto number = static_cast<AttrNumber>(column == nullptr ? 0 : FindColumn(rows.table, column) + 1);
    ScanKeyData key;
    for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(rows.index); ++i) {
        if (rows.index->rd_index->indkey.values[i] != number)
            continue;
        ScanKeyEntryInitialize(&key, 0, number, BTEqualStrategyNumber, InvalidOid,
                               rows.index->rd_indcollation[i], equals, value);
        return key;
    }
    elog(ERROR, "index %s has not this key", RelationGetRelationName(rows.index));
    pg_unreachable();
}

SysScanDesc FindRows(const RowTable& rows, ScanKeyData* keys, int count) {
    CheckReadAtMoment(RelationGetRelid(rows.table));
    return systable_beginscan_ordered(rows.table, rows.index, rows.snapshot, count, keys);
}

SysScanDesc AllRows(const RowTable& rows) {
    CheckReadAtMoment(RelationGetRelid(rows.table));
    return systable_beginscan(rows.table, InvalidOid, false, rows.snapshot, 0, nullptr);
}

HeapTuple LastRow(const RowTable& rows, ScanKeyData* key) {
    SysScanDesc scan = FindRows(rows, key, key == nullptr ? 0 : 1);
    HeapTuple found = systable_getnext_ordered(scan, BackwardScanDirection);
    HeapTuple last = HeapTupleIsValid(found) ? heap_copytuple(found) : nullptr;
    systable_endscan_ordered(scan);
    return last;
}

Datum ColumnOf(HeapTuple tuple, Relation table, const char* column, bool* is_null) {
    return heap_getattr(tuple, FindColumn(table, column) + 1, RelationGetDescr(table), is_null);
}

Datum ColumnOf(HeapTuple tuple, Relation table, const char* column) {
    return ColumnOf(tuple, table, FindColumn(table, column) + 1);
}

Datum ColumnOf(HeapTuple tuple, Relation table, int column) {
    bool is_null;
    const Datum value = heap_getattr(tuple, column, RelationGetDescr(table), &is_null);
    if (is_null)
        elog(ERROR, "column %d of dpboost.%s is null", column, RelationGetRelationName(table));
    return value;
}

void InsertRow(const char* table, std::initializer_list<NamedValue> values) {
    const RowTable rows = OpenRows(table, nullptr, RowExclusiveLock);
    const RowWriter writer = BeginWriting(rows.table);
    ExecClearTuple(writer.slot);
    for (int i = 0; i < RelationGetDescr(rows.table)->natts; ++i)
        writer.slot->tts_isnull[i] = true;
    SetValues(writer, values);
    CheckDefaults(writer, values);
    ExecStoreVirtualTuple(writer.slot);
    ExecSimpleRelationInsert(writer.target, writer.state, writer.slot);
    EndWriting(writer);
    CommandCounterIncrement();
    CloseRows(rows);
}

// A trigger that comes before the change locks the row, and where somebody else has changed it meanwhile PostgreSQL would look by the
// statement's plan whether it is still meant. There is none.
static void LockRow(const RowWriter& writer, HeapTuple row, Snapshot snapshot) {
    Relation table = writer.target->ri_RelationDesc;
    TM_FailureData failure;
    TupleTableSlot* slot = table_slot_create(table, &writer.state->es_tupleTable);
    if (table_tuple_lock(table, &row->t_self, snapshot, slot, writer.state->es_output_cid,
                         LockTupleNoKeyExclusive, LockWaitBlock, 0, &failure) != TM_Ok)
        ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                        errmsg("a row of dpboost.%s was changed meanwhile", RelationGetRelationName(table)),
                        errhint("Try again.")));
}

void UpdateRow(const RowTable& rows, HeapTuple row, std::initializer_list<NamedValue> values) {
    const RowWriter writer = BeginWriting(rows.table);
    const TriggerDesc* triggers = writer.target->ri_TrigDesc;
    if (triggers != nullptr && triggers->trig_update_before_row)
        LockRow(writer, row, rows.snapshot);
    TupleTableSlot* before =
        ExecInitExtraTupleSlot(writer.state, RelationGetDescr(rows.table), &TTSOpsHeapTuple);
    ExecStoreHeapTuple(row, before, false);
    ExecCopySlot(writer.slot, before);
    SetValues(writer, values);
    EPQState recheck;
    InitRecheck(&recheck, writer.state);
    ExecSimpleRelationUpdate(writer.target, writer.state, &recheck, before, writer.slot);
    EvalPlanQualEnd(&recheck);
    EndWriting(writer);
    CommandCounterIncrement();
}

int64 NextNumber(const char* sequence) {
    return nextval_internal(CatalogRelation(sequence), false);
}

}  // namespace dpboost
