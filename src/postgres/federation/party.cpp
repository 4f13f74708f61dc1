// A party of a federation: what a coordinator calls here, step by step, in one transaction. Nothing that a coordinator says
// is believed: rights and budgets are those of the role that he acts as, keys those that this database's administrator has
// pinned, what the plan costs is computed here, and it is charged, whole, before the first answer. Each answer is given
// once. The session ends with its transaction.
#include "training/federation/rehearsal.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/short_locks.h"
#include "postgres/federation/party_session.h"
#include "postgres/train/json_reader.h"

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

Bytes BytesOf(const bytea* value) {
    return {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};
}

Bytes Argument(FunctionCallInfo fcinfo, int argument) {
    return BytesOf(PG_GETARG_BYTEA_PP(argument));
}

PartySession* current_session = nullptr;

void Forget(void* argument) {
    auto* session = static_cast<PartySession*>(argument);
    if (current_session == session)
        current_session = nullptr;
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

// The signed opening.
bytea* Open(PartySession* session, const Federation& federation, const Bytes& call, const Bytes& plan) {
    PartyCore& core = **session->core;
    CallCore([&] {
        PgInterrupt interrupt;
        const std::optional<SharedModel>& shared = core.call.shared;
        core.version = RehearsedOnce(call, [&] {
            return session->evaluation != nullptr
                       ? Rehearsed(DPBOOST_VERSION, **session->evaluation->core,
                                   Model::Parse(shared->content), interrupt)
                       : Rehearsed(DPBOOST_VERSION, **session->training->core,
                                   session->call.training.continued_model, interrupt);
        });
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
    if (!XactReadOnly) {  // no estimate: a charge follows, and this server has nothing to do while the coordinator plans
        WaitingWorker worker;
        StartOrKeep(GetUserId(), &worker);
    }
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
    ExpectCharge(session);  // starts, if it has not, while all sign and read their rows
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
    CheckUnchanged(session);
    const MemoryContext before = MemoryContextSwitchTo(session->context);
    TakeRows(session);
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
    if (session->evaluation != nullptr)
        PayEvaluation(session->evaluation, core.description.c_str(), &session->paid);
    else
        PayTraining(session->training, core.description.c_str(), &session->paid);
    MemoryContextSwitchTo(before);
    session->learner = CoreState<LearnerHolder>::Make(session->context);
    CallCore([&] {
        const SharedWork work = session->evaluation != nullptr ? WorkOf(**session->evaluation->core)
                                                               : WorkOf(**session->training->core);
        (*session->learner)->learner = std::make_unique<PartyLearner>(
            work, Cashier::Receipt(&session->paid), core.roster.numbers(), std::move(*core.session),
            std::move(own), [] { return InterruptPending != 0; });
        core.session.reset();
    });
    session->state = PartyState::kCharged;
    PG_RETURN_INT64(session->paid.release_id);
}

Datum dpboost_party_round(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "event");
    PartySession* session = SessionIn(PartyState::kCharged);
    LearnerHolder& holder = **session->learner;
    const int64 event = PG_GETARG_INT64(0);
    const Bytes total = PG_ARGISNULL(1) ? Bytes{"", 0} : Argument(fcinfo, 1);
    CallCore([&] { holder.learner->Begin(static_cast<uint64_t>(event), total); });
    for (;;) {  // a cancel ends the transaction, and with it the learner
        bool answered = false;
        CallCore([&] { answered = holder.learner->Advance(); });
        if (answered)
            break;
        CHECK_FOR_INTERRUPTS();
    }
    bool finished = false;
    CallCore([&] {
        const PartyAnswer answer = holder.learner->Take();
        finished = answer.finished;
        holder.answer = answer.Serialize();
    });
    StayOn(&session->paid);
    if (finished && session->training != nullptr)
        SettleParty(session->training, &session->paid);
    PG_RETURN_BYTEA_P(MakeBytea(holder.answer.data(), holder.answer.size()));
}
