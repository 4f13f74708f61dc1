// What a training by dpboost_train_rows charges, and whether the query that brought its rows is one that the charge is right
// for. Where PostgreSQL itself runs the aggregate, its plan is judged like dpboost_train's. Where an engine runs it on
// other servers, the plan here shows only that something arrives; what is left of the query is its list of relations, which
// must then be the charged relation alone, once. Whether its privacy unit is what was passed is the caller's word there: he
// may read the relation, and could as well copy it.
#pragma once

#include "postgres/train/aggregate/rows_state.h"

namespace dpboost {

// Fills in relations and unit of the call, by the option "relation". Raises 42501 if the caller may not read it, 0A000 if the
// query does not show that every row of it is taken once, and 22023 if the call passes a unit where the relation has none,
// or none where it has one. Called by the final function, in the server that trains.
void FindRowsCharge(FunctionCallInfo fcinfo, const RowsState* state, TrainingCall* call);

// Whether PostgreSQL calls for its own aggregate, and not another function that was given ours.
bool CallsOwnAggregate(FunctionCallInfo fcinfo);

}  // namespace dpboost
