// A rehearsal: before servers charge anybody for a training that they do together, each trains the same method with the same
// options on rows that are made up, with noise that everybody can compute. Servers whose programs, compilers, libraries or
// processors compute otherwise end with other models, and the signatures of the handshake see it.
#pragma once

#include <string>

#include "base/interrupt.h"
#include "training/training.h"

namespace dpboost {

// `version` with the hash of what this server computes in a rehearsal of the training, as the agreement of all servers
// (handshake.h) has it. Of the training only public facts are used: method, options, encodings, epsilon and delta. No row of
// a table is read and nothing of the training's plan is spent.
std::string Rehearsed(const std::string& version, const TrainingCore& training, Interrupt& interrupt);

}  // namespace dpboost
