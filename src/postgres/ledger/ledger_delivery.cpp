// Writes models into the catalog: that of a release that was paid, or one that was trained elsewhere.
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/ledger/ledger_datums.h"
#include "postgres/ledger/ledger_record.h"
#include "postgres/train/json_reader.h"

namespace dpboost {
namespace {

// The row with this number, as a copy; null: there is none.
HeapTuple FindByRelease(const RowTable& rows, int64 release_id) {
    ScanKeyData key = RowKey(rows, "release_id", F_INT8EQ, Int64GetDatum(release_id));
    return LastRow(rows, &key);
}

bool HasRelease(const char* table, const char* index, int64 release_id) {
    const RowTable rows = OpenRows(table, index);
    const bool found = FindByRelease(rows, release_id) != nullptr;
    CloseRows(rows);
    return found;
}

// The models of a release of groups, by their numbers from 1 on; returns how many there are, and copies them.
int32 ReadGroups(int64 release_id, const RowTable& rows, HeapTuple* groups) {
    int32 count = 0;
    ScanKeyData key = RowKey(rows, "release_id", F_INT8EQ, Int64GetDatum(release_id));
    SysScanDesc scan = FindRows(rows, &key, 1);
    while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection))
        if (++count <= kMaxGroups)
            groups[count - 1] = heap_copytuple(row);
    systable_endscan_ordered(scan);
    return count;
}

// The charge of a release that is delivered, as the ledger holds it.
struct PaidRow {
    RowTable ledger;
    HeapTuple row;
    RowTable groups;
    HeapTuple group_rows[kMaxGroups];
};

bool SameBytes(Datum left, Datum right) {
    const bytea* a = DatumGetByteaPP(left);
    const bytea* b = DatumGetByteaPP(right);
    return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
           memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

// Raises 55000 if the ledger does not hold the charge. Only the training that made it knows its claim: a release of the same
// number, after the extension was created anew, is another one.
void OpenPaid(const LedgerMessage* message, PaidRow* paid) {
    paid->ledger = OpenRows("ledger", "ledger_pkey");
    paid->groups = OpenRows("group_model", "group_model_pkey");
    paid->row = FindByRelease(paid->ledger, message->release_id);
    Relation table = paid->ledger.table;
    if (paid->row == nullptr || RememberedOid(ColumnOf(paid->row, table, "role")) != message->caller ||
        !SameBytes(ColumnOf(paid->row, table, "claim"), ClaimDatum(message)) ||
        ReadGroups(message->release_id, paid->groups, paid->group_rows) != message->group_count)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the ledger does not hold the charge of this training"),
                        errdetail("The extension was created anew while it ran.")));
}

void ClosePaid(const PaidRow& paid) {
    CloseRows(paid.groups);
    CloseRows(paid.ledger);
}

Parameter Now() {
    return TimeOf(GetCurrentTimestamp());
}

// The name means the new version from this commit on.
void WriteDeployment(const LedgerMessage* message, int64 name_id, int32 version) {
    InsertRow("deployment", {{"deployment_id", Int8(NextNumber("deployment_id_seq"))},
                             {"name_id", Int8(name_id)},
                             {"version", Int4(version)},
                             {"deployed_by", {RoleRefType(), RoleRef(message->caller, message->caller_name)}},
                             {"deployed_at", Now()}});
}

// What a model is called, whose it is, how it was trained and what it cost is copied from its charge. Returns its number.
// `group`: of a release of groups that of the model, from 1; else 0.
int64 WriteModel(const LedgerMessage* message, const PaidRow& paid, int32 group) {
    const LedgerPiece& features = group == 0 ? message->features : GroupModelsOf(message)[group - 1].features;
    const LedgerPiece& model = group == 0 ? message->model : GroupModelsOf(message)[group - 1].model;
    const auto charged = [&](const char* column) { return ColumnOf(paid.row, paid.ledger.table, column); };
    const auto named = [&](const char* column) {
        return group == 0 ? charged(column) : ColumnOf(paid.group_rows[group - 1], paid.groups.table, column);
    };
    const int64 name_id = DatumGetInt64(named("name_id"));
    const int32 version = DatumGetInt32(named("version"));
    const int64 model_id = NextNumber("model_id_seq");
    InsertRow("model",
              {{"model_id", Int8(model_id)},
               {"name_id", Int8(name_id)},
               {"name", {TEXTOID, named("model")}},
               {"version", Int4(version)},
               {"release_id", Int8(message->release_id)},
               {"method", {TEXTOID, charged("method")}},
               {"task", {TEXTOID, charged("task")}},
               {"epsilon", {FLOAT8OID, charged("epsilon")}},
               {"delta", {FLOAT8OID, charged("delta")}},
               {"options", {JSONBOID, JsonTextToDatum(PieceOf(message, message->options))}},
               {"features", {JSONBOID, JsonTextToDatum(PieceOf(message, features))}},
               {"content", {BYTEAOID, ByteaDatum(PieceOf(message, model), model.size)}},
               {"created_at", Now()},
               {"target", TextOf(PieceOf(message, message->target))},
               {"positive", If(message->has_positive, TextOf(PieceOf(message, message->positive)))}});
    ForgetOldGrants(name_id, model_id);
    if (message->deploy)
        WriteDeployment(message, name_id, version);
    return model_id;
}

void WriteEvaluation(const LedgerMessage* message, int64 model_id) {
    InsertRow("evaluation", {{"release_id", Int8(message->release_id)},
                             {"model_id", Int8(model_id)},
                             {"result", {JSONBOID, JsonTextToDatum(PieceOf(message, message->evaluation))}}});
}

void WriteImport(const LedgerMessage* message, const NamedModel& model) {
    CatalogWrite("UPDATE dpboost.model_name SET last_import = $2 WHERE name_id = $1",
                 {Int8(model.name_id), Int4(model.version)});
    CatalogWrite(
        "INSERT INTO dpboost.model (name_id, name, version, method, task, epsilon, delta, options, features, "
        "content)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9::jsonb, $10) RETURNING model_id",
        {Int8(model.name_id),
         TextOf(model.name),
         Int4(model.version),
         TextOf(PieceOf(message, message->method)),
         TextOf(PieceOf(message, message->task)),
         Float8(message->claimed_epsilon),
         Float8(message->claimed_delta),
         TextOf(PieceOf(message, message->options)),
         TextOf(PieceOf(message, message->features)),
         {BYTEAOID, ByteaDatum(PieceOf(message, message->model), message->model.size)}});
    ForgetOldGrants(model.name_id, DatumGetInt64(CatalogValue(0, 1)));
    WriteDeployment(message, model.name_id, model.version);
}

void WriteDelivery(int64 release_id) {
    InsertRow("delivery", {{"release_id", Int8(release_id)}, {"delivered_at", Now()}});
}

// Of a release of groups all models, else the one. Returns the number of the last.
int64 WriteModels(const LedgerMessage* message, const PaidRow& paid) {
    int64 model_id = 0;
    if (message->group_count == 0)
        return WriteModel(message, paid, 0);
    for (int32 group = 1; group <= message->group_count; ++group)
        model_id = WriteModel(message, paid, group);
    return model_id;
}

// The model, if it is one, the result, and that it was delivered. Nothing if it was before.
void WriteWhatWasPaid(const LedgerMessage* message) {
    PaidRow paid;
    OpenPaid(message, &paid);
    if (!HasRelease("delivery", "delivery_pkey", message->release_id)) {
        const int64 model_id =
            message->kind == ReleaseKind::kTraining ? WriteModels(message, paid) : message->released.model_id;
        if (PieceOf(message, message->evaluation)[0] != '\0')
            WriteEvaluation(message, model_id);
        WriteDelivery(message->release_id);
        // Accounts that somebody has changed since keep what was reserved: that is never too little.
        if (message->units.size > 0)
            WriteUnitBuckets(message->unit_state_id, message->unit_generation,
                             PieceOf(message, message->units), message->units.size);
    }
    ClosePaid(paid);
}

}  // namespace

void RecordImport(const LedgerMessage* message) {
    CatalogScope scope;
    NamedModel model;
    CatalogBegin(&scope);
    char* name = pstrdup(PieceOf(message, message->model_name));
    const int32 version = TakeVersion(name);
    NameNextModel(message->caller, name, &model);
    if (version != 0 && version < model.version)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("version %d of model \"%s\" cannot be imported any more", version, name),
                        errdetail("Versions up to %d have been used, and none means two models.",
                                  model.version - 1)));
    if (version != 0)
        model.version = version;
    WriteImport(message, model);
    CatalogEnd(&scope);
}

void RecordDelivery(const LedgerMessage* message) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const bool settles =  // at a party of a federation: the model is elsewhere
        message->kind == ReleaseKind::kTraining && message->group_count == 0 && message->model.size == 0;
    if (settles) {
        WriteUnitBuckets(message->unit_state_id, message->unit_generation, PieceOf(message, message->units),
                         message->units.size);
    } else {
        WriteWhatWasPaid(message);
    }
    CatalogEnd(&scope);
}

}  // namespace dpboost
