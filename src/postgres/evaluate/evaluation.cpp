#include "postgres/evaluate/evaluation.h"

#include "postgres/boundary/settings.h"
#include "postgres/columns/source_column.h"
#include "postgres/population/privacy_unit.h"
#include "postgres/train/calibration.h"
#include "postgres/train/json_reader.h"
#include "postgres/units/reserve_units.h"

namespace dpboost {
namespace {

// ---- columns ----

// What the core must know to begin, as plain data; becomes the core's EvaluationSchema inside the door.
struct PlainSchema {
    const RunningEvaluation& running;
    const JsonValue* options;
    const char* relation;
    size_t memory;

    operator EvaluationSchema() const {
        EvaluationSchema schema;
        const EvaluationCall& call = *running.call;
        for (int i = 0; i < call.model_count; ++i)
            schema.models.push_back({running.models[i].text,
                                     {running.models[i].content, running.models[i].content_size},
                                     running.models[i].options});
        schema.choice = call.choice;
        schema.options = options;
        schema.privacy = call.privacy;
        schema.target.name = running.target_column.name;
        schema.target.kind = running.target_column.kind;
        if (call.federated != nullptr) {
            CheckReadable(schema.target, call.federated->columns->target);
            schema.target = call.federated->columns->target;
            schema.parties = call.federated->parties;
        }
        schema.relation = relation;
        schema.has_units = running.unit != nullptr;
        if (running.units.id != 0)
            schema.unit_limit.emplace(running.units.epsilon, running.units.delta, running.units.order);
        schema.unseen = running.right == TrainRight::kBudget;
        schema.memory = memory;
        return schema;
    }
};
static_assert(std::is_trivially_destructible_v<PlainSchema>, "a longjmp must be able to skip it");

// The relation's column of that name must hold what the model was trained on.
void BindFeature(RunningEvaluation* running, int feature, AttrNumber* attnum) {
    const SourceColumn& column = running->feature_columns[feature] =
        FindFeatureColumn(running->call->relid, (*running->core)->features()[feature]);
    MakeColumnReader(column.type, column.kind, &(*running->core)->encoders()[feature],
                     &running->readers[feature]);
    *attnum = column.attnum;
}

// Target, features, unit: who may read them, and how.
void BindColumns(RunningEvaluation* running, Oid owner) {
    const Oid relid = running->call->relid;
    running->features = static_cast<int>((*running->core)->features().size());
    running->readers = static_cast<ColumnReader*>(palloc0(sizeof(ColumnReader) * (running->features + 1)));
    running->feature_columns =
        static_cast<SourceColumn*>(palloc0(sizeof(SourceColumn) * (running->features + 1)));
    auto* columns = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * (running->features + 2)));
    int count = 0;
    columns[count++] = running->target_column.attnum;
    for (int i = 0; i < running->features; ++i)
        BindFeature(running, i, &columns[count++]);
    if (running->unit != nullptr)
        columns[count++] = get_attnum(relid, running->unit);
    const TrainRight right = CheckMayTrain(running->call->caller, relid, columns, count);
    running->reading = {relid, owner, right == TrainRight::kBudget, FeatureShape::kColumns, columns, count};
    MakeTargetReader((*running->core)->target(), running->target_column, &running->target);
    MakeUnitReader(running->unit, running->unit_type, running);
}

void FlushRows(RowSink* sink) {
    CallCore([&] { (*static_cast<RunningEvaluation*>(sink)->core)->AppendRows(); });
}

// ---- the steps ----

// The models of the call, in its order.
const CatalogModel* FindModels(const EvaluationCall& call) {
    if (call.federated != nullptr) {
        NewModelName name;  // in the ledger here
        CheckCanRelease(call.caller, call.models[0], &name);
        return call.given;
    }
    CheckCanCharge();
    auto* models = static_cast<CatalogModel*>(palloc0(sizeof(CatalogModel) * (call.model_count + 1)));
    for (int i = 0; i < call.model_count; ++i)
        FindCatalogModel(call.caller, call.models[i], &models[i]);
    return models;
}

// The noise, as this server finds it or as it was announced.
void FixNoise(RunningEvaluation* running) {
    const FederatedTerms* terms = running->call->federated;
    if (terms == nullptr)
        CalibrateFor(running->budgets, **running->core);
    else
        WithConstraints(running->budgets, [&](const std::vector<BudgetConstraint>& constraints) {
            (*running->core)->Adopt({terms->plan_bytes, terms->plan_size}, constraints);
        });
}

}  // namespace

RunningEvaluation* BeginEvaluation(const EvaluationCall& call) {
    auto* running = static_cast<RunningEvaluation*>(palloc0(sizeof(RunningEvaluation)));
    running->call = &call;
    running->models = FindModels(call);
    Relation relation = relation_open(call.relid, AccessShareLock);
    // Without a right to the relation as such nothing more is said about it.
    running->target_column = FindColumn(call.relid, call.target);
    running->right = CheckMayTrain(call.caller, call.relid, &running->target_column.attnum, 1);
    RelationSet* relations = RelationsBehind(call.relid);
    running->unit = UnitOfRelation(relations, call.relid);
    running->relations = relations;
    CheckColumnType(&running->target_column, "target");
    running->budgets = LoadBudgets(call.caller, relations);
    running->unit_type = running->unit == nullptr ? InvalidOid : FindColumn(call.relid, running->unit).type;
    FindUnitState(running->budgets, relations, running->unit_type, &running->units);
    PlainSchema schema{*running, ReadJson(call.options), DescribeRelation(call.relid), MaxMemoryBytes()};
    running->core = CoreState<EvaluationCore>::Make(CurrentMemoryContext, schema);
    running->buffer = (*running->core)->buffer();
    running->RowSink::columns = running->buffer->columns.data();
    running->flush = FlushRows;
    BindColumns(running, relation->rd_rel->relowner);
    relation_close(relation, NoLock);
    CheckPerTrainLimit(running->budgets, (*running->core)->epsilon(), (*running->core)->delta());
    FixNoise(running);
    return running;
}

void FinishRows(RunningEvaluation* running) {
    CallCore([&] {
        PgInterrupt interrupt;
        (*running->core)->FinishRows(interrupt);
    });
}

namespace {

// Another release may have been charged since this one began.
void CalibrateAgainIfCharged(RunningEvaluation* running) {
    const BudgetList* budgets = LoadBudgets(running->call->caller, running->relations);
    if (SameBudgets(budgets, running->budgets))
        return;
    running->budgets = budgets;
    CalibrateFor(budgets, **running->core);
}

}  // namespace

namespace {

void BeginToPay(RunningEvaluation* running, const char* federation, PaidRelease* paid) {
    const EvaluationCore& core = **running->core;
    ChargeRequest request;
    memset(static_cast<void*>(&request), 0, sizeof request);
    request.caller = running->call->caller;
    request.right = running->reading.as_owner ? TrainRight::kBudget : TrainRight::kSelect;
    request.kind = running->call->choice ? ReleaseKind::kChoice : ReleaseKind::kEvaluation;
    if (federation == nullptr)
        request.model = running->models[0].released;
    else
        request.model_name = running->call->models[0];
    request.method = running->call->choice ? "best" : "evaluate";
    request.task = core.task_name();
    request.plan_bytes = core.plan_bytes().data();
    request.plan_size = core.plan_bytes().size();
    request.noise_multiplier = core.noise_multiplier();
    request.relations = running->relations;
    request.privacy_unit = running->unit;
    request.federation = federation;
    request.delivery_follows = federation == nullptr;
    request.waiting = &running->worker;
    ReserveUnits(&running->units, running->core, &request);
    BeginCharge(&request, paid);
}

}  // namespace

void PayEvaluation(RunningEvaluation* running, const char* federation, PaidRelease* paid) {
    BeginToPay(running, federation, paid);
    AwaitCharge(paid);
}

namespace {

// Nothing else in an evaluation takes random numbers, and nothing calls it without a charge.
void Draw(RunningEvaluation* running, PaidRelease* paid) {
    ChaChaSource::Seed seed;
    if (!pg_strong_random(seed.data(), seed.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] {
        PgInterrupt interrupt;
        (*running->core)->Evaluate(Cashier::Receipt(paid), std::move(seed), interrupt);
    });
}

// Says with every error after the charge that there is one.
void DescribeCharge(void* argument) {
    const int64 release_id = ChargedSoFar(static_cast<const PaidRelease*>(argument));
    if (release_id > 0)
        errcontext("evaluation charged as release %lld; see dpboost_ledger",
                   static_cast<long long>(release_id));
}

// Sums rows up while the charge is under way, and draws when it is there.
void SumDrawAndDeliver(RunningEvaluation* running, PaidRelease* paid) {
    ErrorContextCallback context;
    context.callback = DescribeCharge;
    context.arg = paid;
    context.previous = error_context_stack;
    error_context_stack = &context;
    CallCore([&] {
        PgInterrupt interrupt;
        (*running->core)->SumUp(interrupt);
    });
    AwaitCharge(paid);
    Draw(running, paid);
    DeliverEvaluation(paid, (*running->core)->stored_json().c_str());
    error_context_stack = context.previous;
}

}  // namespace

void RunEvaluation(const EvaluationCall& call, FinishedEvaluation* finished) {
    RunningEvaluation* running = BeginEvaluation(call);
    StartEarly(call.caller, &running->worker);
    ReadRows(running, running->reading);
    FinishRows(running);
    CalibrateAgainIfCharged(running);
    BeginToPay(running, nullptr, &finished->paid);
    SumDrawAndDeliver(running, &finished->paid);
    CloseUnits(&running->units);
    finished->core = running->core;
    finished->model = running->models[0].name;
    finished->owner = running->models[0].owner;
}

}  // namespace dpboost
