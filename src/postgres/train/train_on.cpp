// dpboost_train_on and dpboost_estimate: training on a relation by name, for callers who need not be able to
// read it. Here the call and the schema become a training and a reading; what can be wrong with either is
// found before the first row.
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/short_locks.h"
#include "postgres/columns/source_column.h"
#include "postgres/population/privacy_unit.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/named_call.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_on);
PG_FUNCTION_INFO_V1(dpboost_estimate);
}

namespace dpboost {

namespace {

// ---- columns ----

bool Contains(const SourceColumns& columns, const char* name) {
    for (int i = 0; i < columns.count; ++i)
        if (strcmp(columns.columns[i].name, name) == 0)
            return true;
    return false;
}

// Every column but the target, the privacy unit and the primary key.
SourceColumns DefaultFeatures(Relation relation, const char* target, const char* unit) {
    SourceColumns columns = ColumnsOfRowType(RelationGetDescr(relation), RelationGetRelid(relation));
    Bitmapset* key = RelationGetIndexAttrBitmap(relation, INDEX_ATTR_BITMAP_PRIMARY_KEY);
    int kept = 0;
    for (int i = 0; i < columns.count; ++i) {
        const SourceColumn& column = columns.columns[i];
        if (strcmp(column.name, target) == 0 || (unit != nullptr && strcmp(column.name, unit) == 0) ||
            bms_is_member(column.attnum - FirstLowInvalidHeapAttributeNumber, key))
            continue;
        columns.columns[kept++] = column;
    }
    columns.count = kept;
    return columns;
}

void CheckNoUnit(const char* feature, const char* unit) {
    if (unit != nullptr && strcmp(feature, unit) == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the privacy unit \"%s\" cannot be a feature", feature),
                        errdetail("It tells people apart.")));
}

SourceColumns NamedFeatures(Oid relid, ArrayType* names, const char* target, const char* unit) {
    Datum* values;
    bool* nulls;
    int count;
    deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &values, &nulls, &count);
    SourceColumns columns = NumberedColumns(count, InvalidOid);
    columns.count = 0;
    for (int i = 0; i < count; ++i) {
        const char* name = nulls[i] ? nullptr : NameStr(*DatumGetName(values[i]));
        if (name == nullptr)
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a feature's name is NULL")));
        if (strcmp(name, target) == 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the target \"%s\" cannot be a feature", name)));
        CheckNoUnit(name, unit);
        if (Contains(columns, name))
            ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                            errmsg("feature \"%s\" is given more than once", name)));
        columns.columns[columns.count] = FindColumn(relid, name);
        columns.fields[columns.count] = columns.count;
        ++columns.count;
    }
    return columns;
}

// Those of the model, by their names.
SourceColumns ModelFeatures(Oid relid, const Model& model, const char* unit) {
    const int count = static_cast<int>(model.features().size());
    SourceColumns columns = NumberedColumns(count, InvalidOid);
    for (int i = 0; i < count; ++i) {
        columns.columns[i] = FindFeatureColumn(relid, model.features()[i]);
        CheckNoUnit(columns.columns[i].name, unit);
        columns.fields[i] = i;
    }
    return columns;
}

// A single array column stands for as many features as the options list bounds for: its length must be
// public.
void ExpandArray(NamedCall* call) {
    SourceColumns* features = &call->training.features;
    call->reading.shape = FeatureShape::kColumns;
    if (features->count != 1)
        return;
    const Oid element = get_element_type(getBaseType(features->columns[0].type));
    if (!OidIsValid(element))
        return;
    call->reading.shape = FeatureShape::kArray;
    const int length = CountListedBounds(call->training.options);
    if (length < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the length of array \"%s\" is not public", features->columns[0].name),
                        errhint("List the bounds of all its elements in the options, as in {\"bounds\": "
                                "[[0, 1], [0, 1]]}.")));
    *features = NumberedColumns(length, element);
}

// The column of the option "weight" is read like a feature, whichever features are named.
void AddWeightColumn(NamedCall* call) {
    SourceColumns* features = &call->training.features;
    const JsonValue* weight = ReadJson(call->training.options)->Find("weight");
    if (call->features == nullptr || weight == nullptr || weight->kind != JsonValue::kString ||
        Contains(*features, weight->text) || strcmp(weight->text, call->target) == 0 ||
        (call->training.unit != nullptr && strcmp(weight->text, call->training.unit) == 0))
        return;
    SourceColumns all = NumberedColumns(features->count + 1, InvalidOid);
    for (int i = 0; i < features->count; ++i)
        all.columns[i] = features->columns[i];
    all.columns[features->count] = FindColumn(call->relid, weight->text);
    *features = all;
}

// ---- the call ----

// Features without the column that is the same for all rows of a model.
void LeaveOutGroup(NamedCall* call) {
    SourceColumns* features = &call->training.features;
    int kept = 0;
    for (int i = 0; i < features->count; ++i) {
        if (strcmp(features->columns[i].name, call->group) == 0 && call->features != nullptr)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the groups' column \"%s\" cannot be a feature", call->group),
                            errdetail("It is the same for all rows of a model.")));
        if (strcmp(features->columns[i].name, call->group) != 0)
            features->columns[kept++] = features->columns[i];
    }
    features->count = kept;
}

}  // namespace

NamedCall* ReadNamedCall(FunctionCallInfo fcinfo, int first) {
    static const char* const kNames[] = {"relation", "target", "epsilon"};
    for (int i = 0; i < 3; ++i)
        RequireArgument(fcinfo, first + i, kNames[i]);
    RequireArgument(fcinfo, first + 5, "options");
    auto* call = static_cast<NamedCall*>(palloc0(sizeof(NamedCall)));
    call->relid = PG_GETARG_OID(first);
    call->target = pstrdup(NameStr(*PG_GETARG_NAME(first + 1)));
    call->training.privacy.given = true;
    call->training.privacy.epsilon = PG_GETARG_FLOAT8(first + 2);
    if (!PG_ARGISNULL(first + 3))
        call->training.privacy.delta = PG_GETARG_FLOAT8(first + 3);
    call->features = PG_ARGISNULL(first + 4) ? nullptr : PG_GETARG_ARRAYTYPE_P(first + 4);
    call->training.options = PG_GETARG_JSONB_P(first + 5);
    call->training.caller = GetUserId();
    return call;
}

namespace {

// Who reads which columns, and with whose rights.
void MakeReading(NamedCall* call, Oid owner) {
    TrainingCall* training = &call->training;
    auto* columns = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * (training->features.count + 3)));
    int count = 0;
    columns[count++] = training->target.attnum;
    for (int i = 0; i < training->features.count; ++i)
        columns[count++] = training->features.columns[i].attnum;
    if (call->group != nullptr)
        columns[count++] = get_attnum(call->relid, call->group);
    if (training->unit != nullptr)
        columns[count++] = get_attnum(call->relid, training->unit);
    training->right = CheckMayTrain(training->caller, call->relid, columns, count);
    call->reading.relid = call->relid;
    call->reading.owner = owner;
    call->reading.as_owner = training->right == TrainRight::kBudget;
    call->reading.columns = columns;
    call->reading.column_count = count;
}

}  // namespace

void PrepareCall(NamedCall* call) {
    Relation relation = relation_open(call->relid, AccessShareLock);
    TrainingCall* training = &call->training;
    training->model = call->model;
    RelationSet* relations = RelationsBehind(call->relid);
    training->unit = UnitOfRelation(relations, call->relid);
    training->relations = relations;
    training->progress_relation = call->relid;
    training->target = FindColumn(call->relid, call->target);
    if (training->continued != nullptr)
        training->features = ModelFeatures(call->relid, *training->continued_model, training->unit);
    else
        training->features = call->features == nullptr
                                 ? DefaultFeatures(relation, call->target, training->unit)
                                 : NamedFeatures(call->relid, call->features, call->target, training->unit);
    if (call->group != nullptr)
        LeaveOutGroup(call);
    AddWeightColumn(call);
    if (training->unit != nullptr)
        training->unit_type = FindColumn(call->relid, training->unit).type;
    MakeReading(call, relation->rd_rel->relowner);
    if (training->continued == nullptr)
        ExpandArray(call);
    CheckColumnType(&training->target, "target");
    CheckFeatureTypes(training->features);
    relation_close(relation, NoLock);
}

Datum EstimateCall(NamedCall* call) {
    ShortLocks locks;
    ShortLocksBegin(&locks);
    PrepareCall(call);
    Training* training = BeginTraining(call->training);
    CheckReading(call->reading);
    const Datum result = DescribeEstimate(training);
    ShortLocksEnd(&locks);
    return result;
}

}  // namespace dpboost

using namespace dpboost;

// Trains a model on a relation and returns what it cost.
Datum dpboost_train_on(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    NamedCall* call = ReadNamedCall(fcinfo, 1);
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    PrepareCall(call);
    Training* training = BeginTraining(call->training);
    ReadRows(training, call->reading);
    PG_RETURN_DATUM(FinishTraining(training));
}

// What dpboost_train_on with the same arguments would cost. Reads no row, charges nothing, and leaves no lock.
Datum dpboost_estimate(PG_FUNCTION_ARGS) {
    PG_RETURN_DATUM(EstimateCall(ReadNamedCall(fcinfo, 0)));
}
