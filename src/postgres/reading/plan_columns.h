// Where the columns of a plan's nodes lead. Internal to plan_sources.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/row_sources.h"

namespace dpboost {

struct QueryLevel;

// A node that reads a relation, or whose rows are of a kind of their own.
struct PlanNode {
    const Plan* plan;
    int source;
    bool encloses;            // its columns are those of the source; else of the relation
    Oid relid;                // that it scans: the source's relation, or a partition of it
    const QueryLevel* level;  // of a materialized view
};

// A value that a nested loop hands to its inner side.
struct PlanParameter {
    int id;
    const Plan* join;
    const Node* value;
};

struct PlanSources {
    RowSources rows;
    const PlannedStmt* statement;
    const Plan* aggregate;
    List* nodes;        // of PlanNode
    List* parameters;   // of PlanParameter
    List* tables_seen;  // plans of common table expressions
    int appended;       // the source whose partitions are being appended, -1: none
    bool incomplete;    // a node may read relations that were not found
};

const Plan* PlanOfCte(const PlanSources* all, const CteScan* scan);

// nullptr: the node is neither.
const PlanNode* FindPlanNode(const PlanSources* all, const Plan* plan);

// Conditions of a node that hold in all rows that come out of the sources from..to.
void AddPlanEqualities(PlanSources* all, const Plan* plan, const List* conditions, int from, int to);

}  // namespace dpboost
