// Writes a charge into the catalog. A relation that was read is charged under all its identities, and so is
// every role that the caller acted for: what one of them releases, all of them have released.
#include "postgres/ledger/ledger_record.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/catalog_rows.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/ledger_datums.h"
#include "postgres/ledger/total_lines.h"
#include "postgres/limits/renewal.h"
#include "postgres/train/json_reader.h"
#include "privacy/accountant/rdp.h"

namespace dpboost {
namespace {

static_assert(sizeof(LedgerPlan::rho) / sizeof(double) == kOrderCount, "one value per order");

Datum NameDatum(const char* text) {
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, text);
    return NameGetDatum(name);
}

Datum CurveDatum(const LedgerPlan* plan) {
    Datum values[kOrderCount];
    for (size_t i = 0; i < kOrderCount; ++i)
        values[i] = Float8GetDatum(plan->rho[i]);
    return PointerGetDatum(
        construct_array(values, kOrderCount, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The names of what was read, for people.
Datum RelationNames(const RelationSet* relations) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (relations->count + 1)));
    int count = 0;
    for (int i = 0; i < relations->count; ++i) {
        const ReadRelation* relation = &relations->items[i];
        if (relation->read_as == ReadAs::kDirect)
            values[count++] = CStringGetTextDatum(
                quote_qualified_identifier(relation->schema_name, relation->relation_name));
    }
    return PointerGetDatum(construct_array(values, count, TEXTOID, -1, false, TYPALIGN_INT));
}

const char* KindName(ReleaseKind kind) {
    return kind == ReleaseKind::kTraining     ? "training"
           : kind == ReleaseKind::kEvaluation ? "evaluation"
                                              : "choice";
}

int64 WriteLedger(const LedgerMessage* message, const LedgerPlan* plan, const RelationSet* relations,
                  const NamedModel& model) {
    const int64 release_id = NextNumber("release_id_seq");
    InsertRow("ledger",
              {{"release_id", Int8(release_id)},
               {"released_at", TimeOf(LedgerTime())},
               {"role", {RoleRefType(), RoleRef(message->caller, message->caller_name)}},
               {"role_name", {NAMEOID, NameDatum(message->caller_name)}},
               {"name_id", Int8(model.name_id)},
               {"model", TextOf(model.name)},
               {"version", Int4(model.version)},
               {"method", TextOf(PieceOf(message, message->method))},
               {"task", TextOf(PieceOf(message, message->task))},
               {"epsilon", Float8(plan->epsilon)},
               {"delta", Float8(plan->delta)},
               {"privacy_unit",
                If(message->has_privacy_unit, {NAMEOID, NameDatum(PieceOf(message, message->privacy_unit))})},
               {"relations", {TEXTARRAYOID, RelationNames(relations)}},
               {"plan", {BYTEAOID, ByteaDatum(PieceOf(message, message->plan), message->plan.size)}},
               {"curve", {FLOAT8ARRAYOID, CurveDatum(plan)}},
               {"pure_epsilon", Float8(plan->pure_epsilon)},
               {"claim", {BYTEAOID, ClaimDatum(message)}},
               {"noise_multiplier", Float8(message->noise_multiplier)},
               {"calibrated_by", TextOf(plan->calibrated_by)},
               {"kind", TextOf(KindName(message->kind))}});
    return release_id;
}

// The caller, and every role with an allowance on one of the relations (a revoked one counts as well) that
// the caller acts for. As a list of oids.
List* ChargedRoles(Oid caller, const RelationSet* relations) {
    List* roles = list_make1_oid(caller);
    const RowTable rows = OpenRows("allowance", "allowance_key");
    for (int i = 0; i < relations->count; ++i) {
        ScanKeyData key = RowKey(rows, nullptr, F_OIDEQ, ObjectIdGetDatum(relations->items[i].relid));
        SysScanDesc scan = FindRows(rows, &key, 1);
        while (HeapTuple row = systable_getnext_ordered(scan, ForwardScanDirection)) {
            const Oid role = RememberedOid(ColumnOf(row, rows.table, "grantee"));
            if (OidIsValid(role) && RoleName(role) != nullptr && ActsFor(caller, role))
                roles = list_append_unique_oid(roles, role);
        }
        systable_endscan_ordered(scan);
    }
    CloseRows(rows);
    return roles;
}

void WriteCharge(int64 release_id, const ReadRelation* relation, const ArrayType* ids, Oid role,
                 const char* role_name) {
    const bool bounds_rows = relation->row_by_row && relation->unit[0] == '\0';
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    for (int i = 0; i < ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids)); ++i)
        InsertRow("charge",
                  {{"charge_id", Int8(NextNumber("charge_id_seq"))},
                   {"release_id", Int8(release_id)},
                   {"relation_id", Int8(values[i])},
                   {"role", {RoleRefType(), RoleRef(role, role_name)}},
                   {"role_name", {NAMEOID, NameDatum(role_name)}},
                   {"direct", {BOOLOID, BoolGetDatum(relation->read_as == ReadAs::kDirect)}},
                   {"privacy_unit",
                    If(!bounds_rows, {NAMEOID, NameDatum(relation->row_by_row ? relation->unit : "")})}});
}

// A child is charged by itself as well: it may be detached one day.
void WriteCharges(const LedgerMessage* message, int64 release_id, const RelationSet* relations) {
    if (relations->count == 0)  // a coordinator's own row: nobody is charged
        return;
    Identities* identities = ResolveIdentities(relations, CurrentMemoryContext);
    List* roles = ChargedRoles(message->caller, relations);
    for (int i = 0; i < relations->count; ++i) {
        const ReadRelation* relation = &relations->items[i];
        if (relation->temporary)
            continue;
        ArrayType* ids = RememberRelation(relation, identities->of[i].own);
        ListCell* cell;
        foreach (cell, roles) {
            const Oid role = lfirst_oid(cell);
            const char* name = role == message->caller ? message->caller_name : RoleName(role);
            WriteCharge(release_id, relation, ids, role, name);
        }
    }
    AddToTotals(release_id, std::string_view(PieceOf(message, message->plan), message->plan.size));
}

// The model that an evaluation is about; its name may have been given away with its owner meanwhile.
void NameReleasedModel(const ReleasedModel& released, NamedModel* model) {
    if (CatalogRead("SELECT name FROM dpboost.model_name WHERE name_id = $1", {Int8(released.name_id)}, 1) ==
        0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("the model does not exist any more")));
    model->name_id = released.name_id;
    model->name = TextDatumGetCString(CatalogValue(0, 1));
    model->version = released.version;
}

// With whom a release was made.
void WriteFederation(const LedgerMessage* message, int64 release_id) {
    const char* federation = PieceOf(message, message->federation);
    if (federation[0] == '\0')
        return;
    const JsonValue* json = ReadJson(DatumGetJsonbP(JsonTextToDatum(federation)));
    const auto text = [json](const char* key) {
        const JsonValue* value = json->Find(key);
        return If(value != nullptr && value->kind == JsonValue::kString,
                  TextOf(value == nullptr || value->text == nullptr ? "" : value->text));
    };
    InsertRow("federated_release", {{"release_id", Int8(release_id)},
                                    {"federation", text("federation")},
                                    {"roster", text("roster")},
                                    {"session", text("session")}});
}

// The names and versions of the groups' models.
void WriteGroups(const LedgerMessage* message, LedgerRecord* record) {
    const char* text = PieceOf(message, message->groups);
    for (int32 i = 0; i < message->group_count; ++i, text += strlen(text) + 1) {
        NamedModel model;
        NameNextModel(message->caller, text, &model);
        record->group_versions[i] = model.version;
        CatalogWrite(
            "INSERT INTO dpboost.group_model (release_id, number, name_id, model, version)"
            " VALUES ($1, $2, $3, $4, $5)",
            {Int8(record->release_id), Int4(i + 1), Int8(model.name_id), TextOf(model.name),
             Int4(model.version)});
    }
}

}  // namespace

void RecordCharge(const LedgerMessage* message, const LedgerPlan* plan, const RelationSet* relations,
                  LedgerRecord* record) {
    CatalogScope scope;
    NamedModel model;
    CatalogBegin(&scope);
    // At a party of a federation the model is elsewhere: its name counts the releases here.
    if (message->kind == ReleaseKind::kTraining || message->released.name_id == 0)
        NameNextModel(message->caller, PieceOf(message, message->model_name), &model);
    else
        NameReleasedModel(message->released, &model);
    record->version = model.version;
    record->release_id = WriteLedger(message, plan, relations, model);
    WriteCharges(message, record->release_id, relations);
    WriteFederation(message, record->release_id);
    memset(record->group_versions, 0, sizeof record->group_versions);
    WriteGroups(message, record);
    CatalogEnd(&scope);
}

}  // namespace dpboost
