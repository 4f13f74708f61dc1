// Writes a release into the catalog. A relation that was read is charged under all its identities, and so is
// every role that the caller acted for: what one of them releases, all of them have released.
#include "postgres/ledger/ledger_record.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/identity.h"
#include "postgres/ledger/limit_totals.h"
#include "postgres/limits/renewal.h"
#include "privacy/accountant/rdp.h"

namespace dpboost {
namespace {

static_assert(sizeof(LedgerPlan::rho) / sizeof(double) == kOrderCount, "one value per order");

int64 ReturnedId() {
    return DatumGetInt64(CatalogValue(0, 1));
}

Datum NameDatum(const char* text) {
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, text);
    return NameGetDatum(name);
}

Datum ByteaDatum(const char* bytes, size_t size) {
    auto* value = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(value, size + VARHDRSZ);
    memcpy(VARDATA(value), bytes, size);
    return PointerGetDatum(value);
}

Datum ClaimDatum(const LedgerMessage* message) {
    return ByteaDatum(reinterpret_cast<const char*>(message->claim), kClaimSize);
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
    CatalogWrite(
        "INSERT INTO dpboost.ledger (role, role_name, model, version, method, task, epsilon, delta, "
        "privacy_unit,"
        " relations, plan, curve, pure_epsilon, name_id, claim, noise_multiplier, calibrated_by, kind,"
        " released_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,"
        " pg_catalog.sha256($15), $16, $17, $18, " DPBOOST_LEDGER_TIME ") RETURNING release_id",
        {{RoleRefType(), RoleRef(message->caller, message->caller_name)},
         {NAMEOID, NameDatum(message->caller_name)},
         TextOf(model.name),
         Int4(model.version),
         TextOf(PieceOf(message, message->method)),
         TextOf(PieceOf(message, message->task)),
         Float8(plan->epsilon),
         Float8(plan->delta),
         If(message->has_privacy_unit, {NAMEOID, NameDatum(PieceOf(message, message->privacy_unit))}),
         {TEXTARRAYOID, RelationNames(relations)},
         {BYTEAOID, ByteaDatum(PieceOf(message, message->plan), message->plan.size)},
         {FLOAT8ARRAYOID, CurveDatum(plan)},
         Float8(plan->pure_epsilon),
         Int8(model.name_id),
         {BYTEAOID, ClaimDatum(message)},
         Float8(message->noise_multiplier),
         TextOf(plan->calibrated_by),
         TextOf(KindName(message->kind))});
    return ReturnedId();
}

// The caller, and every role with an allowance on one of the relations (a revoked one counts as well) that
// the caller acts for. As a list of oids.
List* ChargedRoles(Oid caller, const RelationSet* relations) {
    List* roles = list_make1_oid(caller);
    const uint64 rows =
        CatalogRead("SELECT DISTINCT grantee::oid FROM dpboost.allowance WHERE relation::oid = ANY ($1)",
                    {{OIDARRAYOID, OidsOf(relations, &ReadRelation::relid)}});
    for (uint64 row = 0; row < rows; ++row) {
        const Oid role = DatumGetObjectId(CatalogValue(row, 1));
        if (OidIsValid(role) && RoleName(role) != nullptr && ActsFor(caller, role))
            roles = list_append_unique_oid(roles, role);
    }
    return roles;
}

void WriteCharge(int64 release_id, const ReadRelation* relation, ArrayType* ids, Oid role,
                 const char* role_name) {
    const bool bounds_rows = relation->row_by_row && relation->unit[0] == '\0';
    CatalogWrite(
        "INSERT INTO dpboost.charge (release_id, relation_id, role, role_name, direct, privacy_unit)"
        " SELECT $1, id, $3, $4, $5, $6 FROM unnest($2) AS id",
        {Int8(release_id),
         Int8s(ids),
         {RoleRefType(), RoleRef(role, role_name)},
         {NAMEOID, NameDatum(role_name)},
         {BOOLOID, BoolGetDatum(relation->read_as == ReadAs::kDirect)},
         If(!bounds_rows, {NAMEOID, NameDatum(relation->row_by_row ? relation->unit : "")})});
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
    AddToTotals(release_id);
}

// Whether the model of a release was stored already. Raises 55000 if the ledger does not hold the charge.
// Only the training that made it knows its claim: a release of the same number, after the extension was
// created anew, is another one.
bool IsDelivered(const LedgerMessage* message) {
    if (CatalogRead(
            "SELECT EXISTS (SELECT FROM dpboost.delivery d WHERE d.release_id = l.release_id)"
            " FROM dpboost.ledger l WHERE l.release_id = $1 AND l.role::oid = $2"
            " AND l.claim = pg_catalog.sha256($3)"
            " AND $4 = (SELECT count(*) FROM dpboost.group_model g WHERE g.release_id = l.release_id)",
            {Int8(message->release_id),
             OidOf(message->caller),
             {BYTEAOID, ClaimDatum(message)},
             Int8(message->group_count)},
            1) == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the ledger does not hold the charge of this training"),
                        errdetail("The extension was created anew while it ran.")));
    return DatumGetBool(CatalogValue(0, 1));
}

// The name means the new version from this commit on.
void WriteDeployment(const LedgerMessage* message, int64 name_id, int32 version) {
    CatalogWrite(
        "INSERT INTO dpboost.deployment (name_id, version, deployed_by) VALUES ($1, $2, $3)",
        {Int8(name_id), Int4(version), {RoleRefType(), RoleRef(message->caller, message->caller_name)}});
}

// What a model is called, whose it is, how it was trained and what it cost is copied from its charge. Returns its number.
// `group`: of a release of groups that of the model, from 1; else 0.
int64 WriteModel(const LedgerMessage* message, int32 group) {
    const LedgerPiece& features = group == 0 ? message->features : GroupModelsOf(message)[group - 1].features;
    const LedgerPiece& model = group == 0 ? message->model : GroupModelsOf(message)[group - 1].model;
    CatalogWrite(
        "INSERT INTO dpboost.model (name, version, name_id, release_id, method, task, epsilon, delta,"
        " options, features, content, target, positive) SELECT coalesce(g.model, l.model),"
        " coalesce(g.version, l.version), coalesce(g.name_id, l.name_id), l.release_id, method, task,"
        " epsilon, delta, $2::jsonb, $3::jsonb, $4, $5, $6 FROM dpboost.ledger AS l LEFT JOIN"
        " dpboost.group_model AS g ON g.release_id = l.release_id AND g.number = $7 WHERE l.release_id = $1"
        " RETURNING model_id, name_id, version",
        {Int8(message->release_id),
         TextOf(PieceOf(message, message->options)),
         TextOf(PieceOf(message, features)),
         {BYTEAOID, ByteaDatum(PieceOf(message, model), model.size)},
         TextOf(PieceOf(message, message->target)),
         If(message->has_positive, TextOf(PieceOf(message, message->positive))),
         Int4(group)});
    const int64 name_id = DatumGetInt64(CatalogValue(0, 2));
    const int32 version = DatumGetInt32(CatalogValue(0, 3));
    const int64 model_id = ReturnedId();
    ForgetOldGrants(name_id, model_id);
    if (message->deploy)
        WriteDeployment(message, name_id, version);
    return model_id;
}

void WriteEvaluation(const LedgerMessage* message, int64 model_id) {
    CatalogWrite("INSERT INTO dpboost.evaluation (release_id, model_id, result) VALUES ($1, $2, $3::jsonb)",
                 {Int8(message->release_id), Int8(model_id), TextOf(PieceOf(message, message->evaluation))});
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
    ForgetOldGrants(model.name_id, ReturnedId());
    WriteDeployment(message, model.name_id, model.version);
}

void WriteDelivery(int64 release_id) {
    CatalogWrite("INSERT INTO dpboost.delivery (release_id) VALUES ($1)", {Int8(release_id)});
}

// With whom a release was made.
void WriteFederation(const LedgerMessage* message, int64 release_id) {
    const char* federation = PieceOf(message, message->federation);
    if (federation[0] == '\0')
        return;
    CatalogWrite(
        "INSERT INTO dpboost.federated_release (release_id, federation, roster, session)"
        " SELECT $1, f ->> 'federation', f ->> 'roster', f ->> 'session' FROM (SELECT $2::jsonb) AS t (f)",
        {Int8(release_id), TextOf(federation)});
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

// Of a release of groups all models, else the one. Returns the number of the last.
int64 WriteModels(const LedgerMessage* message) {
    int64 model_id = 0;
    if (message->group_count == 0)
        return WriteModel(message, 0);
    for (int32 group = 1; group <= message->group_count; ++group)
        model_id = WriteModel(message, group);
    return model_id;
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
    } else if (!IsDelivered(message)) {
        const int64 model_id =
            message->kind == ReleaseKind::kTraining ? WriteModels(message) : message->released.model_id;
        if (PieceOf(message, message->evaluation)[0] != '\0')
            WriteEvaluation(message, model_id);
        WriteDelivery(message->release_id);
        // Accounts that somebody has changed since keep what was reserved: that is never too little.
        if (message->units.size > 0)
            WriteUnitBuckets(message->unit_state_id, message->unit_generation,
                             PieceOf(message, message->units), message->units.size);
    }
    CatalogEnd(&scope);
}

}  // namespace dpboost
