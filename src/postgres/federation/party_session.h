// A party's session, from the call that a coordinator announces to the rows that it takes: a training, an update or an
// evaluation, with the steps that these have in common.
#pragma once

#include "training/federation/party_learner.h"

#include "postgres/evaluate/evaluation.h"
#include "postgres/federation/federation.h"
#include "postgres/train/named_call.h"

namespace dpboost {

// Bytes that a call gave.
struct Bytes {
    const char* data;
    size_t size;

    operator std::string_view() const { return {data, size}; }
};

// The core's half of a session.
struct PartyCore {
    PartyCore(const Federation& federation, const Bytes& call_bytes)
        : roster(RosterOf(federation)), call(FederatedCall::Parse(call_bytes)) {}

    Roster roster;
    FederatedCall call;
    std::optional<Handshake> handshake;
    std::optional<Session> session;
    std::string version;  // with what a rehearsal computes here
    std::string description;
};

// Made after the training or the evaluation, which it uses, and so freed before it: a memory context calls back in that
// order.
struct LearnerHolder {
    std::unique_ptr<PartyLearner> learner;
    std::string answer;
};

enum class PartyState { kOpened, kJoining, kJoined, kCharging, kCharged };

// Plain data in a memory context of its own below the transaction's.
struct PartySession {
    MemoryContext context;
    MemoryContextCallback forget;
    PartyState state;
    FederatedTerms terms;
    NamedCall call;  // of a training or an update
    Training* training;
    EvaluationCall evaluation_call;  // of an evaluation
    RunningEvaluation* evaluation;   // else null
    CoreState<PartyCore>* core;
    CoreState<LearnerHolder>* learner;
    PaidRelease paid;
};

[[noreturn]] void RaiseOrder(const char* message);

// A session without anything, in a memory context of its own.
PartySession* NewSession(MemoryContext parent);
// Everything up to what can take rows: the call is one that this server understands, and its caller may make it.
void BeginSession(PartySession* session, const Federation& federation, const Bytes& call, const Bytes& plan,
                  bool estimate);
// Raises 55000 if the relation's columns are no longer what they were.
void CheckUnchanged(const PartySession* session);
// Has the worker of the charge start, which is asked for in a later statement of this transaction, or wait on.
void ExpectCharge(PartySession* session);
// Reads all rows.
void TakeRows(PartySession* session);

}  // namespace dpboost
