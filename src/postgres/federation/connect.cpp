#include "postgres/federation/connect.h"

namespace dpboost {

void RaiseLost(const FederationParty& party, int sqlstate, const char* message, const char* detail) {
    const char* reason = pchomp(detail);
    ereport(ERROR, (errcode(sqlstate), errmsg("%s party \"%s\"", message, party.name),
                    reason[0] != '\0' ? errdetail_internal("%s", reason) : 0,
                    errcontext("federated training at server \"%s\"", party.server)));
    pg_unreachable();
}

void ForgetWaits(Links* links) {
    if (links->waits != nullptr)
        FreeWaitEventSet(links->waits);
    links->waits = nullptr;
}

WaitEventSet* NewWaits(Links* links) {
    ForgetWaits(links);
    links->waits = MakeWaitEventSet(links->count + kFirstServer);
    AddWaitEventToSet(links->waits, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, nullptr);
    AddWaitEventToSet(links->waits, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, nullptr, nullptr);
    return links->waits;
}

int AwaitEvents(Links* links, long milliseconds, WaitEvent* events) {
    const int happened = WaitEventSetWait(links->waits, milliseconds, events, kMostEvents, PG_WAIT_EXTENSION);
    for (int i = 0; i < happened; ++i)
        if (events[i].events & WL_LATCH_SET)
            ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
    return happened;
}

namespace {

bool IsLibpqOption(const PQconninfoOption* known, const char* name) {
    for (const PQconninfoOption* option = known; option->keyword != nullptr; ++option)
        if (strcmp(option->keyword, name) == 0)
            return strchr(option->dispchar, 'D') == nullptr;  // not for debugging
    return false;
}

// What a non-superuser connects with must be his own, as postgres_fdw has it: a password, not the server's identity.
bool NeedsPassword(const UserMapping* mapping, Oid caller) {
    if (superuser_arg(caller))
        return false;
    ListCell* cell;
    foreach (cell, mapping->options) {
        auto* option = static_cast<DefElem*>(lfirst(cell));
        if (strcmp(option->defname, "password_required") == 0 && !defGetBoolean(option))
            return false;
    }
    return true;
}

struct ConnectionWords {
    const char** keywords;
    const char** values;
    bool needs_password;
};

ConnectionWords WordsFor(const FederationParty& party, Oid caller) {
    if (party.server == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("party \"%s\" cannot be reached from here", party.name),
                        errhint("Create the federation with \"servers\".")));
    const ForeignServer* server = GetForeignServerByName(party.server, false);
    const ForeignDataWrapper* wrapper = GetForeignDataWrapper(server->fdwid);
    if (strcmp(wrapper->fdwname, "postgres_fdw") != 0)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("server \"%s\" is not one of postgres_fdw", party.server)));
    if (!MayUseServer(server->serverid, caller))
        aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, party.server);
    const UserMapping* mapping = GetUserMapping(caller, server->serverid);
    const int most = list_length(server->options) + list_length(mapping->options) + 4;
    ConnectionWords words;
    words.keywords = static_cast<const char**>(palloc0(sizeof(char*) * most));
    words.values = static_cast<const char**>(palloc0(sizeof(char*) * most));
    words.needs_password = NeedsPassword(mapping, caller);
    PQconninfoOption* known = PQconndefaults();
    if (known == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
    int count = 0;
    bool has_password = false;
    for (const List* options : {server->options, mapping->options}) {
        ListCell* cell;
        foreach (cell, options) {
            auto* option = static_cast<DefElem*>(lfirst(cell));
            if (!IsLibpqOption(known, option->defname) || option->arg == nullptr || !IsA(option->arg, String))
                continue;
            words.keywords[count] = option->defname;
            words.values[count++] = strVal(option->arg);
            has_password |= strcmp(option->defname, "password") == 0 && strVal(option->arg)[0] != '\0';
        }
    }
    PQconninfoFree(known);
    words.keywords[count] = "fallback_application_name";
    words.values[count++] = "dpboost";
    words.keywords[count] = "client_encoding";
    words.values[count++] = GetDatabaseEncodingName();
    if (words.needs_password && !has_password)
        ereport(ERROR,
                (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED), errmsg("password is required"),
                 errdetail("The user mapping for server \"%s\" has none.", party.server)));
    return words;
}

// ---- connections that are kept ----

struct KeptLink {
    char* words;
    PGconn* connection;
};
constexpr int kMostKept = 64;
KeptLink kept[kMostKept];
int kept_count = 0;

// All that a connection is made of, as one text: another password or host makes another connection.
char* TextOf(const ConnectionWords& words) {
    StringInfoData text;
    initStringInfo(&text);
    for (int i = 0; words.keywords[i] != nullptr; ++i)
        appendStringInfo(&text, "%s=%zu:%s;", words.keywords[i], strlen(words.values[i]), words.values[i]);
    return text.data;
}

// Whether the other side is still there, as far as can be seen from here. It may still be ending its last transaction. What was
// said before an end comes first, so the end is looked for twice.
bool IsThere(PGconn* connection) {
    return PQflush(connection) == 0 && PQconsumeInput(connection) != 0 && PQconsumeInput(connection) != 0 &&
           PQstatus(connection) == CONNECTION_OK;
}

// A kept connection that is made of these words, no longer kept; null if there is none.
PGconn* TakeKept(const char* words) {
    for (int i = 0; i < kept_count; ++i) {
        if (strcmp(kept[i].words, words) != 0)
            continue;
        PGconn* connection = kept[i].connection;
        pfree(kept[i].words);
        kept[i] = kept[--kept_count];
        if (IsThere(connection))
            return connection;
        PQfinish(connection);
        ReleaseExternalFD();
        return nullptr;
    }
    return nullptr;
}

// A connection that is being made.
struct Dialling {
    PostgresPollingStatusType status;
    bool ready;  // something has happened since it was last looked at
    bool needs_password;
};

void Dial(Links* links, int server, Oid caller, Dialling* dialling) {
    const FederationParty& party = links->parties[server];
    const ConnectionWords words = WordsFor(party, caller);
    dialling->needs_password = words.needs_password;
    links->words[server] = TextOf(words);
    links->connections[server] = TakeKept(links->words[server]);
    if (links->connections[server] != nullptr) {
        ++links->descriptors;
        dialling->status = PGRES_POLLING_OK;
        return;
    }
    if (!AcquireExternalFD())
        ereport(ERROR, (errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
                        errmsg("could not connect to party \"%s\"", party.name),
                        errdetail("There are too many open files.")));
    ++links->descriptors;
    PGconn* connection = links->connections[server] = PQconnectStartParams(words.keywords, words.values, 0);
    if (connection == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
    dialling->status = PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
}

// Whether the connection stands. Raises 08001 if it never will.
bool Stands(const Links* links, int server, Dialling* dialling) {
    PGconn* connection = links->connections[server];
    if (dialling->ready)
        dialling->status = PQconnectPoll(connection);
    dialling->ready = false;
    if (dialling->status == PGRES_POLLING_FAILED)
        RaiseLost(links->parties[server], ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
                  "could not connect to", PQerrorMessage(connection));
    return dialling->status == PGRES_POLLING_OK;
}

void FinishDialling(const Links* links, int server, const Dialling& dialling) {
    PGconn* connection = links->connections[server];
    if (dialling.needs_password && !PQconnectionUsedPassword(connection))
        ereport(ERROR,
                (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED), errmsg("password is required"),
                 errdetail("Server \"%s\" did not ask for one.", links->parties[server].server)));
    PQsetNoticeProcessor(
        connection, [](void*, const char*) {}, nullptr);
    PQsetnonblocking(connection, 1);
}

// Until something happens; which sockets are awaited, and for what, may change with every step of a connection.
void AwaitDialling(Links* links, Dialling* dialling, long milliseconds) {
    WaitEventSet* set = NewWaits(links);
    for (int i = 0; i < links->count; ++i)
        if (dialling[i].status != PGRES_POLLING_OK)
            AddWaitEventToSet(
                set, dialling[i].status == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE,
                PQsocket(links->connections[i]), nullptr, &dialling[i]);
    WaitEvent events[kMostEvents];
    const int happened = AwaitEvents(links, milliseconds, events);
    for (int i = 0; i < happened; ++i)
        if (events[i].user_data != nullptr)
            static_cast<Dialling*>(events[i].user_data)->ready = true;
}

}  // namespace

bool Keep(Links* links, int server) {
    if (kept_count == kMostKept)
        return false;
    char* words = MemoryContextStrdup(TopMemoryContext, links->words[server]);
    kept[kept_count++] = {words, links->connections[server]};
    return true;
}

void ConnectAll(Links* links, Oid caller) {
    auto* dialling = static_cast<Dialling*>(palloc0(sizeof(Dialling) * (links->count + 1)));
    const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FederationTimeout());
    for (int i = 0; i < links->count; ++i)
        Dial(links, i, caller, &dialling[i]);
    for (;;) {
        int first = -1;
        for (int i = 0; i < links->count; ++i)
            if (!Stands(links, i, &dialling[i]) && first < 0)
                first = i;
        if (first < 0)
            break;
        const long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
        if (left <= 0)
            RaiseLost(links->parties[first], ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
                      "could not connect in time to", "");
        AwaitDialling(links, dialling, left);
    }
    for (int i = 0; i < links->count; ++i)
        FinishDialling(links, i, dialling[i]);
    pfree(dialling);
}

}  // namespace dpboost
