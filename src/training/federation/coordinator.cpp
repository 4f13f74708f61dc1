#include "training/federation/coordinator.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "mechanism/parties/shared_noise.h"
#include "training/federation/party_learner.h"
#include "training/federation/rehearsal.h"

namespace dpboost {

namespace {

[[noreturn]] void Disagree(const std::string& party) {
    throw Error(ErrorCode::kInternal, "the servers disagree about the training",
                "Party \"" + party + "\" is at another point of it.",
                "All servers must run the same build of dpboost on the same kind of machine.");
}

}  // namespace

Coordinator::Coordinator(Roster roster, std::string version)
    : roster_(std::move(roster)), version_(std::move(version)) {}

void Coordinator::PlanTraining(const CoordinatedCall& called, const FederatedCall& call) {
    TrainingSchema schema;
    schema.options = called.options;
    schema.privacy = called.privacy;
    schema.target = call.columns.target;
    schema.features = call.columns.features;
    schema.memory = called.memory;
    schema.threads = called.threads;
    schema.parties = roster_.numbers();
    if (shared_) {
        ContinuedModel continued;
        continued.model = &*shared_;
        continued.name = called.model;
        continued.version = static_cast<int>(called.shared->version);
        continued.method = called.shared->method;
        continued.options = called.shared_options;
        continued.positive = called.shared->positive;
        schema.continued = std::move(continued);
    }
    training_.emplace(schema);
    training_->Calibrate({});
}

void Coordinator::PlanEvaluation(const CoordinatedCall& called, const FederatedCall& call) {
    EvaluationSchema schema;
    schema.models.push_back({called.model, called.shared->content, called.shared_options});
    schema.options = called.options;
    schema.privacy = called.privacy;
    schema.target = call.columns.target;
    schema.relation = "federation " + Quoted(roster_.federation());
    schema.memory = called.memory;
    schema.parties = roster_.numbers();
    evaluation_.emplace(schema);
    evaluation_->Calibrate({});
}

void Coordinator::Plan(const std::vector<std::string>& described, const CoordinatedCall& called) {
    std::vector<std::string> names;
    std::vector<PartyColumns> columns;
    for (size_t i = 0; i < described.size(); ++i) {
        names.push_back(roster_.parties()[i].name);
        columns.push_back(PartyColumns::Parse(described[i]));
    }
    FederatedCall call;
    call.kind = called.kind;
    call.model = called.model;
    call.options = called.options_text;
    call.epsilon = called.privacy.epsilon;
    call.delta = called.privacy.delta;
    call.shared = called.shared;
    call.columns = MergeColumns(names, columns);
    if (called.shared)
        shared_ = Model::Parse(called.shared->content);
    if (called.kind == FederatedKind::kEvaluation)
        PlanEvaluation(called, call);
    else
        PlanTraining(called, call);
    call.encodings = EncodingsHash(evaluation_ ? evaluation_->features() : training_->features());
    call_bytes_ = call.Serialize();
}

void Coordinator::Rehearse(Interrupt& interrupt) {
    rehearsed_ = RehearsedOnce(call_bytes_, [&] {
        return evaluation_ ? Rehearsed(version_, *evaluation_, *shared_, interrupt)
                           : Rehearsed(version_, *training_, shared_ ? &*shared_ : nullptr, interrupt);
    });
}

void Coordinator::Follow(const std::vector<std::string>& openings) {
    session_ = FollowSession(roster_, Agreement(rehearsed_, roster_, call_bytes_, plan_bytes()), openings);
}

void Coordinator::Work(PaidCharge&& paid, SumExchange& exchange, ChaChaSource::Seed&& own,
                       Interrupt& interrupt, Progress& progress) {
    SessionStreams streams(session_.structure, std::move(own));
    Transcript transcript(session_.session);
    FollowedNoise noise(roster_.numbers(), transcript, exchange);
    if (evaluation_)
        evaluation_->FinishRows(interrupt);
    else
        training_->FinishRows(interrupt);
    const SharedWork work = evaluation_ ? WorkOf(*evaluation_) : WorkOf(*training_);
    result_ = ResultHash(work(std::move(paid), streams, noise, interrupt, progress));
}

std::vector<uint64_t> AddAnswers(const Roster& roster, const Hash& witness, size_t count,
                                 const std::vector<std::string>& answers) {
    std::vector<uint64_t> total(count, 0);
    for (size_t i = 0; i < answers.size(); ++i) {
        const PartyAnswer answer = PartyAnswer::Parse(answers[i]);
        if (answer.finished || !SameHash(answer.witness, witness) || answer.sums.size() != count)
            Disagree(roster.parties()[i].name);
        for (size_t s = 0; s < count; ++s)
            total[s] += answer.sums[s];
    }
    return total;
}

void CheckSameResult(const Roster& roster, const Hash& result, const std::vector<std::string>& answers) {
    for (size_t i = 0; i < answers.size(); ++i) {
        const PartyAnswer answer = PartyAnswer::Parse(answers[i]);
        if (!answer.finished || !SameHash(answer.result, result))
            Disagree(roster.parties()[i].name);
    }
}

}  // namespace dpboost
