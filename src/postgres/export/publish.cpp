// dpboost_publish: the coordinator tells the other servers of a cluster to import a model of the same name, owner and
// version. It does so as the caller, by connections of Citus: he can do nothing there that he could not do himself.
#include "postgres/export/publish.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/cluster.h"
#include "postgres/predict/model_lookup.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_publish);
}

namespace dpboost {
namespace {

// A model that is live, by full name.
struct Published {
    const char* owner;
    const char* name;
    int32 version;
    const char* content;  // as a literal of SQL
    bool is_shared_alike;
    List* shared_with;  // then: exactly these roles, in quotes where needed
};

// Of the functions, here and at the others. Within SPI.
const char* Schema() {
    if (SPI_execute(
            "SELECT extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension "
            "WHERE extname OPERATOR(pg_catalog.=) 'dpboost'",
            true, 1) != SPI_OK_SELECT ||
        SPI_processed != 1)
        elog(ERROR, "extension dpboost is missing");
    return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

// Runs a statement on all other servers. Returns how many there are; raises the first failure.
int RunElsewhere(const char* statement) {
    Oid type = TEXTOID;
    Datum value = CStringGetTextDatum(statement);
    if (SPI_execute_with_args("SELECT nodename::pg_catalog.text, nodeport::pg_catalog.int4, success, result "
                              "FROM pg_catalog.run_command_on_workers($1)",
                              1, &type, &value, nullptr, false, 0) != SPI_OK_SELECT)
        elog(ERROR, "could not reach the servers of the cluster");
    for (uint64 row = 0; row < SPI_processed; ++row) {
        bool is_null;
        HeapTuple tuple = SPI_tuptable->vals[row];
        TupleDesc columns = SPI_tuptable->tupdesc;
        if (DatumGetBool(SPI_getbinval(tuple, columns, 3, &is_null)))
            continue;
        const char* result = SPI_getvalue(tuple, columns, 4);
        ereport(ERROR, (errcode(ERRCODE_CONNECTION_EXCEPTION),
                        errmsg("could not change the model on %s:%s", SPI_getvalue(tuple, columns, 1),
                               SPI_getvalue(tuple, columns, 2)),
                        errdetail("%s", result == nullptr ? "The server gave no reason." : result)));
    }
    return static_cast<int>(SPI_processed);
}

// A share that was rolled back here is still there.
void ShareAlike(const char* schema, const char* name, const List* roles) {
    StringInfoData list;
    initStringInfo(&list);
    ListCell* cell;
    foreach (cell, roles) {
        const char* role = quote_literal_cstr(static_cast<const char*>(lfirst(cell)));
        RunElsewhere(psprintf("SELECT %s.dpboost_share(%s, %s)", schema, name, role));
        appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", role);
    }
    RunElsewhere(
        psprintf("SELECT pg_catalog.count(%s.dpboost_unshare(%s, oid)) FROM pg_catalog.pg_roles "
                 "WHERE oid OPERATOR(pg_catalog.<>) ALL (ARRAY[%s]::pg_catalog.regrole[])",
                 schema, name, list.data));
}

int Send(const Published& model) {
    const char* schema = Schema();
    const char* full = FullName(false, model.owner, model.name);
    const char* name = quote_literal_cstr(full);
    const char* exact = quote_literal_cstr(psprintf("%s@%d", full, model.version));
    RunElsewhere(
        psprintf("SELECT %s.dpboost_import(%s, %s) WHERE NOT EXISTS (SELECT FROM %s.dpboost_models "
                 "WHERE model = %s AND owner = %s AND version = %d)",
                 schema, exact, model.content, schema, quote_literal_cstr(model.name),
                 quote_literal_cstr(model.owner), model.version));
    const int servers =
        RunElsewhere(psprintf("SELECT %s.dpboost_deploy(%s, %d)", schema, name, model.version));
    if (model.is_shared_alike)
        ShareAlike(schema, name, model.shared_with);
    return servers;
}

// For those who manage models: the name of the owner, if there is anything to do elsewhere.
const char* OwnerElsewhere(Oid owner) {
    if (!IsCoordinator() || !OidIsValid(owner))
        return nullptr;
    return GetUserNameFromId(owner, true);
}

// What the model is, as dpboost_export gives it to the caller. Within SPI.
const char* ContentOf(const char* exact) {
    Oid type = TEXTOID;
    Datum value = CStringGetTextDatum(exact);
    if (SPI_execute_with_args(psprintf("SELECT %s.dpboost_export($1)", Schema()), 1, &type, &value, nullptr,
                              true, 1) != SPI_OK_SELECT ||
        SPI_processed != 1)
        elog(ERROR, "could not export model \"%s\"", exact);
    bool is_null;
    const Datum bytes = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    const struct varlena* content = PG_DETOAST_DATUM_PACKED(bytes);
    const size_t size = VARSIZE_ANY_EXHDR(content);
    StringInfoData literal;
    initStringInfo(&literal);
    appendStringInfoString(&literal, "'\\x");
    enlargeStringInfo(&literal, static_cast<int>(2 * size + 16));
    literal.len += static_cast<int>(hex_encode(VARDATA_ANY(content), size, literal.data + literal.len));
    literal.data[literal.len] = '\0';
    appendStringInfoString(&literal, "'::pg_catalog.bytea");
    return literal.data;
}

List* SharedWith(int64 name_id) {
    CatalogScope scope;
    MemoryContext outer = CurrentMemoryContext;
    CatalogBegin(&scope);
    const uint64 count =
        CatalogRead("SELECT grantee::text FROM dpboost.model_grant WHERE name_id = $1 AND grantee::oid <> 0",
                    {Int8(name_id)});
    List* roles = NIL;
    MemoryContext inner = MemoryContextSwitchTo(outer);
    for (uint64 row = 0; row < count; ++row)
        roles = lappend(roles, TextDatumGetCString(CatalogValue(row, 1)));
    MemoryContextSwitchTo(inner);
    CatalogEnd(&scope);
    return roles;
}

int Publish(Published* model) {
    SPI_connect();
    model->content = ContentOf(psprintf("%s@%d", FullName(false, model->owner, model->name), model->version));
    const int servers = Send(*model);
    SPI_finish();
    return servers;
}

}  // namespace

void DeployElsewhere(Oid owner, const char* name, int32 version) {
    const char* owner_name = OwnerElsewhere(owner);
    if (owner_name == nullptr)
        return;
    Published model = {owner_name, name, version, nullptr, false, NIL};
    Publish(&model);
}

void CallElsewhere(const char* function, Oid owner, const char* name, int32 version, const char* role) {
    const char* owner_name = OwnerElsewhere(owner);
    if (owner_name == nullptr)
        return;
    const char* full = FullName(false, owner_name, name);
    SPI_connect();
    const char* schema = Schema();
    StringInfoData statement;
    initStringInfo(&statement);
    appendStringInfo(&statement, "SELECT %s.%s(%s", schema, function,
                     quote_literal_cstr(version == 0 ? full : psprintf("%s@%d", full, version)));
    if (role != nullptr)
        appendStringInfo(&statement, ", %s", quote_literal_cstr(quote_identifier(role)));
    appendStringInfo(&statement,
                     ") WHERE EXISTS (SELECT FROM %s.dpboost_models WHERE model = %s AND owner = %s"
                     " AND %d IN (0, version))",
                     schema, quote_literal_cstr(name), quote_literal_cstr(owner_name), version);
    RunElsewhere(statement.data);
    SPI_finish();
}

void PublishInWake(const char* owner, const char* name, int32 version) {
    if (IsInParallelMode() || !IsCoordinator())
        return;
    MemoryContext outer = CurrentMemoryContext;
    ResourceOwner owner_of_resources = CurrentResourceOwner;
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(outer);
    PG_TRY();
    {
        Published model = {owner, name, version, nullptr, false, NIL};
        Publish(&model);
        ReleaseCurrentSubTransaction();
    }
    PG_CATCH();
    {
        MemoryContextSwitchTo(outer);
        ErrorData* error = CopyErrorData();
        FlushErrorState();
        RollbackAndReleaseCurrentSubTransaction();
        MemoryContextSwitchTo(outer);
        CurrentResourceOwner = owner_of_resources;
        if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
            ReThrowError(error);
        ereport(WARNING, (errcode(error->sqlerrcode), errmsg("%s", error->message),
                          error->detail != nullptr ? errdetail("%s", error->detail) : 0,
                          errhint("The model is stored here. Publish it with dpboost_publish.")));
    }
    PG_END_TRY();
    MemoryContextSwitchTo(outer);
    CurrentResourceOwner = owner_of_resources;
}

}  // namespace dpboost

using namespace dpboost;

// Brings the version that the name means, and those that it is shared with, to all other servers; returns their number.
Datum dpboost_publish(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArgument(fcinfo, 0, "model");
    const text* argument = PG_GETARG_TEXT_PP(0);
    if (!IsCoordinator())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("this server is not the coordinator of a cluster"),
                        errdetail("dpboost_publish brings models to the other servers of a Citus cluster.")));
    ModelText read;
    ReadModelText(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), NameUse::kRead, &read);
    ModelEntry entry;
    FindModel(GetUserId(), read, &entry);
    const bool owned = OwnsModel(GetUserId(), entry);
    Published model = {OidIsValid(entry.owner) ? GetUserNameFromId(entry.owner, true) : nullptr,
                       pstrdup(read.name),
                       entry.version,
                       nullptr,
                       true,
                       NIL};
    const int64 name_id = entry.name_id;
    CloseModelEntry(&entry);
    if (!owned || model.owner == nullptr || read.version != 0)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("cannot publish \"%s\"", text_to_cstring(argument)),
                        errdetail("Owners publish what the name of a model means now.")));
    model.shared_with = SharedWith(name_id);
    PG_RETURN_INT32(Publish(&model));
}
