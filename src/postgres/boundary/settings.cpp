// Settings: what the server's owner may limit and what a session may choose. None of them touches privacy:
// epsilon and delta are always said in the call, and there is no setting that seeds or disables noise.
#include "postgres/boundary/settings.h"

#include <unistd.h>

#include "postgres/boundary/pg.h"

namespace dpboost {
namespace {

constexpr int kMinMemoryKilobytes = 1024;
constexpr int kMaxThreads = 64;
constexpr double kLeastShownEpsilon = 0.001, kMostShownEpsilon = 100;

int max_memory_kilobytes;
int training_threads;
double trainings_left_epsilon;

// A quarter of the machine's memory, so that a training that nobody sized leaves the server room to breathe.
int DefaultMemoryKilobytes() {
    const int64_t pages = sysconf(_SC_PHYS_PAGES);
    const int64_t page_size = sysconf(_SC_PAGESIZE);
    const int64_t quarter = pages > 0 && page_size > 0 ? pages * (page_size / 1024) / 4 : kMinMemoryKilobytes;
    return static_cast<int>(
        std::clamp<int64_t>(quarter, kMinMemoryKilobytes, std::numeric_limits<int>::max()));
}

}  // namespace

void DefineSettings() {
    DefineCustomIntVariable(
        "dpboost.max_memory", "Memory that the trainings of one process may hold.",
        "The default is a quarter of the machine's memory. A training that would need more "
        "stops with an error before it takes it.",
        &max_memory_kilobytes, DefaultMemoryKilobytes(), kMinMemoryKilobytes, std::numeric_limits<int>::max(),
        PGC_SUSET, GUC_UNIT_KB, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("dpboost.threads", "Threads that one training may use.",
                            "The model is the same with any number of threads.", &training_threads, 1, 1,
                            kMaxThreads, PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomRealVariable("dpboost.trainings_left_epsilon",
                             "Size of the trainings that dpboost_budgets counts as trainings_left.",
                             "It is for showing alone: what a training costs, its call says.",
                             &trainings_left_epsilon, 0.1, kLeastShownEpsilon, kMostShownEpsilon, PGC_USERSET,
                             0, nullptr, nullptr, nullptr);
    ReserveSettingPrefix();
}

size_t MaxMemoryBytes() {
    return static_cast<size_t>(max_memory_kilobytes) * 1024;
}

int TrainingThreads() {
    return training_threads;
}

double TrainingsLeftEpsilon() {
    return trainings_left_epsilon;
}

}  // namespace dpboost
