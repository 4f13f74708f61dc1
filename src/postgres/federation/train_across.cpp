// dpboost_train_across and dpboost_estimate_across: the coordinator of a training on several servers. It has no rows and
// need not be trusted by the parties: it carries what they sign and adds up what they mask. Order of a training: describe,
// plan, open, join; then its own ledger row; then the charge at every party; then one step per event; then the model.
#include "training/federation/coordinator.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/settings.h"
#include "postgres/federation/links.h"
#include "postgres/ledger/ledger.h"
#include "postgres/predict/model_cache.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/progress.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_train_across);
PG_FUNCTION_INFO_V1(dpboost_estimate_across);
}

namespace dpboost {

namespace {

// The arguments of a call, and what follows from them. Plain data.
struct AcrossCall {
    Oid caller;
    const char* model;  // null for an estimate
    NewModelName name;
    const Federation* federation;
    const char* target;
    ArrayType* features;  // null: all that can be
    Jsonb* options;
    PrivacyArguments privacy;
    Links* links;
    CoreState<Coordinator>* core;
};

// The coordinator, from plain data.
struct CoordinatorParts {
    const Federation& federation;
    operator Roster() const { return RosterOf(federation); }
};

// Arguments from `first` on: federation, target, epsilon, delta, features, options.
AcrossCall* ReadArguments(FunctionCallInfo fcinfo, int first) {
    static const char* const kNames[] = {"federation", "target", "epsilon"};
    for (int i = 0; i < 3; ++i)
        RequireArgument(fcinfo, first + i, kNames[i]);
    RequireArgument(fcinfo, first + 5, "options");
    auto* call = static_cast<AcrossCall*>(palloc0(sizeof(AcrossCall)));
    call->caller = GetUserId();
    call->federation = LoadFederation(NameStr(*PG_GETARG_NAME(first)));
    call->target = NameStr(*PG_GETARG_NAME(first + 1));
    call->privacy.given = true;
    call->privacy.epsilon = PG_GETARG_FLOAT8(first + 2);
    if (!PG_ARGISNULL(first + 3))
        call->privacy.delta = PG_GETARG_FLOAT8(first + 3);
    call->features = PG_ARGISNULL(first + 4) ? nullptr : PG_GETARG_ARRAYTYPE_P(first + 4);
    call->options = PG_GETARG_JSONB_P(first + 5);
    return call;
}

LinkValue Bytes(const std::string& bytes) {
    return {BYTEAOID, bytes.data(), static_cast<int>(bytes.size())};
}

LinkValue Text(const char* text) {
    return {TEXTOID, text, static_cast<int>(strlen(text))};
}

// ---- steps ----

// One transaction at each party, which nothing but its end or the loss of this connection ends.
void Begin(AcrossCall* call) {
    static const char* const kStatements[] = {"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE",
                                              "SET LOCAL statement_timeout = 0",
                                              "SET LOCAL idle_in_transaction_session_timeout = 0",
                                              "SET LOCAL client_connection_check_interval = '500ms'"};
    for (const char* statement : kStatements) {
        SendToAll(call->links, statement, nullptr, 0);
        AwaitAll(call->links);
    }
}

// Calls one of the party functions at all parties.
void CallParties(AcrossCall* call, const char* function, const LinkValue* values, int count) {
    SendToAll(call->links, psprintf("SELECT dpboost_party.%s", function), values, count);
    AwaitAll(call->links);
}

// Core side: what all parties answered.
std::vector<std::string> Answers(const AcrossCall& call) {
    std::vector<std::string> answers;
    for (int i = 0; i < call.links->count; ++i) {
        const char* bytes = nullptr;
        int size = 0;
        CallPostgres([&]() noexcept { bytes = AnswerOf(call.links, i, &size); });
        answers.emplace_back(bytes, size);
    }
    return answers;
}

const char* FeatureText(ArrayType* features) {
    Oid output;
    bool is_variable;
    getTypeOutputInfo(NAMEARRAYOID, &output, &is_variable);
    return OidOutputFunctionCall(output, PointerGetDatum(features));
}

// From the parties' columns to the plan.
void PlanAcross(AcrossCall* call) {
    const LinkValue described[] = {
        Text(call->federation->name), Text(call->target),
        call->features == nullptr ? LinkValue{TEXTOID, nullptr, 0} : Text(FeatureText(call->features))};
    CallParties(call,
                "describe($1::pg_catalog.name, $2::pg_catalog.name, $3::pg_catalog.name[])",
                described, 3);
    JsonValue* options = ReadJson(call->options);
    const char* options_text =
        JsonbToCString(nullptr, &call->options->root, static_cast<int>(VARSIZE(call->options)));
    const size_t memory = MaxMemoryBytes();
    const int threads = TrainingThreads();
    const char* name = call->model == nullptr ? "estimate" : call->name.name;
    CallCore([&] {
        (*call->core)->Plan(Answers(*call), name, options_text, options, call->privacy, memory, threads);
    });
}

void OpenAndJoin(AcrossCall* call) {
    Coordinator& core = **call->core;
    const LinkValue opened[] = {Text(call->federation->name), Bytes(core.call_bytes()),
                                Bytes(core.plan_bytes())};
    CallParties(call, "open($1::pg_catalog.name, $2, $3)", opened, 3);
    CallCore([&] {
        PgInterrupt interrupt;
        core.Follow(Answers(*call), interrupt);
    });
    auto* openings = static_cast<Datum*>(palloc(sizeof(Datum) * (call->links->count + 1)));
    for (int i = 0; i < call->links->count; ++i) {
        int size;
        const char* bytes = AnswerOf(call->links, i, &size);
        openings[i] = PointerGetDatum(MakeBytea(bytes, size));
    }
    ArrayType* all = construct_array(openings, call->links->count, BYTEAOID, -1, false, TYPALIGN_INT);
    Oid output;
    bool is_variable;
    getTypeOutputInfo(BYTEAARRAYOID, &output, &is_variable);
    const LinkValue joined[] = {Text(OidOutputFunctionCall(output, PointerGetDatum(all)))};
    CallParties(call, "join($1::pg_catalog.bytea[])", joined, 1);
}

// The row of the coordinator's own ledger, which reads no table and is charged to nobody.
void PayAcross(const AcrossCall* call, const char* federation, PaidRelease* paid) {
    const TrainingCore& training = (*call->core)->training();
    auto* none = static_cast<RelationSet*>(palloc0(sizeof(RelationSet) + sizeof(ReadRelation)));
    ChargeRequest request;
    memset(static_cast<void*>(&request), 0, sizeof request);
    request.caller = call->caller;
    request.right = TrainRight::kSelect;
    request.kind = ReleaseKind::kTraining;
    request.model_name = call->model;
    request.method = training.options().method->name;
    request.task = training.task_name();
    request.plan_bytes = training.plan_bytes().data();
    request.plan_size = training.plan_bytes().size();
    request.noise_multiplier = training.noise_multiplier();
    request.relations = none;
    request.federation = federation;
    CommitCharge(&request, paid);
}

// ---- the exchange ----

// One event is one step at all parties; the next step carries the last total.
class LinkedExchange final : public SumExchange {
  public:
    explicit LinkedExchange(AcrossCall& call) : call_(call) {}

    void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override {
        Step();
        *sums = AddAnswers((*call_.core)->roster(), witness, sums->size(), Answers(call_));
        total_ = SumBytes(*sums);
    }

    void Finish() {
        Step();
        CheckSameModel((*call_.core)->roster(), (*call_.core)->model_hash(), Answers(call_));
    }

  private:
    static constexpr char kRound[] = "dpboost_round";

    void PrepareRounds() {
        for (int i = 0; i < call_.links->count; ++i)
            PrepareAt(call_.links, i, kRound, "SELECT dpboost_party.round($1, $2)");
        AwaitAll(call_.links);
    }

    void Step() {
        ++event_;
        const int64 event = static_cast<int64>(event_);
        CallPostgres([&]() noexcept {
            const int64 network = static_cast<int64>(pg_hton64(event));
            const LinkValue values[] = {{INT8OID, reinterpret_cast<const char*>(&network), sizeof network},
                                        event == 1 ? LinkValue{BYTEAOID, nullptr, 0} : Bytes(total_)};
            if (event == 1)
                PrepareRounds();
            for (int i = 0; i < call_.links->count; ++i)
                SendPreparedTo(call_.links, i, kRound, values, 2);
            AwaitAll(call_.links);
        });
    }

    AcrossCall& call_;
    uint64_t event_ = 0;
    std::string total_;
};

void TrainTogether(AcrossCall* call, PaidRelease* paid) {
    ChaChaSource::Seed own;
    if (!pg_strong_random(own.data(), own.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] {
        PgInterrupt interrupt;
        PgProgress progress(InvalidOid);
        LinkedExchange exchange(*call);
        (*call->core)->Train(Cashier::Receipt(paid), exchange, std::move(own), interrupt, progress);
        exchange.Finish();
        progress.Finish();
    });
}

void Deliver(const AcrossCall* call, PaidRelease* paid) {
    const TrainingCore& training = (*call->core)->training();
    ModelDelivery delivery;
    memset(static_cast<void*>(&delivery), 0, sizeof delivery);
    delivery.options = training.options().text.c_str();
    delivery.features = training.features_json().c_str();
    delivery.target = call->target;
    delivery.positive = training.target().by_number ? nullptr : training.target().positive.c_str();
    delivery.deploy = training.options().deploy;
    delivery.model_bytes = training.model_bytes().data();
    delivery.model_size = training.model_bytes().size();
    delivery.evaluation = "";
    DeliverModel(paid, &delivery);
    ModelsChanged();
}

// The result with one more key.
Datum WithKey(Datum result, const char* key, const char* value) {
    const Datum more = JsonTextToDatum(psprintf("{\"%s\": %s}", key, value));
    return DirectFunctionCall2(jsonb_concat, result, more);
}

const char* PartyNames(const AcrossCall* call) {
    StringInfoData names;
    initStringInfo(&names);
    for (int i = 0; i < call->federation->count; ++i) {
        appendStringInfoString(&names, i == 0 ? "[" : ", ");
        escape_json(&names, call->federation->parties[i].name);
    }
    appendStringInfoChar(&names, ']');
    return names.data;
}

Datum DescribeAcross(const AcrossCall* call, const PaidRelease* paid) {
    TrainingResult result;
    memset(static_cast<void*>(&result), 0, sizeof result);
    if (paid != nullptr)
        result = {call->name.name, call->name.owner_name, paid->version, paid->release_id, nullptr, 0};
    const char* text = nullptr;
    CallCore([&] { text = (*call->core)->training().Describe(result).c_str(); });
    return JsonTextToDatum(text);
}

void Connect(AcrossCall* call) {
    call->core = CoreState<Coordinator>::Make(CurrentMemoryContext, CoordinatorParts{*call->federation},
                                              DPBOOST_VERSION);
    call->links = OpenLinks(*call->federation, call->caller);
    Begin(call);
    PlanAcross(call);
}

}  // namespace

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_train_across(PG_FUNCTION_ARGS) {
    RequireArgument(fcinfo, 0, "model");
    AcrossCall* call = ReadArguments(fcinfo, 1);
    call->model = text_to_cstring(PG_GETARG_TEXT_PP(0));
    CheckCanRelease(call->caller, call->model, &call->name);
    Connect(call);
    OpenAndJoin(call);
    const char* federation = nullptr;
    CallCore([&] {
        const std::string described = DescribeSession((*call->core)->roster(), (*call->core)->session());
        CallPostgres([&]() noexcept { federation = pstrdup(described.c_str()); });
    });
    PaidRelease paid;
    PayAcross(call, federation, &paid);
    CallParties(call, "charge()", nullptr, 0);
    TrainTogether(call, &paid);
    CloseLinks(call->links);
    Deliver(call, &paid);
    const Datum result = WithKey(DescribeAcross(call, &paid), "parties", PartyNames(call));
    call->core->Release();
    PG_RETURN_DATUM(result);
}

Datum dpboost_estimate_across(PG_FUNCTION_ARGS) {
    AcrossCall* call = ReadArguments(fcinfo, 0);
    Connect(call);
    Coordinator& core = **call->core;
    const LinkValue values[] = {Text(call->federation->name), Bytes(core.call_bytes()),
                                Bytes(core.plan_bytes())};
    CallParties(call, "estimate($1::pg_catalog.name, $2, $3)::text", values, 3);
    StringInfoData parties;
    initStringInfo(&parties);
    for (int i = 0; i < call->federation->count; ++i) {
        int size;
        const char* estimate = AnswerOf(call->links, i, &size);
        appendStringInfoString(&parties, i == 0 ? "{" : ", ");
        escape_json(&parties, call->federation->parties[i].name);
        appendStringInfoString(&parties, ": ");
        appendBinaryStringInfo(&parties, estimate, size);
    }
    appendStringInfoChar(&parties, '}');
    CloseLinks(call->links);
    PG_RETURN_DATUM(WithKey(DescribeAcross(call, nullptr), "parties", parties.data));
}
