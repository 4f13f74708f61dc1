// Federations as the catalog has them: who trains together, and what this server brings or whom it reaches.
#pragma once

#include "mechanism/parties/handshake.h"

#include "postgres/boundary/boundary.h"

namespace dpboost {

struct FederationParty {
    const char* name;
    const char* key;     // "dpbk1:..."
    const char* server;  // foreign server by which it is reached; null: none
};

// Plain data, in the memory context that was current when it was loaded.
struct Federation {
    const char* name;
    int count;
    FederationParty* parties;  // by name
    int max_colluding;
    int parties_per_unit;
    const char* myself;  // null: this database is no party
    Oid relid;           // what it trains on; 0 if it was dropped
};

// Raises 42704 if there is none.
Federation* LoadFederation(const char* name);

// Core side: may throw.
Roster RosterOf(const Federation& federation);

// The seed of this database's key, which the caller wipes. Raises 55000 if there is none.
void LoadPartySeed(Hash* seed);

// As text, for the ledger; `session` is of 32 bytes. Core side.
std::string DescribeSession(const Roster& roster, const Hash& session);

// Values of functions.
bytea* MakeBytea(const char* bytes, size_t size);

ArrayType* NameArray(const char* const* names, int count);

// dpboost.federation_timeout: how many milliseconds a step of a federated training may take.
int FederationTimeout();
void DefineFederationSettings();

}  // namespace dpboost
