// dpboost_train, the aggregate: each row of a query is encoded and kept in 1-2 bytes per value, and the final
// call trains, charges and releases. All that the call says is read from its expressions (call_expressions),
// so that an empty query trains as well; only the length of an array column and the fields of an anonymous
// record may have to wait for a row.
#include "postgres/boundary/row_values.h"
#include "postgres/population/privacy_unit.h"
#include "postgres/reading/plan_sources.h"
#include "postgres/train/aggregate/aggregate_state.h"
#include "postgres/train/aggregate/call_site.h"
#include "postgres/train/json_reader.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_step);
PG_FUNCTION_INFO_V1(dpboost_train_final);
}

namespace dpboost {

namespace {

enum Argument { kState, kModel, kOptions, kTarget, kFirstFeature };
// Its place in the call, which has no state.
constexpr int InCall(Argument argument) {
    return argument - kModel;
}

constexpr NullableDatum kNoUnit = {0, true};

// The model's name or the options, copied: they are the same for all rows of the group.
struct varlena* CallArgument(const NullableDatum& argument, const char* what) {
    if (argument.isnull)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be NULL", what)));
    return PG_DETOAST_DATUM_COPY(argument.value);
}

// The layout of a row's type. Neither a record nor an ALTER in the middle of the query may change it.
void LearnRowType(AggregateState* state, Oid type, int32 typmod) {
    MemoryContext outer = MemoryContextSwitchTo(state->context);
    RowTypeStamp stamp;
    TupleDesc descriptor = CopyRowType(type, typmod, &stamp);
    if (state->descriptor != nullptr && !equalTupleDescs(descriptor, state->descriptor))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("rows of dpboost_train must all have the same type")));
    if (state->descriptor == nullptr) {
        state->descriptor = descriptor;
        state->values = static_cast<Datum*>(palloc(sizeof(Datum) * (descriptor->natts + 1)));
        state->nulls = static_cast<bool*>(palloc(sizeof(bool) * (descriptor->natts + 1)));
    } else {
        FreeTupleDesc(descriptor);
    }
    state->row_type = stamp;
    MemoryContextSwitchTo(outer);
}

}  // namespace

AggregateState* NewAggregateState(FunctionCallInfo fcinfo) {
    MemoryContext aggregate_context;
    const int kind = AggCheckCallContext(fcinfo, &aggregate_context);
    if (kind != AGG_CONTEXT_AGGREGATE)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("dpboost_train can only be used as an aggregate"),
                        errdetail("As a window function it would train a model for every row.")));
    MemoryContext context =
        AllocSetContextCreate(aggregate_context, "dpboost training", ALLOCSET_DEFAULT_SIZES);
    auto* state = static_cast<AggregateState*>(MemoryContextAllocZero(context, sizeof(AggregateState)));
    state->context = context;
    const Aggref* aggref = AggGetAggref(fcinfo);
    if (aggref == nullptr)
        elog(ERROR, "dpboost_train was called without its expressions");
    const CallSite site = FindCallSite(reinterpret_cast<AggState*>(fcinfo->context), aggref);
    state->node = site.node;
    state->aggref = site.call;
    state->last = site.partial ? nullptr : reinterpret_cast<AggState*>(fcinfo->context);
    state->gather_param = site.gather_param;
    MemoryContext outer = MemoryContextSwitchTo(context);
    state->call_arrives = CheckCallForm(state->node, state->aggref);
    state->call = ReadCallExpressions(state->node, state->aggref);
    if (state->call.row_type_known && state->call.row_type != RECORDOID)
        LearnRowType(state, state->call.row_type, -1);
    state->unit_field = -1;
    MemoryContextSwitchTo(outer);
    return state;
}

void CheckSameCall(AggregateState* state) {
    if (!state->call_arrives)
        return;
    const auto* model = reinterpret_cast<text*>(CallArgument(state->model, "model"));
    const auto* options = reinterpret_cast<Jsonb*>(CallArgument(state->options, "options"));
    if (state->first_model == nullptr) {
        MemoryContext outer = MemoryContextSwitchTo(state->context);
        state->first_model = DatumGetTextPCopy(PointerGetDatum(model));
        state->first_options = DatumGetJsonbPCopy(PointerGetDatum(options));
        MemoryContextSwitchTo(outer);
        return;
    }
    if (VARSIZE(model) != VARSIZE(state->first_model) ||
        memcmp(model, state->first_model, VARSIZE(model)) != 0 ||
        VARSIZE(options) != VARSIZE(state->first_options) ||
        memcmp(options, state->first_options, VARSIZE(options)) != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("model and options of dpboost_train must be the same for all rows of a group")));
}

namespace {

// ---- features ----

// The call's row, whose field holds the privacy unit.
struct UnitField {
    const PlanSources* plan;
    const Node* row;
    int field;  // -1: rows are persons
};

AttrNumber TraceUnit(const void* context, const RelationUse* use) {
    const auto* unit = static_cast<const UnitField*>(context);
    return unit->field < 0 ? 0 : TraceExpression(unit->plan, unit->row, unit->field, use);
}

// Takes the unit's column out of the row's features. Without it, rows cannot be counted per person; a field
// that only has its name is none.
void TakeUnitOut(AggregateState* state, TrainingCall* training, const Persons& persons, UnitField* unit) {
    SourceColumns* features = &training->features;
    int kept = 0;
    for (int i = 0; i < features->count; ++i) {
        if (state->call.shape == FeatureShape::kRow && state->unit_field < 0 &&
            TraceExpression(unit->plan, unit->row, features->fields[i], persons.use) == persons.column) {
            state->unit_field = features->fields[i];
            training->unit = features->columns[i].name;
            training->unit_type = features->columns[i].type;
            continue;
        }
        features->columns[kept] = features->columns[i];
        features->fields[kept++] = features->fields[i];
    }
    features->count = kept;
    unit->field = state->unit_field;
    if (state->unit_field >= 0)
        return;
    const char* name = get_attname(persons.use->relid, persons.column, false);
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the call does not pass the privacy unit \"%s\"", name),
                    errdetail("By it %s tells persons apart, whose rows must be counted together.",
                              DescribeRelation(persons.use->relid)),
                    errhint("Pass the whole row, as in dpboost_train(..., t) FROM %s AS t, or use "
                            "dpboost_train_on.",
                            get_rel_name(persons.use->relid))));
}

// Who the persons of the query are, and what the release means for the relations that it reads.
void FindUnit(AggregateState* state, TrainingCall* training) {
    RelationSet* relations = RelationsOfRangeTable(state->node->ss.ps.state->es_range_table);
    const PlanSources* plan =
        SourcesOfAggregate(state->node, state->aggref, state->last, state->gather_param);
    const Inspection* inspection = Inspect(relations, RowSourcesOf(plan), InvalidOid);
    const Persons persons = FindPersons(inspection);
    const auto* row = reinterpret_cast<const Node*>(
        static_cast<const TargetEntry*>(list_nth(state->aggref->args, InCall(kFirstFeature)))->expr);
    UnitField unit = {plan, row, -1};
    if (persons.column != 0)
        TakeUnitOut(state, training, persons, &unit);
    RecordPersons(inspection, TraceUnit, &unit);
    training->relations = relations;
}

// Whoever takes the privacy unit out leaves it in here.
SourceColumns CopyOf(const SourceColumns& columns) {
    SourceColumns copy = NumberedColumns(columns.count, InvalidOid);
    for (int i = 0; i < columns.count; ++i) {
        copy.columns[i] = columns.columns[i];
        copy.fields[i] = columns.fields == nullptr ? i : columns.fields[i];
    }
    return copy;
}

void Begin(AggregateState* state) {
    TrainingCall training;
    memset(static_cast<void*>(&training), 0, sizeof training);
    training.caller = GetUserId();
    training.right = TrainRight::kSelect;
    training.partial = state->last == nullptr;
    training.model = text_to_cstring(CallArgument(state->model, "model"));
    training.options = reinterpret_cast<Jsonb*>(CallArgument(state->options, "options"));
    training.target = state->call.target;
    training.features = state->call.features;
    state->shown = CopyOf(state->call.features);
    FindUnit(state, &training);
    CheckColumnType(&training.target, "target");
    CheckFeatureTypes(training.features);
    state->call.features = training.features;
    state->training = BeginTraining(training);
}

void AppendWaiting(AggregateState* state) {
    for (int i = 0; i < state->waiting_count; ++i)
        AppendRow(state->training, state->waiting[i], kNoUnit, [](int, bool* is_null) {
            *is_null = true;
            return Datum(0);
        });
    state->waiting_count = 0;
}

}  // namespace

void BeginWithFeatures(AggregateState* state) {
    Begin(state);
    AppendWaiting(state);
}

void BeginByCall(AggregateState* state) {
    MemoryContext outer = MemoryContextSwitchTo(state->context);
    if (state->call.shape == FeatureShape::kArray) {
        int length = state->call.array_length;
        if (length < 0)
            length = CountListedBounds(reinterpret_cast<Jsonb*>(CallArgument(state->options, "options")));
        if (length >= 0)
            state->call.features = NumberedColumns(length, state->call.element_type);
        state->call.array_length = length;
    }
    const bool known = state->call.shape == FeatureShape::kColumns ||
                       (state->call.shape == FeatureShape::kArray ? state->call.array_length >= 0
                                                                  : state->call.row_type_known);
    if (known)
        Begin(state);
    MemoryContextSwitchTo(outer);
}

namespace {

// Keeps the target of a row whose features are NULL and not yet known.
void Wait(AggregateState* state, NullableDatum target) {
    MemoryContext outer = MemoryContextSwitchTo(state->context);
    if (state->waiting_count == state->waiting_room) {
        state->waiting_room = Max(64, 2 * state->waiting_room);
        const Size size = sizeof(NullableDatum) * state->waiting_room;
        state->waiting = static_cast<NullableDatum*>(
            state->waiting == nullptr ? palloc(size) : repalloc(state->waiting, size));
    }
    if (!target.isnull) {
        int16 length;
        bool by_value;
        get_typlenbyval(state->call.target.type, &length, &by_value);
        target.value = datumCopy(target.value, by_value, length);
    }
    state->waiting[state->waiting_count++] = target;
    MemoryContextSwitchTo(outer);
}

// ---- rows ----

void AppendColumns(FunctionCallInfo fcinfo, AggregateState* state) {
    const NullableDatum* features = &fcinfo->args[kFirstFeature];
    AppendRow(state->training, fcinfo->args[kTarget], kNoUnit, [features](int i, bool* is_null) {
        *is_null = features[i].isnull;
        return features[i].value;
    });
}

}  // namespace

void AppendMissing(AggregateState* state, NullableDatum target) {
    if (state->training == nullptr)
        Wait(state, target);
    else
        AppendRow(state->training, target, kNoUnit, [](int, bool* is_null) {
            *is_null = true;
            return Datum(0);
        });
}

namespace {

void AppendArray(AggregateState* state, NullableDatum target, Datum array) {
    ArrayElements elements;
    if (!ReadArray(array, &elements))
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("features must be a one-dimensional array")));
    if (state->training == nullptr) {
        MemoryContext outer = MemoryContextSwitchTo(state->context);
        state->call.array_length = elements.count;
        state->call.features = NumberedColumns(elements.count, state->call.element_type);
        BeginWithFeatures(state);
        MemoryContextSwitchTo(outer);
    }
    if (elements.count != state->call.array_length)
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("feature arrays must have equal lengths"),
                 errdetail("An array has length %d where %d is expected.", elements.count,
                           state->call.array_length)));
    AppendRow(state->training, target, kNoUnit, [&elements](int i, bool* is_null) {
        *is_null = elements.nulls[i];
        return elements.values[i];
    });
}

// A row of a type that was not seen yet, or may have been altered.
void DescribeRow(AggregateState* state, Oid type, int32 typmod) {
    LearnRowType(state, type, typmod);
    MemoryContext outer = MemoryContextSwitchTo(state->context);
    if (state->training == nullptr) {
        state->call.features = ColumnsOfRowType(state->descriptor, InvalidOid);
        LeaveOutTarget(state->node, state->aggref, &state->call.features);
        BeginWithFeatures(state);
    }
    MemoryContextSwitchTo(outer);
}

void AppendRecord(AggregateState* state, NullableDatum target, Datum row) {
    HeapTupleHeader header = DatumGetHeapTupleHeader(row);
    if (state->descriptor == nullptr || !Holds(state->row_type, header))
        DescribeRow(state, HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
    ReadRow(header, state->descriptor, state->values, state->nulls);
    const int unit = state->unit_field;
    const NullableDatum unit_value =
        unit < 0 ? kNoUnit : NullableDatum{state->values[unit], state->nulls[unit]};
    AppendRow(state->training, target, unit_value, [state](int i, bool* is_null) {
        const int field = state->call.features.fields[i];
        *is_null = state->nulls[field];
        return state->values[field];
    });
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

// Takes one row. Returns the state that it was given, or made at the first row.
Datum dpboost_train_step(PG_FUNCTION_ARGS) {
    auto* state =
        PG_ARGISNULL(kState) ? nullptr : reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(kState));
    const bool is_first = state == nullptr;
    if (is_first)
        state = NewAggregateState(fcinfo);
    if (state->result != nullptr)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("dpboost_train cannot take more rows after it has trained")));
    if (state->training == nullptr || state->call_arrives) {
        state->model = fcinfo->args[kModel];
        state->options = fcinfo->args[kOptions];
        CheckSameCall(state);
        if (is_first)
            BeginByCall(state);
    }
    if (state->call.shape == FeatureShape::kColumns)
        AppendColumns(fcinfo, state);
    else if (PG_ARGISNULL(kFirstFeature))
        AppendMissing(state, fcinfo->args[kTarget]);
    else if (state->call.shape == FeatureShape::kArray)
        AppendArray(state, fcinfo->args[kTarget], PG_GETARG_DATUM(kFirstFeature));
    else
        AppendRecord(state, fcinfo->args[kTarget], PG_GETARG_DATUM(kFirstFeature));
    PG_RETURN_POINTER(state);
}

// Trains on the rows taken, also if there were none. Every state is a release with a charge of its own; one that
// PostgreSQL finishes again, because its query scans a hash table of groups twice, gives the same result again.
Datum dpboost_train_final(PG_FUNCTION_ARGS) {
    auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<AggregateState*>(PG_GETARG_POINTER(0));
    if (state == nullptr) {
        state = NewAggregateState(fcinfo);
        if (state->call_arrives)
            ereport(ERROR, (errcode(ERRCODE_NO_DATA), errmsg("no row says which model is to be trained"),
                            errdetail("The engine that runs dpboost_train elsewhere brought no row.")));
        state->model = EvaluateArgument(state->node, state->aggref, InCall(kModel));
        state->options = EvaluateArgument(state->node, state->aggref, InCall(kOptions));
        BeginByCall(state);
    }
    if (state->last == nullptr)
        elog(ERROR, "a part of the rows cannot train");
    if (state->training == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("cannot tell how many features there are"),
                 errdetail("No row has a feature that is not NULL, and the call does not say."),
                 errhint("List the bounds of all features in the options, or pass them as columns.")));
    if (state->result == nullptr) {
        const Datum result = FinishTraining(state->training);
        MemoryContext outer = MemoryContextSwitchTo(state->context);
        state->result = DatumGetJsonbPCopy(result);
        MemoryContextSwitchTo(outer);
    }
    PG_RETURN_POINTER(DatumGetJsonbPCopy(JsonbPGetDatum(state->result)));
}
