#include "postgres/train/aggregate/call_site.h"

namespace dpboost {
namespace {

[[noreturn]] void RefusePlan(const char* what) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s", what),
             errdetail("Only the process of the session itself charges and draws."),
             errhint("SET max_parallel_workers_per_gather = 0, and enable_partitionwise_aggregate = off.")));
    pg_unreachable();
}

const Node* ResultAt(const Plan* plan, AttrNumber column) {
    if (column < 1 || column > list_length(plan->targetlist))
        return nullptr;
    return reinterpret_cast<const Node*>(
        static_cast<const TargetEntry*>(list_nth(plan->targetlist, column - 1))->expr);
}

// The number of the column below that a node hands on; 0 if it makes one of its own.
AttrNumber HandedOn(const Node* value) {
    if (value == nullptr || !IsA(value, Var) || reinterpret_cast<const Var*>(value)->varno != OUTER_VAR)
        return 0;
    return reinterpret_cast<const Var*>(value)->varattno;
}

// Nodes between partial states and the one that finishes.
bool HandsStatesOn(const PlanState* state) {
    return IsA(state, GatherState) || IsA(state, GatherMergeState) || IsA(state, SortState) ||
           IsA(state, IncrementalSortState);
}

}  // namespace

CallSite FindCallSite(AggState* node, const Aggref* call) {
    const bool partial = DO_AGGSPLIT_SKIPFINAL(call->aggsplit);
    if (!partial && IsParallelWorker())
        RefusePlan("cannot train in a parallel worker");
    if (!DO_AGGSPLIT_COMBINE(call->aggsplit))
        return {node, call, partial, -1};
    CallSite site = {nullptr, nullptr, partial, -1};
    AttrNumber column =
        HandedOn(reinterpret_cast<const Node*>(static_cast<const TargetEntry*>(linitial(call->args))->expr));
    PlanState* below = outerPlanState(node);
    for (; HandsStatesOn(below); below = outerPlanState(below)) {
        if (IsA(below, GatherState))
            site.gather_param = reinterpret_cast<const Gather*>(below->plan)->rescan_param;
        else if (IsA(below, GatherMergeState))
            site.gather_param = reinterpret_cast<const GatherMerge*>(below->plan)->rescan_param;
        column = HandedOn(ResultAt(below->plan, column));
    }
    const Node* state = IsA(below, AggState) ? ResultAt(below->plan, column) : nullptr;
    if (state == nullptr || !IsA(state, Aggref) ||
        reinterpret_cast<const Aggref*>(state)->aggfnoid != call->aggfnoid)
        RefusePlan("cannot train by a plan that combines rows in this way");
    site.node = reinterpret_cast<AggState*>(below);
    site.call = reinterpret_cast<const Aggref*>(state);
    return site;
}

}  // namespace dpboost
