// A party of a federation: what a coordinator calls here, step by step, in one transaction. Nothing that a coordinator says
// is believed: rights and budgets are those of the role that he acts as, keys those that this database's administrator has
// pinned, what the plan costs is computed here, and it is charged, whole, before the first answer. Each answer is given
// once. The session ends with its transaction.
#include "training/federation/learner_thread.h"
#include "training/federation/rehearsal.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/short_locks.h"
#include "postgres/federation/federation.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/named_call.h"

#include "postgres/boundary/pg_links.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_party_describe);
PG_FUNCTION_INFO_V1(dpboost_party_estimate);
PG_FUNCTION_INFO_V1(dpboost_party_open);
PG_FUNCTION_INFO_V1(dpboost_party_join);
PG_FUNCTION_INFO_V1(dpboost_party_charge);
PG_FUNCTION_INFO_V1(dpboost_party_round);
}

namespace dpboost {

namespace {

// Bytes that a call gave.
struct Bytes {
    const char* data;
    size_t size;

    operator std::string_view() const { return {data, size}; }
};

Bytes BytesOf(const bytea* value) {
    return {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};
}

Bytes Argument(FunctionCallInfo fcinfo, int argument) {
    return BytesOf(PG_GETARG_BYTEA_PP(argument));
}

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

// Made after the training, which it uses, and so freed before it: a memory context calls back in that order.
struct LearnerHolder {
    std::unique_ptr<LearnerThread> thread;
    std::string answer;
};

enum class PartyState { kOpened, kJoining, kJoined, kCharging, kCharged };

// Plain data in a memory context of its own below the transaction's.
struct PartySession {
    MemoryContext context;
    MemoryContextCallback forget;
    PartyState state;
    NamedCall call;
    FederatedTerms terms;
    Training* training;
    CoreState<PartyCore>* core;
    CoreState<LearnerHolder>* learner;
    WaitEventSet* waits;  // for the learner, made for the first round
    PaidRelease paid;
};

PartySession* current_session = nullptr;

void Forget(void* argument) {
    auto* session = static_cast<PartySession*>(argument);
    if (session->waits != nullptr)
        FreeWaitEventSet(session->waits);
    session->waits = nullptr;
    if (current_session == session)
        current_session = nullptr;
}

[[noreturn]] void RaiseOrder(const char* message) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message),
                    errhint("These functions are for the coordinator of a federation, who calls them in one "
                            "transaction.")));
    pg_unreachable();
}

PartySession* SessionIn(PartyState state) {
    if (current_session == nullptr)
        RaiseOrder("no federated training has begun in this transaction");
    if (current_session->state != state)
        RaiseOrder("this step of the federated training is out of order");
    return current_session;
}

// Where this database is a party.
const Federation* PartyIn(const char* name) {
    const Federation* federation = LoadFederation(name);
    if (federation->myself == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("this database is no party of federation \"%s\"", name)));
    if (!OidIsValid(federation->relid) || !OidIsValid(RelationOwner(federation->relid)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("the relation of federation \"%s\" does not exist any more", name)));
    return federation;
}

// ---- the call ----

ArrayType* NameArray(const char* const* names, int count) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (count + 1)));
    for (int i = 0; i < count; ++i) {
        auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
        namestrcpy(name, names[i]);
        values[i] = NameGetDatum(name);
    }
    return construct_array(values, count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

// A column that the core knows by name.
const char* FeatureName(const PartyCore& core, int feature) {
    return core.call.columns.features[feature].name.c_str();
}

// The announced call on this party's relation, in the current memory context.
void TakeCall(const Federation& federation, const PartyCore& core, bool estimate, NamedCall* call) {
    const int features = static_cast<int>(core.call.columns.features.size());
    auto** names = static_cast<const char**>(palloc(sizeof(char*) * (features + 1)));
    for (int i = 0; i < features; ++i)
        names[i] = FeatureName(core, i);
    call->model = estimate ? nullptr : core.call.model.c_str();
    call->relid = federation.relid;
    call->target = core.call.columns.target.name.c_str();
    call->features = NameArray(names, features);
    call->training.privacy.given = true;
    call->training.privacy.epsilon = core.call.epsilon;
    call->training.privacy.delta = core.call.delta;
    call->training.options = DatumGetJsonbP(JsonTextToDatum(core.call.options.c_str()));
    call->training.caller = GetUserId();
    PrepareCall(call);
}

// Everything up to the training that can take rows.
void BeginSession(PartySession* session, const Federation& federation, const Bytes& call, const Bytes& plan,
                  bool estimate) {
    session->core = CoreState<PartyCore>::Make(session->context, federation, call);
    PartyCore& core = **session->core;
    session->terms.columns = &core.call.columns;
    session->terms.parties = core.roster.numbers();
    session->terms.plan_bytes = static_cast<const char*>(memcpy(palloc(plan.size + 1), plan.data, plan.size));
    session->terms.plan_size = plan.size;
    session->call.training.federated = &session->terms;
    TakeCall(federation, core, estimate, &session->call);
    session->training = BeginTraining(session->call.training);
    CallCore([&] { CheckEncodings(core.call, (*session->training->core)->features()); });
    CheckReading(session->call.reading);
}

PartySession* NewSession(MemoryContext parent) {
    const MemoryContext context = AllocSetContextCreate(parent, "dpboost party", ALLOCSET_DEFAULT_SIZES);
    auto* session = static_cast<PartySession*>(MemoryContextAllocZero(context, sizeof(PartySession)));
    session->context = context;
    return session;
}

// The signed opening.
bytea* Open(PartySession* session, const Federation& federation, const Bytes& call, const Bytes& plan) {
    PartyCore& core = **session->core;
    CallCore([&] {
        PgInterrupt interrupt;
        core.version = Rehearsed(DPBOOST_VERSION, **session->training->core, interrupt);
    });
    Hash seed, ephemeral, nonce;
    LoadPartySeed(&seed);
    if (!pg_strong_random(ephemeral.data(), ephemeral.size()) ||
        !pg_strong_random(nonce.data(), nonce.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] {
        const SigningKey key{Secret(seed)};
        core.handshake.emplace(core.roster, federation.myself, key,
                               Agreement(core.version, core.roster, call, plan), Secret(ephemeral), nonce);
    });
    explicit_bzero(seed.data(), seed.size());
    explicit_bzero(ephemeral.data(), ephemeral.size());
    return MakeBytea(core.handshake->opening().data(), core.handshake->opening().size());
}

// Between two statements a transaction may change its own tables: rows are read as what they were when it opened.
void CheckUnchanged(const NamedCall& call) {
    const TrainingCall& training = call.training;
    bool same = get_atttype(call.relid, training.target.attnum) == training.target.type;
    for (int i = 0; i < training.features.count; ++i) {
        const SourceColumn& column = training.features.columns[i];
        same = same && get_atttype(call.relid, column.attnum) == column.type;
    }
    if (training.unit != nullptr)
        same = same && get_atttype(call.relid, get_attnum(call.relid, training.unit)) == training.unit_type;
    if (!same)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the relation of a federated training has changed since it was opened")));
}

// ---- rounds ----

// Until the learner has something to say; a cancel ends the transaction, and with it the learner.
void AwaitLearner(PartySession* session, LearnerThread& thread) {
    if (session->waits == nullptr) {
        const MemoryContext before = MemoryContextSwitchTo(session->context);
        session->waits = MakeWaitEventSet(3);
        MemoryContextSwitchTo(before);
        AddWaitEventToSet(session->waits, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, nullptr);
        AddWaitEventToSet(session->waits, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, nullptr, nullptr);
        AddWaitEventToSet(session->waits, WL_SOCKET_READABLE, thread.ready_fd(), nullptr, nullptr);
    }
    while (!thread.Ready()) {
        WaitEvent event;
        const int happened = WaitEventSetWait(session->waits, 1000, &event, 1, PG_WAIT_EXTENSION);
        if (happened > 0 && (event.events & WL_LATCH_SET))
            ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_party_describe(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"federation", "target"});
    const Federation* federation = PartyIn(NameStr(*PG_GETARG_NAME(0)));
    NamedCall call;
    memset(static_cast<void*>(&call), 0, sizeof call);
    call.relid = federation->relid;
    call.target = pstrdup(NameStr(*PG_GETARG_NAME(1)));
    call.features = PG_ARGISNULL(2) ? nullptr : PG_GETARG_ARRAYTYPE_P(2);
    call.training.options = DatumGetJsonbP(JsonTextToDatum("{}"));
    call.training.caller = GetUserId();
    PrepareCall(&call);
    const TrainingCall& training = call.training;
    auto* domains = static_cast<ColumnDomain*>(palloc0(sizeof(ColumnDomain) * (training.features.count + 1)));
    ColumnDomain target;
    LoadDomain(training.target, &target);
    for (int i = 0; i < training.features.count; ++i)
        LoadDomain(training.features.columns[i], &domains[i]);
    bytea* result = nullptr;
    CallCore([&] {
        PartyColumns columns;
        columns.target = ToPublic(training.target, target);
        for (int i = 0; i < training.features.count; ++i)
            columns.features.push_back(ToPublic(training.features.columns[i], domains[i]));
        const std::string bytes = columns.Serialize();
        CallPostgres([&]() noexcept { result = MakeBytea(bytes.data(), bytes.size()); });
    });
    PG_RETURN_BYTEA_P(result);
}

Datum dpboost_party_estimate(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"federation", "call", "plan"});
    ShortLocks locks;
    ShortLocksBegin(&locks);
    const Federation* federation = PartyIn(NameStr(*PG_GETARG_NAME(0)));
    PartySession* session = NewSession(CurrentMemoryContext);
    const MemoryContext before = MemoryContextSwitchTo(session->context);
    BeginSession(session, *federation, Argument(fcinfo, 1), Argument(fcinfo, 2), true);
    MemoryContextSwitchTo(before);
    const Datum result = DescribeEstimate(session->training);
    ShortLocksEnd(&locks);
    PG_RETURN_DATUM(result);
}

Datum dpboost_party_open(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"federation", "call", "plan"});
    if (current_session != nullptr)
        RaiseOrder("a federated training has begun in this transaction already");
    if (GetCurrentTransactionNestLevel() > 1)  // whose end would give up the lock on the relation
        RaiseOrder("a federated training cannot begin in a subtransaction");
    PartySession* session = NewSession(TopTransactionContext);
    const MemoryContext before = MemoryContextSwitchTo(session->context);
    const Federation* federation = PartyIn(NameStr(*PG_GETARG_NAME(0)));
    const Bytes call = Argument(fcinfo, 1), plan = Argument(fcinfo, 2);
    BeginSession(session, *federation, call, plan, false);
    bytea* opening = Open(session, *federation, call, plan);
    session->state = PartyState::kOpened;
    session->forget.func = Forget;
    session->forget.arg = session;
    MemoryContextRegisterResetCallback(session->context, &session->forget);
    current_session = session;
    MemoryContextSwitchTo(before);
    PG_RETURN_BYTEA_P(opening);
}

Datum dpboost_party_join(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "openings");
    PartySession* session = SessionIn(PartyState::kOpened);
    session->state = PartyState::kJoining;  // one try
    Datum* values;
    bool* nulls;
    int count;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), BYTEAOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
    auto* openings = static_cast<Bytes*>(palloc0(sizeof(Bytes) * (count + 1)));
    for (int i = 0; i < count; ++i)
        if (!nulls[i])
            openings[i] = BytesOf(DatumGetByteaPP(values[i]));
    PartyCore& core = **session->core;
    CallCore([&] {
        std::vector<std::string> all;
        for (int i = 0; i < count; ++i)
            all.emplace_back(std::string_view(openings[i]));
        core.session.emplace(core.handshake->Join(all));
    });
    CheckUnchanged(session->call);
    const MemoryContext before = MemoryContextSwitchTo(session->context);
    ReadRows(session->training, session->call.reading);
    FinishRows(session->training);
    MemoryContextSwitchTo(before);
    session->state = PartyState::kJoined;
    PG_RETURN_VOID();
}

Datum dpboost_party_charge(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PartySession* session = SessionIn(PartyState::kJoined);
    session->state = PartyState::kCharging;  // whatever becomes of it, there is no second charge
    PartyCore& core = **session->core;
    ChaChaSource::Seed own;
    if (!pg_strong_random(own.data(), own.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] { core.description = DescribeSession(core.roster, core.session->session); });
    const MemoryContext before = MemoryContextSwitchTo(session->context);
    PayTraining(session->training, core.description.c_str(), &session->paid);
    MemoryContextSwitchTo(before);
    session->learner = CoreState<LearnerHolder>::Make(session->context);
    CallCore([&] {
        (*session->learner)->thread =
            std::make_unique<LearnerThread>(**session->training->core, Cashier::Receipt(&session->paid),
                                            core.roster.numbers(), std::move(*core.session), std::move(own));
        core.session.reset();
    });
    session->state = PartyState::kCharged;
    PG_RETURN_INT64(session->paid.release_id);
}

Datum dpboost_party_round(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "event");
    PartySession* session = SessionIn(PartyState::kCharged);
    LearnerHolder& learner = **session->learner;
    const int64 event = PG_GETARG_INT64(0);
    const Bytes total = PG_ARGISNULL(1) ? Bytes{"", 0} : Argument(fcinfo, 1);
    CallCore([&] { learner.thread->Begin(static_cast<uint64_t>(event), total); });
    AwaitLearner(session, *learner.thread);
    bool finished = false;
    CallCore([&] {
        const PartyAnswer answer = learner.thread->Take();
        finished = answer.finished;
        learner.answer = answer.Serialize();
    });
    if (finished)
        SettleParty(session->training, &session->paid);
    PG_RETURN_BYTEA_P(MakeBytea(learner.answer.data(), learner.answer.size()));
}
