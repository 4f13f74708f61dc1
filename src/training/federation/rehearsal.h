// A rehearsal: before servers charge anybody for a training or an evaluation that they do together, each does the same on rows
// that are made up, with noise that everybody can compute. Servers whose programs, compilers, libraries or processors compute
// otherwise end with another result, and the signatures of the handshake see it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/interrupt.h"
#include "training/evaluation/evaluation_core.h"
#include "training/training.h"

namespace dpboost {

// `version` with the hash of what this server computes in a rehearsal, as the agreement of all servers (handshake.h) has it.
// Of the training only public facts are used: method, options, encodings, epsilon, delta, and the model that an update goes
// on from, else null. No row of a table is read and nothing of the plan is spent.
std::string Rehearsed(const std::string& version, const TrainingCore& training, const Model* continued,
                      Interrupt& interrupt);
// The same of an evaluation, of this model.
std::string Rehearsed(const std::string& version, const EvaluationCore& evaluation, const Model& model,
                      Interrupt& interrupt);

// What `rehearse` gives, or gave if the same call was the last that this thread rehearsed: a program computes what it
// computed before. `call` tells all that the rehearsal depends on.
std::string RehearsedOnce(std::string_view call, const std::function<std::string()>& rehearse);

}  // namespace dpboost
