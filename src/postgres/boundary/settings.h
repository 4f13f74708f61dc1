// The settings (GUCs) of dpboost, in one place. They exist once the library is loaded, by any of its
// functions.
#pragma once

#include <cstddef>

namespace dpboost {

// Called once, when the library is loaded.
void DefineSettings();

// dpboost.max_memory: how many bytes one training may hold.
size_t MaxMemoryBytes();

// dpboost.threads: how many threads one training may use; results do not depend on it.
int TrainingThreads();

// dpboost.trainings_left_epsilon: of which size the trainings are that dpboost_budgets counts.
double TrainingsLeftEpsilon();

}  // namespace dpboost
