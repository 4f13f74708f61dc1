#include "postgres/federation/party_session.h"

#include "postgres/train/json_reader.h"

namespace dpboost {

void RaiseOrder(const char* message) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message),
                    errhint("These functions are for the coordinator of a federation, who calls them in one "
                            "transaction.")));
    pg_unreachable();
}

PartySession* NewSession(MemoryContext parent) {
    const MemoryContext context = AllocSetContextCreate(parent, "dpboost party", ALLOCSET_DEFAULT_SIZES);
    auto* session = static_cast<PartySession*>(MemoryContextAllocZero(context, sizeof(PartySession)));
    session->context = context;
    return session;
}

namespace {

const Reading& ReadingOf(const PartySession* session) {
    return session->evaluation != nullptr ? session->evaluation->reading : session->call.reading;
}

// A column that the core knows by name.
const char* FeatureName(const PartyCore& core, int feature) {
    return core.call.columns.features[feature].name.c_str();
}

// Bytes of others become text here: they must be text in this database's encoding.
void CheckText(const std::string& text) {
    pg_verifymbstr(text.data(), static_cast<int>(text.size()), false);
}

void CheckTexts(const FederatedCall& call) {
    CheckText(call.model);
    CheckText(call.options);
    CheckText(call.columns.target.name);
    for (const PublicColumn& feature : call.columns.features)
        CheckText(feature.name);
    if (call.shared) {
        CheckText(call.shared->method);
        CheckText(call.shared->options);
        if (call.shared->positive)
            CheckText(*call.shared->positive);
    }
}

// The announced model, as if this catalog had it.
const CatalogModel* GivenModel(const FederatedCall& call) {
    auto* model = static_cast<CatalogModel*>(palloc0(sizeof(CatalogModel)));
    const SharedModel& shared = *call.shared;
    model->text = model->name = call.model.c_str();
    model->owner = "";
    model->owned = true;
    model->released.version = static_cast<int32>(shared.version);
    model->content = shared.content.data();
    model->content_size = shared.content.size();
    model->options = ReadJson(DatumGetJsonbP(JsonTextToDatum(shared.options.c_str())));
    if (model->options->kind != JsonValue::kObject)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the options of the announced model are not an object")));
    model->method = shared.method.c_str();
    model->target = call.columns.target.name.c_str();
    model->positive = shared.positive ? shared.positive->c_str() : nullptr;
    return model;
}

void TakePrivacy(const FederatedCall& call, PrivacyArguments* privacy) {
    privacy->given = true;
    privacy->epsilon = call.epsilon;
    privacy->delta = call.delta;
}

// The announced call on this party's relation, in the current memory context.
void TakeCall(const Federation& federation, const PartyCore& core, bool estimate, NamedCall* call) {
    const int features = static_cast<int>(core.call.columns.features.size());
    auto** names = static_cast<const char**>(palloc(sizeof(char*) * (features + 1)));
    for (int i = 0; i < features; ++i)
        names[i] = FeatureName(core, i);
    call->model = estimate ? nullptr : core.call.model.c_str();
    call->relid = federation.relid;
    call->target = core.call.columns.target.name.c_str();
    call->features = NameArray(names, features);
    TakePrivacy(core.call, &call->training.privacy);
    call->training.options = DatumGetJsonbP(JsonTextToDatum(core.call.options.c_str()));
    call->training.caller = GetUserId();
    if (core.call.shared)
        ContinueFrom(GivenModel(core.call), &call->training);
    PrepareCall(call);
}

void BeginEvaluationHere(PartySession* session, const Federation& federation, bool estimate) {
    if (estimate)
        RaiseOrder("there are no estimates of evaluations on several servers");
    const FederatedCall& announced = (*session->core)->call;
    EvaluationCall* call = &session->evaluation_call;
    call->caller = GetUserId();
    call->model_count = 1;
    auto** models = static_cast<const char**>(palloc(sizeof(char*)));
    models[0] = announced.model.c_str();
    call->models = models;
    call->relid = federation.relid;
    call->target = announced.columns.target.name.c_str();
    TakePrivacy(announced, &call->privacy);
    call->options = DatumGetJsonbP(JsonTextToDatum(announced.options.c_str()));
    call->federated = &session->terms;
    call->given = GivenModel(announced);
    session->evaluation = BeginEvaluation(*call);
    CallCore([&] { CheckEncodings(announced, (*session->evaluation->core)->features()); });
}

}  // namespace

void BeginSession(PartySession* session, const Federation& federation, const Bytes& call, const Bytes& plan,
                  bool estimate) {
    session->core = CoreState<PartyCore>::Make(session->context, federation, call);
    PartyCore& core = **session->core;
    CheckTexts(core.call);
    session->terms.columns = &core.call.columns;
    session->terms.parties = core.roster.numbers();
    session->terms.plan_bytes = static_cast<const char*>(memcpy(palloc(plan.size + 1), plan.data, plan.size));
    session->terms.plan_size = plan.size;
    if (core.call.kind == FederatedKind::kEvaluation) {
        BeginEvaluationHere(session, federation, estimate);
    } else {
        session->call.training.federated = &session->terms;
        TakeCall(federation, core, estimate, &session->call);
        session->training = BeginTraining(session->call.training);
        CallCore([&] { CheckEncodings(core.call, (*session->training->core)->features()); });
    }
    CheckReading(ReadingOf(session));
}

// Between two statements a transaction may change its own tables: rows are read as what they were when it opened.
void CheckUnchanged(const PartySession* session) {
    const Oid relid = ReadingOf(session).relid;
    bool same = true;
    const auto check = [&](const SourceColumn& column) {
        same = same && get_atttype(relid, column.attnum) == column.type;
    };
    const char* unit = session->call.training.unit;
    Oid unit_type = session->call.training.unit_type;
    if (session->evaluation != nullptr) {
        const RunningEvaluation& evaluation = *session->evaluation;
        check(evaluation.target_column);
        for (int i = 0; i < evaluation.features; ++i)
            check(evaluation.feature_columns[i]);
        unit = evaluation.unit;
        unit_type = evaluation.unit_type;
    } else {
        const TrainingCall& training = session->call.training;
        check(training.target);
        for (int i = 0; i < training.features.count; ++i)
            check(training.features.columns[i]);
    }
    if (unit != nullptr)
        same = same && get_atttype(relid, get_attnum(relid, unit)) == unit_type;
    if (!same)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the relation of a federated training has changed since it was opened")));
}

void ExpectCharge(PartySession* session) {
    StartOrKeep(GetUserId(),
                session->evaluation != nullptr ? &session->evaluation->worker : &session->training->worker);
}

void TakeRows(PartySession* session) {
    ExpectCharge(session);  // it may have waited as long as it does, or given way to others
    if (session->evaluation != nullptr) {
        ReadRows(session->evaluation, ReadingOf(session));
        FinishRows(session->evaluation);
    } else {
        ReadRows(session->training, ReadingOf(session));
        FinishRows(session->training);
    }
}

}  // namespace dpboost
