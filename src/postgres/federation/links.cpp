#include "postgres/federation/links.h"

#include "postgres/boundary/boundary.h"

namespace dpboost {

namespace {

void Close(void* argument) {
    auto* links = static_cast<Links*>(argument);
    for (int i = 0; i < links->count; ++i) {
        if (links->results[i] != nullptr)
            PQclear(links->results[i]);
        links->results[i] = nullptr;
        if (links->connections[i] != nullptr)
            PQfinish(links->connections[i]);
        links->connections[i] = nullptr;
    }
    if (links->waits != nullptr)
        FreeWaitEventSet(links->waits);
    links->waits = nullptr;
    for (; links->descriptors > 0; --links->descriptors)
        ReleaseExternalFD();
}

// ---- errors ----

[[noreturn]] void RaiseLost(const FederationParty& party, int sqlstate, const char* message,
                            const char* detail) {
    const char* reason = pchomp(detail);
    ereport(ERROR, (errcode(sqlstate), errmsg("%s party \"%s\"", message, party.name),
                    reason[0] != '\0' ? errdetail_internal("%s", reason) : 0,
                    errcontext("federated training at server \"%s\"", party.server)));
    pg_unreachable();
}

[[noreturn]] void RaiseLost(const Links* links, int server) {
    RaiseLost(links->parties[server], ERRCODE_CONNECTION_FAILURE, "lost the connection to",
              PQerrorMessage(links->connections[server]));
}

// A server's error as if it had been raised here.
[[noreturn]] void RaiseAnswer(const Links* links, int server, PGresult* result) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char* detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char* hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (state == nullptr || message == nullptr)
        RaiseLost(links, server);
    const FederationParty& party = links->parties[server];
    ereport(ERROR,
            (errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
             errmsg_internal("%s", message), detail != nullptr ? errdetail_internal("%s", detail) : 0,
             hint != nullptr ? errhint("%s", hint) : 0,
             errcontext("federated training at party \"%s\", server \"%s\"", party.name, party.server)));
    pg_unreachable();
}

// ---- connecting ----

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

void WaitForSocket(const FederationParty& party, PGconn* connection, int flag, TimestampTz deadline) {
    const long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
    if (left <= 0)
        RaiseLost(party, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION, "could not connect in time to",
                  "");
    const int woken = WaitLatchOrSocket(MyLatch, WL_EXIT_ON_PM_DEATH | WL_LATCH_SET | WL_TIMEOUT | flag,
                                        PQsocket(connection), left, PG_WAIT_EXTENSION);
    if (woken & WL_LATCH_SET)
        ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

void Connect(Links* links, int server, Oid caller) {
    const FederationParty& party = links->parties[server];
    const ConnectionWords words = WordsFor(party, caller);
    if (!AcquireExternalFD())
        ereport(ERROR, (errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
                        errmsg("could not connect to party \"%s\"", party.name),
                        errdetail("There are too many open files.")));
    ++links->descriptors;
    PGconn* connection = links->connections[server] = PQconnectStartParams(words.keywords, words.values, 0);
    if (connection == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
    const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FederationTimeout());
    PostgresPollingStatusType status =
        PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        WaitForSocket(party, connection,
                      status == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE, deadline);
        status = PQconnectPoll(connection);
    }
    if (status == PGRES_POLLING_FAILED)
        RaiseLost(party, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION, "could not connect to",
                  PQerrorMessage(connection));
    if (words.needs_password && !PQconnectionUsedPassword(connection))
        ereport(ERROR,
                (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED), errmsg("password is required"),
                 errdetail("Server \"%s\" did not ask for one.", party.server)));
    PQsetNoticeProcessor(
        connection, [](void*, const char*) {}, nullptr);
    PQsetnonblocking(connection, 1);
}

// ---- steps ----

// How a step stands at one server.
struct Awaited {
    bool readable;  // something may have come
    bool whole;     // its answer has
};

// Takes the results that libpq has in full. True: that is the whole answer.
bool TakeResults(Links* links, int server) {
    PGconn* connection = links->connections[server];
    while (PQisBusy(connection) == 0) {
        PGresult* result = PQgetResult(connection);
        if (result == nullptr)
            return true;
        if (links->results[server] != nullptr)
            PQclear(links->results[server]);
        links->results[server] = result;
        const ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
            RaiseAnswer(links, server, result);
    }
    return false;
}

// Takes what one server has sent.
void Receive(Links* links, int server, Awaited* awaited) {
    if (awaited->readable && PQconsumeInput(links->connections[server]) == 0)
        RaiseLost(links, server);
    awaited->readable = false;
    if (!awaited->whole)
        awaited->whole = TakeResults(links, server);
}

constexpr int kFirstServer = 2;  // in the set of events, behind the latch and the postmaster

// One set for all steps of a session, not one for each wait.
WaitEventSet* WaitsOf(Links* links) {
    if (links->waits == nullptr) {
        links->waits = MakeWaitEventSet(links->count + kFirstServer);
        AddWaitEventToSet(links->waits, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, nullptr);
        AddWaitEventToSet(links->waits, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, nullptr, nullptr);
        for (int i = 0; i < links->count; ++i)
            AddWaitEventToSet(links->waits, WL_SOCKET_READABLE, PQsocket(links->connections[i]), nullptr,
                              nullptr);
    }
    return links->waits;
}

// Waits until one of the servers has something to read, or can be written to where not all is sent.
void WaitForServers(Links* links, Awaited* awaited, long milliseconds) {
    WaitEventSet* set = WaitsOf(links);
    for (int i = 0; i < links->count; ++i) {
        const int unsent = awaited[i].whole ? 0 : PQflush(links->connections[i]);
        if (unsent < 0)
            RaiseLost(links, i);
        ModifyWaitEvent(set, kFirstServer + i, WL_SOCKET_READABLE | (unsent > 0 ? WL_SOCKET_WRITEABLE : 0),
                        nullptr);
    }
    constexpr int kMostEvents = 16;
    WaitEvent events[kMostEvents];
    const int happened = WaitEventSetWait(set, milliseconds, events, kMostEvents, PG_WAIT_EXTENSION);
    for (int i = 0; i < happened; ++i) {
        if (events[i].events & WL_LATCH_SET)
            ResetLatch(MyLatch);
        if (events[i].events & WL_SOCKET_READABLE)
            awaited[events[i].pos - kFirstServer].readable = true;
    }
    CHECK_FOR_INTERRUPTS();
}

}  // namespace

Links* OpenLinks(const Federation& federation, Oid caller) {
    auto* links = static_cast<Links*>(palloc0(sizeof(Links)));
    links->count = federation.count;
    links->parties = federation.parties;
    links->connections = static_cast<PGconn**>(palloc0(sizeof(PGconn*) * (federation.count + 1)));
    links->results = static_cast<PGresult**>(palloc0(sizeof(PGresult*) * (federation.count + 1)));
    links->close.func = Close;
    links->close.arg = links;
    MemoryContextRegisterResetCallback(CurrentMemoryContext, &links->close);
    for (int i = 0; i < federation.count; ++i)
        Connect(links, i, caller);
    return links;
}

namespace {

// Parameters as libpq takes them.
struct Parameters {
    static constexpr int kMost = 4;
    Oid types[kMost];
    const char* bytes[kMost];
    int sizes[kMost];
    int formats[kMost];
};

void SetParameters(const LinkValue* values, int count, Parameters* parameters) {
    if (count > Parameters::kMost)
        elog(ERROR, "a step has too many parameters");
    for (int i = 0; i < count; ++i) {
        parameters->types[i] = values[i].type;
        parameters->bytes[i] = values[i].bytes;
        parameters->sizes[i] = values[i].size;
        parameters->formats[i] = 1;
    }
}

void ForgetAnswer(Links* links, int server) {
    if (links->results[server] != nullptr)
        PQclear(links->results[server]);
    links->results[server] = nullptr;
}

}  // namespace

void SendTo(Links* links, int server, const char* statement, const LinkValue* values, int count) {
    Parameters p;
    SetParameters(values, count, &p);
    ForgetAnswer(links, server);
    if (PQsendQueryParams(links->connections[server], statement, count, p.types, p.bytes, p.sizes, p.formats,
                          1) == 0)
        RaiseLost(links, server);
}

void PrepareAt(Links* links, int server, const char* name, const char* statement) {
    ForgetAnswer(links, server);
    if (PQsendPrepare(links->connections[server], name, statement, 0, nullptr) == 0)
        RaiseLost(links, server);
}

void SendPreparedTo(Links* links, int server, const char* name, const LinkValue* values, int count) {
    Parameters p;
    SetParameters(values, count, &p);
    ForgetAnswer(links, server);
    if (PQsendQueryPrepared(links->connections[server], name, count, p.bytes, p.sizes, p.formats, 1) == 0)
        RaiseLost(links, server);
}

void SendToAll(Links* links, const char* statement, const LinkValue* values, int count) {
    for (int i = 0; i < links->count; ++i)
        SendTo(links, i, statement, values, count);
}

void AwaitAll(Links* links) {
    auto* awaited = static_cast<Awaited*>(palloc0(sizeof(Awaited) * (links->count + 1)));
    const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FederationTimeout());
    for (;;) {
        int first = -1;
        for (int i = 0; i < links->count; ++i) {
            Receive(links, i, &awaited[i]);  // also of those that are done: a loss is known at once
            if (!awaited[i].whole && first < 0)
                first = i;
        }
        if (first < 0)
            break;
        const long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
        if (left <= 0)
            RaiseLost(links->parties[first], ERRCODE_CONNECTION_FAILURE, "got no answer in time from",
                      "The limit is dpboost.federation_timeout.");
        WaitForServers(links, awaited, left);
    }
    pfree(awaited);
}

const char* AnswerOf(const Links* links, int server, int* size) {
    PGresult* result = links->results[server];
    if (result == nullptr || PQntuples(result) != 1 || PQnfields(result) != 1 || PQgetisnull(result, 0, 0))
        RaiseLost(links->parties[server], ERRCODE_PROTOCOL_VIOLATION, "got no value from", "");
    *size = PQgetlength(result, 0, 0);
    return PQgetvalue(result, 0, 0);
}

void CloseLinks(Links* links) {
    Close(links);
}

}  // namespace dpboost
