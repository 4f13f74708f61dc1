// The common path of dpboost_train, dpboost_train_on and dpboost_estimate: from a call and the schema to a
// training that rows can be appended to, and from there to its charge, its draws, its model and the result.
// PostgreSQL's half; training/training.h is the core's.
#pragma once

#include "training/training.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/relations.h"
#include "postgres/columns/source_column.h"
#include "postgres/ledger/budget.h"
#include "postgres/predict/new_model.h"

namespace dpboost {

// A call, before its columns' domains and budgets are looked up. Plain data.
struct TrainingCall {
    Oid caller;
    TrainRight right;
    const char* model;  // null for an estimate
    Jsonb* options;
    PrivacyArguments privacy;
    SourceColumn target;     // types checked
    SourceColumns features;  // types checked
    const RelationSet* relations;
    const char* unit;  // name of the privacy unit's column, or null
    Oid unit_type;
    Oid progress_relation;  // shown in dpboost_progress; may be InvalidOid
};

// A training under way. Plain data in the memory context in which it began; the core's half goes with it.
struct Training {
    TrainingCall call;
    NewModelName model;  // unless it is an estimate
    const BudgetList* budgets;
    CoreState<TrainingCore>* core;

    RowBuffer* buffer;
    const RowBuffer::Column* columns;
    int features;
    ColumnReader* readers;
    TargetReader target;
    bool has_units;
    Oid unit_type;  // base type
};

// Looks up budgets and domains, checks the options, and fixes the noise. Raises what would make the training
// fail later, before any row is read. The call must live as long as the training.
Training* BeginTraining(const TrainingCall& call);

// Takes a full buffer's rows into the dataset.
void FlushRows(Training* training);

// Puts one value of a column into row `row` of the buffer.
inline void BufferValue(const ColumnReader& reader, const RowBuffer::Column& column, size_t row, Datum value,
                        bool is_null) {
    if (reader.fast_kind == ValueKind::kFloat8)
        column.numbers[row] = is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetFloat8(value);
    else if (reader.fast_kind == ValueKind::kInt4)
        column.numbers[row] = is_null ? std::numeric_limits<double>::quiet_NaN() : DatumGetInt32(value);
    else if (reader.as_number)
        column.numbers[row] =
            is_null ? std::numeric_limits<double>::quiet_NaN() : ReadNumber(reader.kind, value);
    else
        column.codes[row] = is_null ? reader.missing : ReadSlowCode(reader, value);
}

// Appends a row; `feature(i, &is_null)` gives the i-th feature's value. A row without a target is skipped,
// and so is one whose unit is NULL: rows of nobody cannot be bounded per person. Either way what a person
// adds depends on that person's rows alone.
template <class Feature>
inline void AppendRow(Training* training, NullableDatum target, NullableDatum unit, Feature feature) {
    float label;
    if (target.isnull || !ReadLabel(training->target, target.value, &label))
        return;
    if (training->has_units && unit.isnull)
        return;
    RowBuffer* const buffer = training->buffer;
    const size_t row = buffer->rows;
    const int features = training->features;
    for (int i = 0; i < features; ++i) {
        bool is_null;
        const Datum value = feature(i, &is_null);
        BufferValue(training->readers[i], training->columns[i], row, value, is_null);
    }
    buffer->labels[row] = label;
    if (training->has_units)
        buffer->units[row] = ReadUnit(training->unit_type, unit.value);
    if (++buffer->rows == RowBuffer::kRows)
        FlushRows(training);
}

// Has the charge committed, then draws and trains, then has the model committed, and returns the result as
// jsonb. Interrupted before the charge, nothing was drawn and nothing is charged; after it, the charge stays
// and the ledger says that nothing was delivered. The training is over afterwards.
Datum FinishTraining(Training* training);

// What the training would cost, as jsonb; reads no row.
Datum DescribeEstimate(Training* training);

}  // namespace dpboost
