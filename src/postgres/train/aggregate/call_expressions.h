// What the expressions of an aggregate call say before any row arrives: which constants name the model and
// the options, what the target reads, how the features are passed, and from which columns of which relations
// they come. So an empty table trains like any other, and nothing is learned from the first row that the
// query itself does not say.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/columns/source_column.h"

namespace dpboost {

struct CallExpressions {
    FeatureShape shape;
    SourceColumn target;
    SourceColumns features;  // kRow: all fields of the row, minus those that the target reads
    bool row_type_known;     // kRow: false for a record that only its rows describe
    Oid row_type;            // kRow
    Oid element_type;        // kArray
    int array_length;        // kArray: as ARRAY[...] shows it, else -1
};

// Raises 0A000 for DISTINCT and ORDER BY within the call and for use as a window function, and 22023 when the
// model's name or the options are not the same for all rows of a group, or the name is the same for all
// groups. Returns true where only the rows will show that they are the same.
bool CheckCallForm(AggState* state, const Aggref* call);

// Reads the expressions of the call. Result in the current memory context.
CallExpressions ReadCallExpressions(AggState* state, const Aggref* call);

// Leaves out of `columns` those that the call's target reads; for a record whose fields come from its rows.
void LeaveOutTarget(AggState* state, const Aggref* call, SourceColumns* columns);

// The value of the call's argument (from 0) in a query without rows; CheckCallForm has found it constant.
NullableDatum EvaluateArgument(AggState* state, const Aggref* call, int argument);

}  // namespace dpboost
