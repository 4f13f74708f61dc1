// dpboost_train_groups: one model for each public level of a column, charged as one release. Rows are read once and go to
// their group's training; all trainings have the same plan, which is paid for once (Cashier in ledger.h says why that is
// enough), and their models are stored in one commit.
#include "training/call/groups.h"

#include "postgres/boundary/arguments.h"
#include "postgres/population/disjoint_groups.h"
#include "postgres/predict/model_cache.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/named_call.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_groups);
}

namespace dpboost {
namespace {

// Where rows are divided. Plain data.
struct GroupedRows : RowSink {
    ColumnReader reader;
    int count;
    Training* trainings[kMaxGroups];
    const char* levels[kMaxGroups];
};

// The group of a row is its own matter alone, like its label: who has none is in no model.
RowSink* RouteRow(RowSink* sink, NullableDatum value) {
    auto* groups = static_cast<GroupedRows*>(sink);
    const uint16_t group = value.isnull ? groups->reader.missing : ReadCode(groups->reader, value.value);
    return group < groups->count ? groups->trainings[group] : nullptr;
}

// What every group's training has refused by itself is not asked again.
void RefuseWithGroups(const Training* training) {
    const char* option = (*training->core)->options().holdout > 0                         ? "holdout"
                         : (*training->core)->options().active_share > 0                  ? "active_share"
                         : ReadJson(training->call.options)->Find("rows_hint") != nullptr ? "rows_hint"
                                                                                          : nullptr;
    if (option != nullptr)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("option \"%s\" is for one model, not for one of each group", option)));
    if (training->units.id != 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("%s accounts for every person, and groups cannot be charged as one",
                               training->units.name),
                        errhint("Train one model with dpboost_train_on, or one of each group on views.")));
}

struct PlainColumn {
    const SourceColumn& column;
    const ColumnDomain& domain;
    operator PublicColumn() const { return ToPublic(column, domain); }
};

// A training for each level; all begin alike.
GroupedRows* BeginGroups(const NamedCall* call) {
    auto* rows = static_cast<GroupedRows*>(palloc0(sizeof(GroupedRows)));
    SourceColumn column = FindColumn(call->relid, call->group);
    CheckColumnType(&column, "group");
    ColumnDomain domain;
    LoadDomain(column, &domain);
    const auto* groups =
        CoreState<Groups>::Make(CurrentMemoryContext, PlainColumn{column, domain}, size_t{kMaxGroups});
    rows->count = static_cast<int>((*groups)->count());
    MakeColumnReader(column.type, column.kind, &(*groups)->encoder(), &rows->reader);
    for (int i = 0; i < rows->count; ++i) {
        rows->levels[i] = (*groups)->level(static_cast<size_t>(i)).c_str();
        TrainingCall one = call->training;
        one.model = psprintf("%s_%s", call->model, rows->levels[i]);
        rows->trainings[i] = BeginTraining(one);
        if (i == 0)
            RefuseWithGroups(rows->trainings[0]);
    }
    rows->has_units = rows->trainings[0]->has_units;
    rows->route = RouteRow;
    return rows;
}

// All of them by the same plan, or nothing is charged.
void PlanAlike(const GroupedRows* rows) {
    const TrainingCall& call = rows->trainings[0]->call;
    for (int i = 0; i < rows->count; ++i)
        FinishRows(rows->trainings[i]);
    const BudgetList* budgets = LoadBudgets(call.caller, call.relations);
    for (int i = 0; i < rows->count; ++i) {
        CalibrateAgain(rows->trainings[i], budgets);
        if ((*rows->trainings[i]->core)->plan_bytes() != (*rows->trainings[0]->core)->plan_bytes())
            elog(ERROR, "the groups of a training are planned alike");
    }
}

void Pay(const GroupedRows* rows, const char* model, PaidRelease* paid) {
    const char* names[kMaxGroups];
    for (int i = 0; i < rows->count; ++i)
        names[i] = rows->trainings[i]->call.model;
    ChargeRequest request;
    FillCharge(rows->trainings[0], &request);
    request.model_name = model;
    request.group_models = names;
    request.group_count = rows->count;
    CommitCharge(&request, paid);
}

// From the committed charge to the committed models.
void DrawAndDeliver(const GroupedRows* rows, PaidRelease* paid) {
    ErrorContextCallback context;
    context.callback = DescribeCharge;
    context.arg = paid;
    context.previous = error_context_stack;
    error_context_stack = &context;
    ModelDelivery deliveries[kMaxGroups];
    for (int i = 0; i < rows->count; ++i) {
        DrawModel(rows->trainings[i], paid);
        FillDelivery(rows->trainings[i], &deliveries[i]);
    }
    DeliverGroups(paid, deliveries);
    ModelsChanged();
    error_context_stack = context.previous;
}

Datum Describe(const GroupedRows* rows, const NewModelName& name, const PaidRelease& paid) {
    GroupModel models[kMaxGroups];
    for (int i = 0; i < rows->count; ++i) {
        models[i] = {rows->levels[i], rows->trainings[i]->model.name, paid.group_versions[i]};
        CallCore([&] { models[i].shares = (*rows->trainings[i]->core)->DescribeShares().c_str(); });
    }
    const TrainingResult result = {name.name,
                                   name.owner_name,
                                   paid.version,
                                   paid.release_id,
                                   RemainingBudgets(paid.budgets, nullptr, 0),
                                   paid.budgets->count,
                                   models,
                                   rows->count};
    const char* text = nullptr;
    CallCore([&] { text = (*rows->trainings[0]->core)->Describe(result).c_str(); });
    return JsonTextToDatum(text);
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

// Trains a model for each public level of a column and returns what they cost together.
Datum dpboost_train_groups(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model", "groups"});
    NamedCall* call = ReadNamedCall(fcinfo, 2);
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    call->group = FindColumn(call->relid, NameStr(*PG_GETARG_NAME(1))).name;
    if (strcmp(call->group, call->target) == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the target \"%s\" cannot make the groups", call->target)));
    NewModelName name;
    CheckCanRelease(call->training.caller, call->model, &name);
    PrepareCall(call);
    CheckDisjointGroups(call->relid, call->training.unit, call->group);
    GroupedRows* rows = BeginGroups(call);
    ReadRows(rows, call->reading);
    PlanAlike(rows);
    PaidRelease paid;
    Pay(rows, call->model, &paid);
    DrawAndDeliver(rows, &paid);
    const Datum result = Describe(rows, name, paid);
    for (int i = 0; i < rows->count; ++i)
        rows->trainings[i]->core->Release();
    PG_RETURN_DATUM(result);
}
