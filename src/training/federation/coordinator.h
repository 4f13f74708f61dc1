// The coordinator of a training on several servers, without PostgreSQL: it has no rows, merges what parties say about their
// columns, announces call and plan, and follows the totals with a learner of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mechanism/parties/handshake.h"
#include "mechanism/parties/sum_exchange.h"
#include "training/federation/columns_of_parties.h"
#include "training/training.h"

namespace dpboost {

class Coordinator {
  public:
    // `version` is that of dpboost, which all servers must have.
    Coordinator(Roster roster, std::string version);
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    // What each party has described, in the order of the roster, and what is called for: `options` as text and as read.
    // Throws what the options, the columns or the noise make impossible.
    void Plan(const std::vector<std::string>& described, const std::string& model,
              const std::string& options_text, const JsonValue* options, const PrivacyArguments& privacy,
              size_t memory, int threads);
    const std::string& call_bytes() const { return call_bytes_; }
    const std::string& plan_bytes() const { return training_->plan_bytes(); }

    // All parties' openings. Throws if they do not agree, or if this server computes otherwise (rehearsal.h).
    void Follow(const std::vector<std::string>& openings, Interrupt& interrupt);
    const Roster& roster() const { return roster_; }
    const Hash& session() const { return session_.session; }

    // Trains along the totals that the exchange brings.
    void Train(PaidCharge&& paid, SumExchange& exchange, ChaChaSource::Seed&& own, Interrupt& interrupt,
               Progress& progress);
    TrainingCore& training() { return *training_; }
    Hash model_hash() const;

  private:
    Roster roster_;
    std::string version_;
    std::string call_bytes_;
    std::optional<TrainingCore> training_;
    Session session_;
};

// Adds one event's answers up, modulo 2^64. Throws kInternal if they are not to the same question, and with the name of
// the first party that differs; kInvalidParameter for bytes that are no answer.
std::vector<uint64_t> AddAnswers(const Roster& roster, const Hash& witness, size_t count,
                                 const std::vector<std::string>& answers);
// Throws unless all parties have ended with this model.
void CheckSameModel(const Roster& roster, const Hash& model, const std::vector<std::string>& answers);

}  // namespace dpboost
