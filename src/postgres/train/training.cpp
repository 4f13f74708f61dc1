#include "postgres/train/training.h"

#include "postgres/boundary/printed.h"
#include "postgres/boundary/settings.h"
#include "postgres/catalog/cluster.h"
#include "postgres/export/publish.h"
#include "postgres/ledger/ledger.h"
#include "postgres/predict/model_cache.h"
#include "postgres/train/calibration.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/progress.h"
#include "postgres/train/row_part.h"
#include "postgres/units/reserve_units.h"

namespace dpboost {
namespace {

// Bounds of a date or timestamp are written as such; here they get the numbers that the column's values become.
void ReadTimeBounds(const SourceColumn& column, JsonValue* bounds) {
    if (!IsTime(column.kind) || bounds == nullptr || bounds->kind != JsonValue::kArray)
        return;
    Oid input, element;
    getTypeInputInfo(getBaseType(column.type), &input, &element);
    for (int i = 0; i < 2 && bounds->count >= 2; ++i) {
        JsonValue* bound = &bounds->items[i];
        if (bound->kind != JsonValue::kString)
            continue;
        const Datum value = OidInputFunctionCall(input, const_cast<char*>(bound->text), element, -1);
        bound->kind = JsonValue::kTime;
        bound->number = ReadNumber(column.kind, value);
    }
}

void ReadAllTimeBounds(const TrainingCall& call, JsonValue* options) {
    const JsonValue* bounds = options->Find("bounds");
    for (int i = 0; bounds != nullptr && i < call.features.count; ++i)
        ReadTimeBounds(call.features.columns[i], bounds->Find(call.features.columns[i].name));
    ReadTimeBounds(call.target, options->Find("target_range"));
}

// What the core must know to begin, as plain data; becomes the core's TrainingSchema inside the door.
struct PlainSchema {
    const TrainingCall& call;
    const JsonValue* options;
    const ColumnDomain* feature_domains;
    ColumnDomain target_domain;
    const char* relation;  // null for a query
    bool governed;
    const UnitState& units;
    size_t memory;
    int threads;

    // At a party of a federation: encodings are those of all parties together, which any public range makes safe, so that
    // bounds may also be wider than what is declared here.
    void Announced(TrainingSchema* schema) const {
        const PartyColumns& columns = *call.federated->columns;
        if (schema->features.size() != columns.features.size())
            throw Error(ErrorCode::kUnsupported,
                        "arrays cannot be features of a training on several servers");
        CheckReadable(schema->target, columns.target);
        for (size_t i = 0; i < schema->features.size(); ++i)
            CheckReadable(schema->features[i], columns.features[i]);
        schema->target = columns.target;
        schema->features = columns.features;
        schema->governed = false;
        schema->parties = call.federated->parties;
    }

    ContinuedModel Continued() const {
        ContinuedModel continued;
        continued.model = call.continued_model;
        continued.name = call.continued->text;
        continued.version = call.continued->released.version;
        continued.method = call.continued->method;
        continued.options = call.continued->options;
        if (call.continued->positive != nullptr)
            continued.positive = call.continued->positive;
        return continued;
    }

    operator TrainingSchema() const {
        TrainingSchema schema;
        schema.options = options;
        schema.privacy = call.privacy;
        schema.target = ToPublic(call.target, target_domain);
        for (int i = 0; i < call.features.count; ++i)
            schema.features.push_back(ToPublic(call.features.columns[i], feature_domains[i]));
        if (relation != nullptr)
            schema.relation = relation;
        schema.governed = governed;
        if (call.federated != nullptr)
            Announced(&schema);
        schema.has_units = call.unit != nullptr;
        if (call.continued != nullptr)
            schema.continued = Continued();
        if (units.id != 0)
            schema.unit_limit.emplace(units.epsilon, units.delta, units.order);
        schema.estimate = call.model == nullptr;
        schema.unseen = call.right == TrainRight::kBudget;
        schema.memory = memory;
        schema.threads = threads;
        return schema;
    }
};
static_assert(std::is_trivially_destructible_v<PlainSchema>, "a longjmp must be able to skip it");

// The core's half of a row's way.
void FlushRows(RowSink* sink) {
    CallCore([&] { (*static_cast<Training*>(sink)->core)->AppendRows(); });
}

}  // namespace

void MakeTargetReader(const TargetRule& rule, const SourceColumn& column, TargetReader* reader) {
    reader->kind = column.kind;
    reader->by_number = rule.by_number;
    reader->spec = &rule.spec;
    reader->positive_text = rule.positive.c_str();
    reader->positive_size = rule.positive.size();
    reader->positive_boolean = rule.positive == "true";
    reader->positive_number = strtod(rule.positive.c_str(), nullptr);
    reader->classes = nullptr;
    if (rule.classes) {
        reader->classes = static_cast<ColumnReader*>(palloc0(sizeof(ColumnReader)));
        MakeColumnReader(column.type, column.kind, rule.classes.get(), reader->classes);
        return;
    }
    if (reader->kind != ValueKind::kEnum)
        return;
    int count;
    const EnumLabel* labels = ReadEnumLabels(column.type, &count);
    for (int i = 0; i < count; ++i)
        if (rule.positive == labels[i].label)
            reader->positive_enum = labels[i].value;
}

void MakeUnitReader(const char* unit, Oid unit_type, RowSink* sink) {
    sink->has_units = unit != nullptr;
    sink->unit_type = sink->has_units ? getBaseType(unit_type) : InvalidOid;
    if (sink->has_units && !IsUnitType(unit_type))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("privacy unit \"%s\" has type %s, which cannot identify people", unit,
                               format_type_be(unit_type)),
                        errdetail("Integers, numeric, text, uuid, bytea, date and enums can.")));
}

namespace {

void MakeReaders(Training* training) {
    const TrainingCall& call = training->call;
    training->features = call.features.count;
    training->readers = static_cast<ColumnReader*>(palloc0(sizeof(ColumnReader) * (training->features + 1)));
    for (int i = 0; i < training->features; ++i)
        MakeColumnReader(call.features.columns[i].type, call.features.columns[i].kind,
                         &(*training->core)->encoders()[i], &training->readers[i]);
    MakeUnitReader(call.unit, call.unit_type, training);
    MakeTargetReader((*training->core)->target(), call.target, &training->target);
}

// The plan that was announced, proven here; raises what the budgets do not allow.
void AdoptPlan(Training* training) {
    const FederatedTerms& terms = *training->call.federated;
    WithConstraints(training->budgets, [&](const std::vector<BudgetConstraint>& constraints) {
        (*training->core)->Adopt({terms.plan_bytes, terms.plan_size}, constraints);
    });
}

// What an estimate says: how much a single training may ask for at the most, and why, beside what is left.
void ConsiderFor(const Training* training) {
    const BudgetList* budgets = training->budgets;
    double most = std::numeric_limits<double>::infinity();
    const char* reason = "";
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState& limit = budgets->items[i];
        const double own = limit.max_epsilon_per_train;
        const bool exceeds = !std::isinf(own) && (*training->core)->options().delta > limit.delta;
        if ((exceeds ? 0 : own) >= most)
            continue;
        most = exceeds ? 0 : own;
        reason = psprintf("privacy budget of %s allows at most epsilon %s at delta %s per training",
                          DescribeBudget(&limit), PrintedNumber(own), PrintedNumber(limit.delta));
    }
    WithConstraints(budgets, [&](const std::vector<BudgetConstraint>& constraints) {
        (*training->core)->Consider(constraints, most, reason);
    });
}

}  // namespace

bool SameBudgets(const BudgetList* a, const BudgetList* b) {
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; ++i)
        if (a->items[i].relid != b->items[i].relid || a->items[i].role != b->items[i].role ||
            a->items[i].epsilon != b->items[i].epsilon || a->items[i].delta != b->items[i].delta ||
            a->items[i].order != b->items[i].order || a->items[i].spent != b->items[i].spent)
            return false;
    return true;
}

void CalibrateAgain(Training* training, const BudgetList* budgets) {
    if (SameBudgets(budgets, training->budgets))
        return;
    training->budgets = budgets;
    CalibrateFor(budgets, **training->core);
}

// Nothing else in a training takes random numbers, and nothing calls it without a charge.
void DrawModel(Training* training, PaidRelease* paid) {
    ChaChaSource::Seed seed;
    if (!pg_strong_random(seed.data(), seed.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    const Oid relation = training->call.progress_relation;
    CallCore([&] {
        PgInterrupt interrupt;
        PgProgress progress(relation);
        (*training->core)->Train(Cashier::Receipt(paid), std::move(seed), interrupt, progress);
        progress.Finish();
    });
}

void FinishRows(Training* training) {
    CallCore([&] {
        PgInterrupt interrupt;
        (*training->core)->FinishRows(interrupt);
    });
}

void FillCharge(const Training* training, ChargeRequest* request) {
    const TrainingCore& core = **training->core;
    memset(static_cast<void*>(request), 0, sizeof *request);
    request->caller = training->call.caller;
    request->right = training->call.right;
    request->kind = ReleaseKind::kTraining;
    request->model_name = training->call.model;
    request->method = core.options().method->name;
    request->task = core.task_name();
    request->plan_bytes = core.plan_bytes().data();
    request->plan_size = core.plan_bytes().size();
    request->noise_multiplier = core.noise_multiplier();
    request->relations = training->call.relations;
    request->privacy_unit = training->call.unit;
}

void PayTraining(Training* training, const char* federation, PaidRelease* paid) {
    ChargeRequest request;
    FillCharge(training, &request);
    request.federation = federation;
    request.delivery_follows = federation == nullptr;
    request.waiting = &training->worker;
    ReserveUnits(&training->units, training->core, &request);
    CommitCharge(&request, paid);
}

void SettleParty(const Training* training, PaidRelease* paid) {
    const TrainingCore& core = **training->core;
    if (core.SettledUnits().empty())
        return;
    ModelDelivery delivery;
    memset(static_cast<void*>(&delivery), 0, sizeof delivery);
    delivery.model_bytes = "";
    delivery.evaluation = "";
    delivery.unit_bytes = core.SettledUnits().data();
    delivery.unit_size = core.SettledUnits().size();
    DeliverModel(paid, &delivery);
}

void FillDelivery(const Training* training, ModelDelivery* delivery) {
    const TrainingCore& core = **training->core;
    delivery->options = core.options().text.c_str();
    delivery->features = core.features_json().c_str();
    delivery->target = training->call.target.name;
    const bool one_class = !core.target().by_number && !core.target().classes;
    delivery->positive = one_class ? core.target().positive.c_str() : nullptr;
    delivery->deploy = core.options().deploy;
    delivery->model_bytes = core.model_bytes().data();
    delivery->model_size = core.model_bytes().size();
    delivery->evaluation = core.evaluation_json().c_str();
    delivery->unit_bytes = core.SettledUnits().data();
    delivery->unit_size = core.SettledUnits().size();
}

void DescribeCharge(void* argument) {
    errcontext("training charged as release %lld; see dpboost_ledger",
               static_cast<long long>(static_cast<const PaidRelease*>(argument)->release_id));
}

namespace {

// From the committed charge to the committed model.
void TrainAndDeliver(Training* training, PaidRelease* paid) {
    ErrorContextCallback context;
    context.callback = DescribeCharge;
    context.arg = paid;
    context.previous = error_context_stack;
    error_context_stack = &context;
    DrawModel(training, paid);
    ModelDelivery delivery;
    FillDelivery(training, &delivery);
    DeliverModel(paid, &delivery);
    ModelsChanged();
    if (delivery.deploy)
        PublishInWake(training->model.owner_name, training->model.name, paid->version);
    error_context_stack = context.previous;
}

// `paid` is null for an estimate.
Datum Describe(Training* training, const PaidRelease* paid, const RemainingBudget* remaining, int count) {
    TrainingResult result = {training->model.name, training->model.owner_name, 0, 0, remaining, count};
    if (paid != nullptr) {
        result.version = paid->version;
        result.release_id = paid->release_id;
    }
    const char* text = nullptr;
    CallCore([&] { text = (*training->core)->Describe(result).c_str(); });
    return JsonTextToDatum(text);
}

}  // namespace

Training* BeginTraining(const TrainingCall& call) {
    auto* training = static_cast<Training*>(palloc0(sizeof(Training)));
    training->call = call;
    if (call.unit != nullptr && strcmp(call.unit, call.target.name) == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the privacy unit \"%s\" cannot be the target", call.unit),
                        errdetail("It tells people apart.")));
    const bool worker = call.partial && (call.rows_only || IsParallelWorker());  // others check, or will
    if (call.model != nullptr && !worker) {
        CheckCanRelease(call.caller, call.model, &training->model);
        CheckNoShards(call.relations);
    }
    training->budgets = LoadBudgets(call.caller, call.relations);
    if (!call.partial)
        FindUnitState(training->budgets, call.relations, call.unit != nullptr ? call.unit_type : InvalidOid,
                      &training->units);
    JsonValue* options = ReadJson(call.options);
    ReadAllTimeBounds(call, options);

    const char* relation = OidIsValid(call.progress_relation) ? SqlNameOf(call.progress_relation) : nullptr;
    PlainSchema schema{call,
                       options,
                       nullptr,
                       {},
                       relation,
                       IsGoverned(call.relations),
                       training->units,
                       MaxMemoryBytes(),
                       TrainingThreads()};
    LoadDomain(call.target, &schema.target_domain);
    auto* domains = static_cast<ColumnDomain*>(palloc0(sizeof(ColumnDomain) * (call.features.count + 1)));
    // On an ungoverned relation bounds by name are all that counts: spare the look-up.
    const JsonValue* bounds = schema.governed ? nullptr : options->Find("bounds");
    for (int i = 0; i < call.features.count; ++i)
        if (bounds == nullptr || bounds->Find(call.features.columns[i].name) == nullptr)
            LoadDomain(call.features.columns[i], &domains[i]);
    schema.feature_domains = domains;

    training->core = CoreState<TrainingCore>::Make(CurrentMemoryContext, schema);
    training->buffer = (*training->core)->buffer();
    training->columns = training->buffer->columns.data();
    training->flush = FlushRows;
    training->sharing = &kTrainingSharing;
    if (call.model != nullptr && !worker)  // an estimate answers
        CheckPerTrainLimit(training->budgets, (*training->core)->options().epsilon,
                           (*training->core)->options().delta);
    MakeReaders(training);
    if (worker)
        return training;
    if (call.federated != nullptr && call.model != nullptr)
        AdoptPlan(training);
    else if (call.model != nullptr)
        CalibrateFor(training->budgets, **training->core);
    else
        ConsiderFor(training);
    return training;
}

Datum FinishTraining(Training* training) {
    FinishRows(training);
    // Another training may have been charged since this one began (an earlier group of the same query, say).
    CalibrateAgain(training, LoadBudgets(training->call.caller, training->call.relations));
    PaidRelease paid;
    PayTraining(training, nullptr, &paid);
    TrainAndDeliver(training, &paid);
    CloseUnits(&training->units);
    const BudgetList* budgets = paid.budgets;
    const Datum result = Describe(training, &paid, RemainingBudgets(budgets, nullptr, 0), budgets->count);
    training->core->Release();
    return result;
}

Datum DescribeEstimate(Training* training) {
    const std::string& plan = (*training->core)->plan_bytes();
    const BudgetList* budgets = training->budgets;
    const bool fits = (*training->core)->fits();  // else: what is left now
    return Describe(training, nullptr, RemainingBudgets(budgets, fits ? plan.data() : nullptr, plan.size()),
                    budgets->count);
}

}  // namespace dpboost
