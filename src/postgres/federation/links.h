// Connections to the servers of a federation: a foreign server of postgres_fdw and a user mapping of the caller say where and
// as whom, as for a foreign table. A step goes to all servers at once and is over when all have answered.
#pragma once

#include "postgres/federation/federation.h"

#include "postgres/boundary/pg_links.h"

namespace dpboost {

// Closed with the memory context in which they were opened, whatever happens.
struct Links {
    int count;
    const FederationParty* parties;
    PGconn** connections;
    PGresult** results;   // of the last step, one for each server
    int descriptors;      // reserved
    WaitEventSet* waits;  // latch, postmaster and all servers; made for the first wait
    MemoryContextCallback close;
};

// A parameter of a step, in binary.
struct LinkValue {
    Oid type;
    const char* bytes;  // null: NULL
    int size;
};

// Connects to all parties, as `caller`. Raises 08001.
Links* OpenLinks(const Federation& federation, Oid caller);
// Sends a statement to all servers.
void SendToAll(Links* links, const char* statement, const LinkValue* values, int count);
// Sends it to one of them; each may get its own.
void SendTo(Links* links, int server, const char* statement, const LinkValue* values, int count);
// A statement that is sent often: prepared once at a server, under a name, then sent by it.
void PrepareAt(Links* links, int server, const char* name, const char* statement);
void SendPreparedTo(Links* links, int server, const char* name, const LinkValue* values, int count);
// Until all that were sent something have answered. Raises the first error that a server has answered with, as it was raised
// there, with its name; 08006 for a lost connection, and for no answer within dpboost.federation_timeout.
void AwaitAll(Links* links);
// The one value of a server's answer; it stays until the next step.
const char* AnswerOf(const Links* links, int server, int* size);
// Ends all transactions and closes the connections now.
void CloseLinks(Links* links);

}  // namespace dpboost
