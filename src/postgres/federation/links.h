// Connections to the servers of a federation: a foreign server of postgres_fdw and a user mapping of the caller say where and
// as whom, as for a foreign table. A step goes to all servers at once and is over when all have answered.
#pragma once

#include <string_view>

#include "postgres/federation/federation.h"

#include "postgres/boundary/pg_links.h"

namespace dpboost {

// Closed with the memory context in which they were opened, whatever happens.
struct Links {
    int count;
    const FederationParty* parties;
    PGconn** connections;
    char** words;         // what each connection is made of
    PGresult** results;   // of the last step, one for each server
    int descriptors;      // reserved
    WaitEventSet* waits;  // latch, postmaster and servers
    MemoryContextCallback close;
};

// A parameter of a step, in binary.
struct LinkValue {
    Oid type;
    const char* bytes;  // null: NULL
    int size;
};

// Connects to all parties at once, as `caller`; a connection that this session has kept, made of the same words, is used
// again. Raises 08001.
Links* OpenLinks(const Federation& federation, Oid caller);
// Sends a statement to all servers.
void SendToAll(Links* links, const char* statement, const LinkValue* values, int count);
// Several statements in one text; their answer is that of the last.
void SendBatchToAll(Links* links, const char* statements);
// A statement that was prepared under a name.
void SendPreparedToAll(Links* links, const char* name, const LinkValue* values, int count);
// Until all that were sent something have answered. Raises the first error that a server has answered with, as it was raised
// there, with its name; 08006 for a lost connection, and for no answer within dpboost.federation_timeout.
void AwaitAll(Links* links);
// Raises 08006 if a connection is known to be lost by now. Between steps nobody looks: before a step that cannot be undone.
void CheckConnected(Links* links);
// Raises 08P01 unless a server's answer is one value.
void CheckAnswer(const Links* links, int server);
// That value; it stays until the next step.
std::string_view AnswerOf(const Links* links, int server);
// Ends all transactions, and keeps the connections for later calls of this session, as postgres_fdw does. After an error
// they are closed instead.
void KeepLinks(Links* links);

}  // namespace dpboost
