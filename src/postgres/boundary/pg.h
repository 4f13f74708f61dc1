// The only header that includes PostgreSQL's. It comes last among a file's includes: PostgreSQL defines
// macros (Min, Max, Abs, printf, _, ...) that clash with C++ headers, so the usual C++ headers are pulled in
// first, here. Differences between PostgreSQL 14 and 19 end in this file and in pg_19.h, which it includes: the rest
// of src/postgres is written once, for 15.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" {
#include <postgres.h>

#include <access/genam.h>
#include <access/htup_details.h>
#include <access/parallel.h>
#include <access/relation.h>
#include <access/stratnum.h>
#include <access/table.h>
#include <access/tableam.h>
#include <access/tupconvert.h>
#include <access/xact.h>
#include <access/xlog.h>
#include <catalog/catalog.h>
#include <catalog/dependency.h>
#include <catalog/indexing.h>
#include <catalog/namespace.h>
#include <catalog/pg_aggregate.h>
#include <catalog/pg_am.h>
#include <catalog/pg_amop.h>
#include <catalog/pg_amproc.h>
#include <catalog/pg_attribute.h>
#include <catalog/pg_authid.h>
#include <catalog/pg_cast.h>
#include <catalog/pg_class.h>
#include <catalog/pg_collation.h>
#include <catalog/pg_constraint.h>
#include <catalog/pg_database.h>
#include <catalog/pg_enum.h>
#include <catalog/pg_extension.h>
#include <catalog/pg_inherits.h>
#include <catalog/pg_namespace.h>
#include <catalog/pg_proc.h>
#include <catalog/pg_range.h>
#include <catalog/pg_rewrite.h>
#include <catalog/pg_type.h>
#include <commands/async.h>
#include <commands/dbcommands.h>
#include <commands/event_trigger.h>
#include <commands/extension.h>
#include <commands/sequence.h>
#include <commands/trigger.h>
#include <executor/executor.h>
#include <executor/instrument.h>
#include <executor/spi.h>
#include <fmgr.h>
#include <funcapi.h>
#include <lib/stringinfo.h>
#include <libpq/pqsignal.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <optimizer/cost.h>
#include <optimizer/optimizer.h>
#include <optimizer/paths.h>
#include <optimizer/tlist.h>
#include <parser/analyze.h>
#include <parser/parse_node.h>
#include <parser/parse_relation.h>
#include <parser/parsetree.h>
#include <pgstat.h>
#include <postmaster/bgworker.h>
#include <rewrite/rewriteHandler.h>
#include <rewrite/rewriteSupport.h>
#include <storage/bufmgr.h>
#include <storage/dsm.h>
#include <storage/ipc.h>
#include <storage/latch.h>
#include <storage/lmgr.h>
#include <storage/proc.h>
#include <storage/procarray.h>
#include <storage/shm_mq.h>
#include <storage/shm_toc.h>
#include <tcop/dest.h>
#include <tcop/pquery.h>
#include <tcop/tcopprot.h>
#include <utils/acl.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/catcache.h>
#include <utils/date.h>
#include <utils/datum.h>
#include <utils/float.h>
#include <utils/fmgroids.h>
#include <utils/guc.h>
#include <utils/guc_tables.h>
#include <utils/inval.h>
#include <utils/json.h>
#include <utils/jsonb.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/numeric.h>
#include <utils/ps_status.h>
#include <utils/regproc.h>
#include <utils/rel.h>
#include <utils/resowner.h>
#include <utils/rls.h>
#include <utils/ruleutils.h>
#include <utils/snapmgr.h>
#include <utils/syscache.h>
#include <utils/timeout.h>
#include <utils/timestamp.h>
#include <utils/typcache.h>
#include <utils/varlena.h>
// For PqCommMethods alone. The connection's own record (Port) would need the headers of Kerberos and OpenSSL;
// without them it has another layout here, so it must not be used.
#pragma push_macro("ENABLE_GSS")
#pragma push_macro("USE_OPENSSL")
#undef ENABLE_GSS
#undef USE_OPENSSL
#include <libpq/libpq.h>
#pragma pop_macro("USE_OPENSSL")
#pragma pop_macro("ENABLE_GSS")
#include <utils/backend_progress.h>
#include <utils/backend_status.h>
#include <utils/tuplestore.h>
#include <utils/wait_event.h>
}

#if PG_VERSION_NUM < 140000
#error "dpboost needs PostgreSQL 14 or later"
#endif

namespace dpboost {

// Reserves the prefix "dpboost." for our settings (15 renamed the function and made it strict).
inline void ReserveSettingPrefix() {
#if PG_VERSION_NUM >= 150000
    MarkGUCPrefixReserved("dpboost");
#else
    EmitWarningsOnPlaceholders("dpboost");
#endif
}

// Whether this backend has been told to end the transaction by a timeout that arrived with 17.
inline bool TransactionTimeoutIsPending() {
#if PG_VERSION_NUM >= 170000
    return TransactionTimeoutPending != 0;
#else
    return false;
#endif
}

// After the commit of a background worker: PostgreSQL 14 leaves it to the caller to wake those who listen.
inline void SendNotifies() {
#if PG_VERSION_NUM < 150000
    ProcessCompletedNotifies();
#endif
}

// 16 folded the many pg_xxx_ownercheck functions into one and dropped the old names.
inline bool OwnsRelation(Oid relation, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_ownercheck(RelationRelationId, relation, role);
#else
    return pg_class_ownercheck(relation, role);
#endif
}

// Whether this backend reports the progress of no other command.
inline bool ProgressEntryIsFree() {
    return MyBEEntry != nullptr && MyBEEntry->st_progress_command == PROGRESS_COMMAND_INVALID;
}

// The status of the index'th backend (from 1) in this transaction's copy of the status array; 16 renamed it.
inline const LocalPgBackendStatus* LocalBackendStatus(int index) {
#if PG_VERSION_NUM >= 160000
    return pgstat_get_local_beentry_by_index(index);
#else
    return pgstat_fetch_stat_local_beentry(index);
#endif
}

// Visits the children of an expression; before 16 the walker's declaration has no prototype.
inline bool WalkExpression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return expression_tree_walker(node, walker, context);
#else
    return expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)),
                                  context);
#endif
}

// The same for all that a query holds, its range table first.
inline bool WalkQuery(Query* query, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return query_tree_walker(query, walker, context, QTW_EXAMINE_RTES_BEFORE);
#else
    return query_tree_walker(query, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)), context,
                             QTW_EXAMINE_RTES_BEFORE);
#endif
}

// Visits the plans below one that runs: its inputs, and the subqueries in its expressions.
inline bool WalkPlanState(PlanState* state, bool (*walker)(PlanState*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return planstate_tree_walker(state, walker, context);
#else
    return planstate_tree_walker(state, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)),
                                 context);
#endif
}

// Whether a plan's node passes its input on as it is.
inline bool PassesRowsOn(const Plan* plan) {
    return IsA(plan, Memoize) || IsA(plan, Sort) || IsA(plan, IncrementalSort) || IsA(plan, Material) ||
           IsA(plan, Hash) || IsA(plan, Gather) || IsA(plan, GatherMerge);
}

// Whether a join only asks if the outer side has a partner; such joins came with 16 and 18.
inline bool ReturnsInnerRowsOnly(JoinType type) {
#if PG_VERSION_NUM >= 180000
    if (type == JOIN_RIGHT_SEMI)
        return true;
#endif
#if PG_VERSION_NUM >= 160000
    return type == JOIN_RIGHT_ANTI;
#else
    (void)type;
    return false;
#endif
}

// The same, with the operators by which it sorts and groups.
inline bool WalkWholeQuery(Query* query, bool (*walker)(Node*, void*), void* context) {
    constexpr int kFlags = QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP;
#if PG_VERSION_NUM >= 160000
    return query_tree_walker(query, walker, context, kFlags);
#else
    return query_tree_walker(query, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)), context,
                             kFlags);
#endif
}

// Makes `entry` the range table of a query, read with the rights of `reader` (0: the current role's), who
// must be allowed to see the columns (offset as in pg_attribute's bitmaps). 16 moved this out of the entry.
inline void SetReader(Query* query, ParseState* state, Oid reader, Bitmapset* columns) {
    query->rtable = state->p_rtable;
    auto* entry = static_cast<RangeTblEntry*>(linitial(query->rtable));
#if PG_VERSION_NUM >= 160000
    query->rteperminfos = state->p_rteperminfos;
    RTEPermissionInfo* permissions = getRTEPermissionInfo(query->rteperminfos, entry);
#else
    RangeTblEntry* permissions = entry;
#endif
    permissions->requiredPerms = ACL_SELECT;
    permissions->checkAsUser = reader;
    permissions->selectedCols = columns;
}

// Raises 42501 unless all that a plan reads may be read by those with whose rights it is read.
inline void CheckPermissions(PlannedStmt* plan) {
#if PG_VERSION_NUM >= 160000
    ExecCheckPermissions(plan->rtable, plan->permInfos, true);
#else
    ExecCheckRTPerms(plan->rtable, true);
#endif
}

inline bool MayUseSchema(Oid schema, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK;
#else
    return pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// Whether an entry of the range table stands for GROUP BY, which has one since 18.
inline bool IsGroupEntry(const RangeTblEntry* entry) {
#if PG_VERSION_NUM >= 180000
    return entry->rtekind == RTE_GROUP;
#else
    (void)entry;
    return false;
#endif
}

// Of a row that is changed without a plan; 16 added an argument.
inline void InitRecheck(EPQState* recheck, EState* state) {
#if PG_VERSION_NUM >= 160000
    EvalPlanQualInit(recheck, state, nullptr, NIL, -1, NIL);
#else
    EvalPlanQualInit(recheck, state, nullptr, NIL, -1);
#endif
}

// Runs a query to its end; 18 dropped an argument.
inline void RunToEnd(QueryDesc* query) {
#if PG_VERSION_NUM >= 180000
    ExecutorRun(query, ForwardScanDirection, 0);
#else
    ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

// What an operator means in the btree families that hold it. 18 renamed the function, and numbers meanings by CompareType,
// whose values up to COMPARE_GT are those of the btree strategies.
#if PG_VERSION_NUM >= 180000
using OperatorMeaning = OpIndexInterpretation;
inline List* OperatorMeanings(Oid op) {
    return get_op_index_interpretation(op);
}
inline int StrategyOf(const OperatorMeaning* meaning) {
    return meaning->cmptype;
}
#else
using OperatorMeaning = OpBtreeInterpretation;
inline List* OperatorMeanings(Oid op) {
    return get_op_btree_interpretation(op);
}
inline int StrategyOf(const OperatorMeaning* meaning) {
    return meaning->strategy;
}
#endif

// Waits until the message is sent; false if nobody receives any more.
inline bool SendMessage(shm_mq_handle* queue, const char* bytes, Size size) {
#if PG_VERSION_NUM >= 150000
    return shm_mq_send(queue, size, bytes, false, true) == SHM_MQ_SUCCESS;
#else
    return shm_mq_send(queue, size, bytes, false) == SHM_MQ_SUCCESS;
#endif
}

// All settings that this session knows. The list holds until a library is loaded.
inline config_generic** AllSettings(int* count) {
#if PG_VERSION_NUM >= 160000
    return get_guc_variables(count);
#else
    *count = GetNumConfigOptions();
    return get_guc_variables();
#endif
}

// Flags of settings that are no choice of a value: role, seed, the transaction's own.
#if PG_VERSION_NUM >= 160000
constexpr int kNeverReset = GUC_NO_RESET | GUC_NO_RESET_ALL;
#else
constexpr int kNeverReset = GUC_NO_RESET_ALL;
#endif

// The range type of a multirange type, 0 for other types.
inline Oid RangeOfMultirange(Oid type) {
    return type_is_multirange(type) ? get_multirange_range(type) : InvalidOid;
}

// Whether a node of 17 or later makes a value of its type by that type's input function.
inline bool IsJsonConversion(const Node* node) {
#if PG_VERSION_NUM >= 170000
    return IsA(node, JsonExpr);
#else
    return node == nullptr;
#endif
}

// The same for an expression as the parser leaves it.
inline bool WalkRawExpression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return raw_expression_tree_walker(node, walker, context);
#else
    return raw_expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)),
                                      context);
#endif
}

}  // namespace dpboost

#include "postgres/boundary/pg_19.h"
