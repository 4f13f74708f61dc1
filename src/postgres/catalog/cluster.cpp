#include "postgres/catalog/cluster.h"

namespace dpboost {
namespace {

// A function of Citus; 0 if it is not installed here. Only a superuser can put one into pg_catalog.
Oid ClusterFunction(const char* name, int count, const Oid* types) {
    return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                           PointerGetDatum(buildoidvector(types, count)),
                           ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
}

// Whether Citus has spread it over servers, or would read it there.
bool IsDistributed(Oid table_of_citus, Oid relid) {
    Relation table = table_open(table_of_citus, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, get_attnum(table_of_citus, "logicalrelid"), BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(relid));
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 1, &key);
    const bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return found;
}

}  // namespace

bool IsCoordinator() {
    const Oid function = ClusterFunction("citus_is_coordinator", 0, nullptr);
    return OidIsValid(function) && DatumGetBool(OidFunctionCall0(function));
}

void CheckNoClusterWorker() {
    const Oid function = ClusterFunction("citus_is_coordinator", 0, nullptr);
    if (OidIsValid(function) && !DatumGetBool(OidFunctionCall0(function)))
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("this server is a worker of a cluster, and only its coordinator trains"),
                 errdetail("Limits and the ledger are at the coordinator."),
                 errhint("Use dpboost_train_rows or dpboost_train_on there. A query that Citus sends to a "
                         "worker as a whole cannot train.")));
}

void CheckNoShards(const RelationSet* relations) {
    const Oid types[] = {REGCLASSOID};
    const Oid function = ClusterFunction("relation_is_a_known_shard", 1, types);
    for (int i = 0; OidIsValid(function) && i < relations->count; ++i)
        if (DatumGetBool(OidFunctionCall1(function, ObjectIdGetDatum(relations->items[i].relid))))
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("cannot train on \"%s\", which is a shard of a distributed table",
                                   relations->items[i].relation_name),
                            errdetail("Limits are those of the table."),
                            errhint("Use dpboost_train_rows or dpboost_train_on, on the table.")));
}

void CheckReadsShards(Oid caller, Oid relid) {
    const Oid table_of_citus = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
    if (!OidIsValid(table_of_citus) || get_rel_relkind(table_of_citus) != RELKIND_RELATION ||
        get_attnum(table_of_citus, "logicalrelid") == InvalidAttrNumber)
        return;
    const RelationSet* relations = RelationsBehind(relid);
    for (int i = 0; i < relations->count; ++i) {
        const ReadRelation& relation = relations->items[i];
        if (IsDistributed(table_of_citus, relation.relid) &&
            pg_class_aclcheck(relation.relid, caller, ACL_SELECT) != ACLCHECK_OK)
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("cannot read distributed table \"%s\" with a privacy budget alone",
                                   relation.relation_name),
                            errdetail("Citus reads its shards as role \"%s\", which may not SELECT from it.",
                                      GetUserNameFromId(caller, false))));
    }
}

}  // namespace dpboost
