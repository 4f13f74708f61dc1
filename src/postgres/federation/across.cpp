#include "postgres/federation/across.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/settings.h"
#include "postgres/train/json_reader.h"
#include "postgres/train/named_call.h"
#include "postgres/train/progress.h"

namespace dpboost {

namespace {

// The coordinator, from plain data.
struct CoordinatorParts {
    const Federation& federation;
    operator Roster() const { return RosterOf(federation); }
};

// One transaction at each party, which nothing but its end or the loss of this connection ends; and the statement of rounds,
// which are many. One trip. An estimate only reads.
constexpr char kBegin[] =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ %s;"
    "SET LOCAL statement_timeout = 0;"
    "SET LOCAL idle_in_transaction_session_timeout = 0;"
    "SET LOCAL client_connection_check_interval = '500ms';"
    "SET LOCAL plan_cache_mode = force_generic_plan;"
    "DEALLOCATE ALL;"
    "PREPARE dpboost_round (pg_catalog.int8, pg_catalog.bytea) AS SELECT dpboost_party.round($1, $2)";
constexpr char kRound[] = "dpboost_round";

const char* ArrayText(Oid array_type, ArrayType* array) {
    Oid output;
    bool is_variable;
    getTypeOutputInfo(array_type, &output, &is_variable);
    return OidOutputFunctionCall(output, PointerGetDatum(array));
}

// Core side: what all parties answered.
std::vector<std::string> Answers(const AcrossCall& call) {
    std::vector<std::string> answers;
    CallPostgres([&]() noexcept {
        for (int i = 0; i < call.links->count; ++i)
            CheckAnswer(call.links, i);
    });
    for (int i = 0; i < call.links->count; ++i)
        answers.emplace_back(AnswerOf(call.links, i));
    return answers;
}

bool IsAmong(ArrayType* names, const char* name) {
    Datum* values;
    bool* nulls;
    int count;
    deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &values, &nulls, &count);
    for (int i = 0; i < count; ++i)
        if (!nulls[i] && strcmp(NameStr(*DatumGetName(values[i])), name) == 0)
            return true;
    return false;
}

// The column of the option "weight" is described like a feature, whichever features are named.
void AddWeight(AcrossCall* call, const JsonValue* options) {
    const JsonValue* weight = options->Find("weight");
    if (call->features == nullptr || weight == nullptr || weight->kind != JsonValue::kString ||
        strlen(weight->text) >= NAMEDATALEN || IsAmong(call->features, weight->text))
        return;
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, weight->text);
    bool is_null = false;
    int index = ArrayGetNItems(ARR_NDIM(call->features), ARR_DIMS(call->features)) + 1;
    if (index == 1)
        return;
    call->features =
        DatumGetArrayTypeP(array_set_element(PointerGetDatum(call->features), 1, &index, NameGetDatum(name),
                                             is_null, -1, NAMEDATALEN, false, TYPALIGN_CHAR));
}

// What the call asks for, as the core takes it.
struct PlainCall {
    const AcrossCall& call;
    const JsonValue* options;
    const char* options_text;
    size_t memory;
    int threads;

    operator CoordinatedCall() const {
        CoordinatedCall called;
        called.kind = call.kind;
        called.model = call.model == nullptr ? "estimate" : call.ledger_name;
        called.options_text = options_text;
        called.options = options;
        called.privacy = call.privacy;
        called.memory = memory;
        called.threads = threads;
        if (call.shared != nullptr) {
            const CatalogModel& shared = *call.shared;
            called.shared.emplace();
            called.shared->content.assign(shared.content, shared.content_size);
            called.shared->version = static_cast<uint32_t>(shared.released.version);
            called.shared->method = shared.method;
            called.shared->options = JsonText(*shared.options);
            if (shared.positive != nullptr)
                called.shared->positive = shared.positive;
            called.shared_options = shared.options;
        }
        return called;
    }
};

// ---- the steps ----

void Open(AcrossCall* call) {
    Coordinator& core = **call->core;
    const LinkValue opened[] = {TextValue(call->federation->name), BytesValue(core.call_bytes()),
                                BytesValue(core.plan_bytes())};
    SendToAll(call->links, "SELECT dpboost_party.open($1::pg_catalog.name, $2, $3)", opened, 3);
    CallCore([&] {  // while the parties do the same
        PgInterrupt interrupt;
        core.Rehearse(interrupt);
    });
    StartOrKeep(call->caller, &call->worker);  // now that nobody waits for this server's plan
    AwaitAll(call->links);
    CallCore([&] { core.Follow(Answers(*call)); });
}

// The row of the coordinator's own ledger, which reads no table and is charged to nobody.
void PayAcross(AcrossCall* call, const char* method, const char* federation, PaidRelease* paid) {
    auto* none = static_cast<RelationSet*>(palloc0(sizeof(RelationSet) + sizeof(ReadRelation)));
    ChargeRequest request;
    memset(static_cast<void*>(&request), 0, sizeof request);
    request.caller = call->caller;
    request.right = TrainRight::kSelect;
    request.model_name = call->model;
    request.method = method;
    request.relations = none;
    request.federation = federation;
    request.delivery_follows = true;
    request.waiting = &call->worker;
    Coordinator& core = **call->core;
    request.plan_bytes = core.plan_bytes().data();
    request.plan_size = core.plan_bytes().size();
    if (call->kind == FederatedKind::kEvaluation) {
        request.kind = ReleaseKind::kEvaluation;
        request.model = call->shared->released;
        request.task = core.evaluation().task_name();
        request.noise_multiplier = core.evaluation().noise_multiplier();
    } else {
        request.kind = ReleaseKind::kTraining;
        request.task = core.training().task_name();
        request.noise_multiplier = core.training().noise_multiplier();
    }
    CommitCharge(&request, paid);
}

// All read their rows, and meanwhile this server writes its own row of the release. If a party cannot join, that row stays
// without a model and has cost nobody anything.
void JoinAndPay(AcrossCall* call, const char* method, PaidRelease* paid) {
    auto* openings = static_cast<Datum*>(palloc(sizeof(Datum) * (call->links->count + 1)));
    for (int i = 0; i < call->links->count; ++i) {
        const std::string_view opening = AnswerOf(call->links, i);
        openings[i] = PointerGetDatum(MakeBytea(opening.data(), opening.size()));
    }
    ArrayType* all = construct_array(openings, call->links->count, BYTEAOID, -1, false, TYPALIGN_INT);
    const LinkValue joined[] = {TextValue(ArrayText(BYTEAARRAYOID, all))};
    SendToAll(call->links, "SELECT dpboost_party.join($1::pg_catalog.bytea[])", joined, 1);
    const char* federation = nullptr;
    CallCore([&] {
        const std::string described = DescribeSession((*call->core)->roster(), (*call->core)->session());
        CallPostgres([&]() noexcept { federation = pstrdup(described.c_str()); });
    });
    PayAcross(call, method, federation, paid);
    AwaitAll(call->links);
}

// One event is one step at all parties; the next step carries the last total. It is sent as soon as the total is there, so
// that the parties' learners and this server's work on it at the same time. Nothing else is asked of a party, and in no
// other order: answers are checked against this server's own question before they are added up, and what each party gets is
// the total that all of them have made. That there is another event, or the end, is for the parties to say and for this
// server to compare. Should this server's learner fail meanwhile, one more answer was given, to a question that was paid for.
class LinkedExchange final : public SumExchange {
  public:
    LinkedExchange(AcrossCall& call, const PaidRelease* paid) : call_(call), paid_(paid) {}

    void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override {
        *sums = AddAnswers((*call_.core)->roster(), witness, sums->size(), NextAnswers());
        Ask(SumBytes(*sums));
    }

    void Finish() { CheckSameResult((*call_.core)->roster(), (*call_.core)->result_hash(), NextAnswers()); }

  private:
    void Ask(const std::string& total) {
        const int64 event = static_cast<int64>(++asked_);
        CallPostgres([&]() noexcept {
            const int64 network = static_cast<int64>(pg_hton64(event));
            const LinkValue values[] = {{INT8OID, reinterpret_cast<const char*>(&network), sizeof network},
                                        event == 1 ? LinkValue{BYTEAOID, nullptr, 0} : BytesValue(total)};
            SendPreparedToAll(call_.links, kRound, values, 2);
            StayOn(paid_);
        });
    }

    std::vector<std::string> NextAnswers() {
        if (asked_ == 0)
            Ask({});
        CallPostgres([&]() noexcept { AwaitAll(call_.links); });
        return Answers(call_);
    }

    AcrossCall& call_;
    const PaidRelease* paid_;
    uint64_t asked_ = 0;
};

void WorkTogether(AcrossCall* call, PaidRelease* paid) {
    ChaChaSource::Seed own;
    if (!pg_strong_random(own.data(), own.size()))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    CallCore([&] {
        PgInterrupt interrupt;
        PgProgress progress(InvalidOid);
        LinkedExchange exchange(*call, paid);
        (*call->core)->Work(Cashier::Receipt(paid), exchange, std::move(own), interrupt, progress);
        exchange.Finish();
        progress.Finish();
    });
}

}  // namespace

LinkValue TextValue(const char* text) {
    return {TEXTOID, text, static_cast<int>(strlen(text))};
}

LinkValue BytesValue(const std::string& bytes) {
    return {BYTEAOID, bytes.data(), static_cast<int>(bytes.size())};
}

AcrossCall* NewAcrossCall(FunctionCallInfo fcinfo, int federation, int epsilon, int options) {
    RequireArgument(fcinfo, federation, "federation");
    RequireArgument(fcinfo, epsilon, "epsilon");
    RequireArgument(fcinfo, options, "options");
    auto* call = static_cast<AcrossCall*>(palloc0(sizeof(AcrossCall)));
    call->caller = GetUserId();
    call->federation = LoadFederation(NameStr(*PG_GETARG_NAME(federation)));
    call->privacy.given = true;
    call->privacy.epsilon = PG_GETARG_FLOAT8(epsilon);
    if (!PG_ARGISNULL(epsilon + 1))
        call->privacy.delta = PG_GETARG_FLOAT8(epsilon + 1);
    call->options = PG_GETARG_JSONB_P(options);
    return call;
}

ArrayType* FeaturesOfModel(const CatalogModel* model) {
    const ModelBytes bytes{model->content, model->content_size};
    const Model& parsed = **CoreState<Model>::Make(CurrentMemoryContext, bytes);
    const int count = static_cast<int>(parsed.features().size());
    auto** names = static_cast<const char**>(palloc(sizeof(char*) * (count + 1)));
    for (int i = 0; i < count; ++i)
        names[i] = parsed.features()[i].name().c_str();
    return NameArray(names, count);
}

void CallParties(AcrossCall* call, const char* function, const LinkValue* values, int count) {
    SendToAll(call->links, psprintf("SELECT dpboost_party.%s", function), values, count);
    AwaitAll(call->links);
}

void PlanAcross(AcrossCall* call) {
    JsonValue* options = ReadJson(call->options);
    AddWeight(call, options);
    call->core = CoreState<Coordinator>::Make(CurrentMemoryContext, CoordinatorParts{*call->federation},
                                              DPBOOST_VERSION);
    call->links = OpenLinks(*call->federation, call->caller);
    SendBatchToAll(call->links, psprintf(kBegin, call->model == nullptr ? "ONLY" : "WRITE"));
    AwaitAll(call->links);
    const LinkValue described[] = {TextValue(call->federation->name), TextValue(call->target),
                                   call->features == nullptr
                                       ? LinkValue{TEXTOID, nullptr, 0}
                                       : TextValue(ArrayText(NAMEARRAYOID, call->features))};
    CallParties(call, "describe($1::pg_catalog.name, $2::pg_catalog.name, $3::pg_catalog.name[])", described,
                3);
    const PlainCall called{
        *call, options,
        JsonbToCString(nullptr, &call->options->root, static_cast<int>(VARSIZE(call->options))),
        MaxMemoryBytes(), TrainingThreads()};
    CallCore([&] { (*call->core)->Plan(Answers(*call), called); });
}

void RunAcross(AcrossCall* call, const char* method, PaidRelease* paid) {
    Open(call);
    JoinAndPay(call, method, paid);
    CheckConnected(call->links);  // or the others would pay for nothing
    CallParties(call, "charge()", nullptr, 0);
    WorkTogether(call, paid);
    KeepLinks(call->links);
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

Datum WithKey(Datum result, const char* key, const char* value) {
    const Datum more = JsonTextToDatum(psprintf("{\"%s\": %s}", key, value));
    return DirectFunctionCall2(jsonb_concat, result, more);
}

}  // namespace dpboost
