#include "postgres/federation/links.h"

#include "postgres/boundary/boundary.h"
#include "postgres/federation/connect.h"

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
    ForgetWaits(links);
    for (; links->descriptors > 0; --links->descriptors)
        ReleaseExternalFD();
}

// ---- errors ----

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

// One set for all steps of a session, not one for each wait.
void AwaitReadable(Links* links) {
    NewWaits(links);
    for (int i = 0; i < links->count; ++i)
        AddWaitEventToSet(links->waits, WL_SOCKET_READABLE, PQsocket(links->connections[i]), nullptr,
                          nullptr);
}

// Waits until one of the servers has something to read, or can be written to where not all is sent.
void WaitForServers(Links* links, Awaited* awaited, long milliseconds) {
    WaitEventSet* set = links->waits;
    for (int i = 0; i < links->count; ++i) {
        const int unsent = awaited[i].whole ? 0 : PQflush(links->connections[i]);
        if (unsent < 0)
            RaiseLost(links, i);
        ModifyWaitEvent(set, kFirstServer + i, WL_SOCKET_READABLE | (unsent > 0 ? WL_SOCKET_WRITEABLE : 0),
                        nullptr);
    }
    WaitEvent events[kMostEvents];
    const int happened = AwaitEvents(links, milliseconds, events);
    for (int i = 0; i < happened; ++i)
        if (events[i].events & WL_SOCKET_READABLE)
            awaited[events[i].pos - kFirstServer].readable = true;
}

}  // namespace

Links* OpenLinks(const Federation& federation, Oid caller) {
    auto* links = static_cast<Links*>(palloc0(sizeof(Links)));
    links->count = federation.count;
    links->parties = federation.parties;
    links->connections = static_cast<PGconn**>(palloc0(sizeof(PGconn*) * (federation.count + 1)));
    links->words = static_cast<char**>(palloc0(sizeof(char*) * (federation.count + 1)));
    links->results = static_cast<PGresult**>(palloc0(sizeof(PGresult*) * (federation.count + 1)));
    links->close.func = Close;
    links->close.arg = links;
    MemoryContextRegisterResetCallback(CurrentMemoryContext, &links->close);
    ConnectAll(links, caller);
    AwaitReadable(links);
    AwaitAll(links);  // the end of what was done last over connections that were kept
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

void SendToAll(Links* links, const char* statement, const LinkValue* values, int count) {
    Parameters p;
    SetParameters(values, count, &p);
    for (int i = 0; i < links->count; ++i) {
        ForgetAnswer(links, i);
        if (PQsendQueryParams(links->connections[i], statement, count, p.types, p.bytes, p.sizes, p.formats,
                              1) == 0)
            RaiseLost(links, i);
    }
}

void SendBatchToAll(Links* links, const char* statements) {
    for (int i = 0; i < links->count; ++i) {
        ForgetAnswer(links, i);
        if (PQsendQuery(links->connections[i], statements) == 0)
            RaiseLost(links, i);
    }
}

void SendPreparedToAll(Links* links, const char* name, const LinkValue* values, int count) {
    Parameters p;
    SetParameters(values, count, &p);
    for (int i = 0; i < links->count; ++i) {
        ForgetAnswer(links, i);
        if (PQsendQueryPrepared(links->connections[i], name, count, p.bytes, p.sizes, p.formats, 1) == 0)
            RaiseLost(links, i);
    }
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

void CheckConnected(Links* links) {
    for (int i = 0; i < links->count; ++i)
        for (int look = 0; look < 2; ++look)  // the first may find a server's last words, the second the end
            if (PQconsumeInput(links->connections[i]) == 0)
                RaiseLost(links, i);
}

void CheckAnswer(const Links* links, int server) {
    const PGresult* result = links->results[server];
    if (result == nullptr || PQntuples(result) != 1 || PQnfields(result) != 1 || PQgetisnull(result, 0, 0))
        RaiseLost(links->parties[server], ERRCODE_PROTOCOL_VIOLATION, "got no value from", "");
}

std::string_view AnswerOf(const Links* links, int server) {
    const PGresult* result = links->results[server];
    return {PQgetvalue(result, 0, 0), static_cast<size_t>(PQgetlength(result, 0, 0))};
}

void KeepLinks(Links* links) {
    for (int i = 0; i < links->count; ++i) {
        ForgetAnswer(links, i);
        if (PQsendQuery(links->connections[i], "ROLLBACK") == 0 || !Keep(links, i))
            continue;  // closed below
        links->connections[i] = nullptr;
        --links->descriptors;
    }
    Close(links);
}

}  // namespace dpboost
