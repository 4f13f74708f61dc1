#include "training/federation/coordinator.h"

#include <utility>

#include "base/error.h"
#include "mechanism/parties/shared_noise.h"
#include "training/federation/learner_thread.h"
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

void Coordinator::Plan(const std::vector<std::string>& described, const std::string& model,
                       const std::string& options_text, const JsonValue* options,
                       const PrivacyArguments& privacy, size_t memory, int threads) {
    std::vector<std::string> names;
    std::vector<PartyColumns> columns;
    for (size_t i = 0; i < described.size(); ++i) {
        names.push_back(roster_.parties()[i].name);
        columns.push_back(PartyColumns::Parse(described[i]));
    }
    FederatedCall call;
    call.model = model;
    call.options = options_text;
    call.epsilon = privacy.epsilon;
    call.delta = privacy.delta;
    call.columns = MergeColumns(names, columns);
    TrainingSchema schema;
    schema.options = options;
    schema.privacy = privacy;
    schema.target = call.columns.target;
    schema.features = call.columns.features;
    schema.memory = memory;
    schema.threads = threads;
    schema.parties = roster_.numbers();
    training_.emplace(schema);
    call.encodings = EncodingsHash(training_->features());
    call_bytes_ = call.Serialize();
    training_->Calibrate({});
}

void Coordinator::Follow(const std::vector<std::string>& openings, Interrupt& interrupt) {
    const std::string version = Rehearsed(version_, *training_, interrupt);
    session_ = FollowSession(roster_, Agreement(version, roster_, call_bytes_, plan_bytes()), openings);
}

void Coordinator::Train(PaidCharge&& paid, SumExchange& exchange, ChaChaSource::Seed&& own,
                        Interrupt& interrupt, Progress& progress) {
    SessionStreams streams(session_.structure, std::move(own));
    Transcript transcript(session_.session);
    FollowedNoise noise(roster_.numbers(), transcript, exchange);
    training_->FinishRows(interrupt);
    training_->TrainWith(std::move(paid), streams.structure, streams.coins, noise, interrupt, progress);
}

Hash Coordinator::model_hash() const {
    return ModelHash(training_->model_bytes());
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

void CheckSameModel(const Roster& roster, const Hash& model, const std::vector<std::string>& answers) {
    for (size_t i = 0; i < answers.size(); ++i) {
        const PartyAnswer answer = PartyAnswer::Parse(answers[i]);
        if (!answer.finished || !SameHash(answer.model, model))
            Disagree(roster.parties()[i].name);
    }
}

}  // namespace dpboost
