// How links come to stand: where and as whom to connect, and all connections at once.
#pragma once

#include "postgres/federation/links.h"

namespace dpboost {

constexpr int kFirstServer = 2;  // in a set of events, behind the latch and the postmaster

// A set with the latch and the postmaster, and room for the servers, in place of the one that was there.
WaitEventSet* NewWaits(Links* links);
void ForgetWaits(Links* links);
// How many of `events` have happened within the time; listens to cancels.
constexpr int kMostEvents = 16;
int AwaitEvents(Links* links, long milliseconds, WaitEvent* events);

// Raises 08001 for what cannot be reached, within dpboost.federation_timeout.
void ConnectAll(Links* links, Oid caller);

// Keeps a connection, which ends its transaction, until this session ends; false if there are too many.
bool Keep(Links* links, int server);

[[noreturn]] void RaiseLost(const FederationParty& party, int sqlstate, const char* message,
                            const char* detail);

}  // namespace dpboost
