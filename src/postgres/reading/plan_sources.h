// What the rows of an aggregate's query are made of, read from its plan: the analysed query is gone when it
// runs. What a plan shows to be row by row is so, whatever the query was; and since joins are judged by their
// conditions alone, the order and the kind of joins that the planner chose do not matter.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/row_sources.h"

namespace dpboost {

struct PlanSources;

// Where processes share the rows, `node` takes a share of them, and `last` finishes; else they are one. A process that
// only takes its share has no `last`, and whoever finishes judges the query. `gather_param` is the parameter by which a
// Gather between the two restarts the node (-1: there is none), which is no value of a query around it. In the current
// memory context.
PlanSources* SourcesOfAggregate(AggState* node, const Aggref* call, AggState* last, int gather_param);

const RowSources* RowSourcesOf(const PlanSources* plan);

// The column of `use` whose value an expression of the call shows unchanged; with `field` from 0, the
// expression is a row and that field of it is meant, else -1. 0 if it is none.
AttrNumber TraceExpression(const PlanSources* plan, const Node* expression, int field,
                           const RelationUse* use);

}  // namespace dpboost
