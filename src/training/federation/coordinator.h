// The coordinator of a training or an evaluation on several servers, without PostgreSQL: it has no rows, merges what parties
// say about their columns, announces call and plan, and follows the totals with a learner of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mechanism/parties/handshake.h"
#include "mechanism/parties/sum_exchange.h"
#include "training/evaluation/evaluation_core.h"
#include "training/federation/columns_of_parties.h"
#include "training/training.h"

namespace dpboost {

// What is called for, and what this server has for it.
struct CoordinatedCall {
    FederatedKind kind = FederatedKind::kTraining;
    std::string model;                   // its name
    std::string options_text;            // as given
    const JsonValue* options = nullptr;  // the same as read
    PrivacyArguments privacy;
    std::optional<SharedModel> shared;          // of an update and of an evaluation
    const JsonValue* shared_options = nullptr;  // of the model's training, as read
    size_t memory = 0;
    int threads = 1;
};

class Coordinator {
  public:
    // `version` is that of dpboost, which all servers must have.
    Coordinator(Roster roster, std::string version);
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    // What each party has described, in the order of the roster. Throws what the options, the columns or the noise make
    // impossible.
    void Plan(const std::vector<std::string>& described, const CoordinatedCall& called);
    const std::string& call_bytes() const { return call_bytes_; }
    const std::string& plan_bytes() const {
        return evaluation_ ? evaluation_->plan_bytes() : training_->plan_bytes();
    }

    // What this server computes (rehearsal.h); while parties open.
    void Rehearse(Interrupt& interrupt);
    // All parties' openings. Throws if they do not agree, or if this server computes otherwise.
    void Follow(const std::vector<std::string>& openings);
    const Roster& roster() const { return roster_; }
    const Hash& session() const { return session_.session; }

    // Trains or evaluates along the totals that the exchange brings.
    void Work(PaidCharge&& paid, SumExchange& exchange, ChaChaSource::Seed&& own, Interrupt& interrupt,
              Progress& progress);
    TrainingCore& training() { return *training_; }        // unless it is an evaluation
    EvaluationCore& evaluation() { return *evaluation_; }  // if it is one
    const Hash& result_hash() const { return result_; }

  private:
    void PlanTraining(const CoordinatedCall& called, const FederatedCall& call);
    void PlanEvaluation(const CoordinatedCall& called, const FederatedCall& call);

    Roster roster_;
    std::string version_;
    std::string rehearsed_;
    std::string call_bytes_;
    std::optional<Model> shared_;
    std::optional<TrainingCore> training_;
    std::optional<EvaluationCore> evaluation_;
    Session session_;
    Hash result_{};
};

// Adds one event's answers up, modulo 2^64. Throws kInternal if they are not to the same question, and with the name of
// the first party that differs; kInvalidParameter for bytes that are no answer.
std::vector<uint64_t> AddAnswers(const Roster& roster, const Hash& witness, size_t count,
                                 const std::vector<std::string>& answers);
// Throws unless all parties have ended with this.
void CheckSameResult(const Roster& roster, const Hash& result, const std::vector<std::string>& answers);

}  // namespace dpboost
