// Prints what training costs in the core, without PostgreSQL: Adult at 1,000 trees of depth 6 with and
// without the Renyi filter, other depths and schedules, and growth with rows on synthetic data. Best of
// several runs each.
//     train_bench            the main lines (seconds)
//     train_bench full       also 1M and 10M synthetic rows
//     train_bench hashed     only Adult with its texts hashed
//     train_bench stages     only where the time of the main line goes
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>

#include "bench/csv_data.h"
#include "learner/boosted/sbdt.h"
#include "mechanism/chacha_source.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

// CPU time of one thread is what the machine's other guests disturb least; several threads need the wall
// clock.
double Now(int threads) {
    timespec now;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of calibration and of training, best of `runs`.
struct Seconds {
    double plan = 1e9;
    double train = 1e9;
};

Seconds Time(const Dataset& dataset, const SbdtOptions& options, int runs, int threads = 1,
             Simd simd = BestSimd()) {
    Seconds best;
    for (int run = 0; run < runs; run++) {
        const double start = Now(threads);
        const SbdtLearner learner(options);
        Plan plan = PlanOf(learner, 1, 1e-6);
        const double planned = Now(threads);
        ChaChaSource source(ChaChaSource::Seed{static_cast<unsigned char>(run + 1)});
        Random random(source);
        ExactNoise noise(random);
        TrainingSettings settings;
        settings.threads = threads;
        settings.simd = simd;
        const Model model = TrainLearner(learner, dataset, plan, random, noise, settings);
        best.plan = std::min(best.plan, planned - start);
        best.train = std::min(best.train, Now(threads) - planned);
    }
    return best;
}

void Print(const char* what, const Dataset& dataset, const SbdtOptions& options, const Seconds& seconds) {
    const double visits = static_cast<double>(dataset.rows()) * options.rounds();
    std::printf("%-46s plan %7.1f ms   train %8.1f ms   %6.2f ns per row and tree\n", what,
                seconds.plan * 1e3, seconds.train * 1e3, seconds.train / visits * 1e9);
    std::fflush(stdout);
}

SbdtOptions MainOptions() {
    SbdtOptions options(Task::kBinary, 1);
    options.trees = 1000;
    options.depth = 6;
    options.subsample = 0.1;
    return options;
}

Dataset AllRows(const EncodedTable& table) {
    std::vector<uint32_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), 0);
    return table.Build(rows);
}

Dataset Synthetic(size_t rows, size_t columns) {
    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < columns; i++)
        features.push_back(NumericFeature("f" + std::to_string(i), 0, 1, Scale::kLinear, 254));
    DatasetBuilder builder(features, TargetSpec::Binary(), false);
    uint64_t state = 1;
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        uint32_t first = 0;
        for (size_t i = 0; i < columns; i++) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            const uint32_t code = static_cast<uint32_t>(state >> 33) % 254;
            first = i == 0 ? code : first;
            builder.SetCode(i, static_cast<uint16_t>(code));
        }
        builder.AppendRow(first > 127 ? 1.0F : 0.0F);
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

// Texts without lists of levels, as SQL has them.
std::vector<FeatureSpec> WithHashedText(const std::vector<FeatureSpec>& documented) {
    std::vector<FeatureSpec> features = documented;
    for (FeatureSpec& feature : features) {
        if (!feature.ordered())
            feature = FeatureSpec::Hashed(feature.name(), 512);
    }
    return features;
}

void BenchHashed() {
    const Dataset hashed = AllRows(LoadTable("adult", WithHashedText));
    SbdtOptions options = MainOptions();
    Print("Adult, text in 512 buckets", hashed, options, Time(hashed, options, 3));
    options.extra_rounds = 1000;
    Print("  Renyi filter, 1000 extra rounds", hashed, options, Time(hashed, options, 3));
    options = MainOptions();
    options.features = FeatureSchedule::kCyclic;
    Print("  one feature per tree", hashed, options, Time(hashed, options, 3));
}

void BenchAdult(const Dataset& adult) {
    SbdtOptions options = MainOptions();
    Print("Adult, 1000 trees, depth 6, gamma 0.1", adult, options, Time(adult, options, 5));
    Print("  two threads", adult, options, Time(adult, options, 3, 2));
    Print("  without vector instructions", adult, options, Time(adult, options, 1, 1, Simd::kPortable));
    SbdtOptions filtered = options;
    filtered.extra_rounds = 1000;
    Print("  Renyi filter, 1000 extra rounds", adult, filtered, Time(adult, filtered, 3));
    SbdtOptions cyclic = options;
    cyclic.features = FeatureSchedule::kCyclic;
    Print("  one feature per tree", adult, cyclic, Time(adult, cyclic, 3));
    SbdtOptions full_batch = options;
    full_batch.subsample = 1;
    Print("  all rows in every tree", adult, full_batch, Time(adult, full_batch, 2));
    for (const int depth : {2, 4, 8, 10}) {
        SbdtOptions other = options;
        other.depth = depth;
        const std::string what = "  depth " + std::to_string(depth);
        Print(what.c_str(), adult, other, Time(adult, other, 2));
    }
}

void BenchGrowth(bool full) {
    for (const size_t rows : {size_t{100000}, size_t{1000000}, size_t{10000000}}) {
        if (rows > 100000 && !full)
            break;
        const Dataset dataset = Synthetic(rows, 14);
        SbdtOptions options = MainOptions();
        options.trees = rows > 1000000 ? 40 : 200;
        const std::string what =
            std::to_string(rows) + " rows, " + std::to_string(options.trees) + " trees, depth 6";
        Print(what.c_str(), dataset, options, Time(dataset, options, 2));
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const bool full = argc > 1 && std::strcmp(argv[1], "full") == 0;
    const bool hashed_only = argc > 1 && std::strcmp(argv[1], "hashed") == 0;
    const bool main_line_only = argc > 1 && std::strcmp(argv[1], "stages") == 0;
    try {
        if (hashed_only) {
            BenchHashed();
            return 0;
        }
        const Dataset adult = AllRows(LoadTable("adult"));
        if (main_line_only) {
            const SbdtOptions options = MainOptions();
            Print("Adult, 1000 trees, depth 6, gamma 0.1", adult, options, Time(adult, options, 5));
            return 0;
        }
        BenchAdult(adult);
        BenchHashed();
        BenchGrowth(full);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s %s\n", error.message().c_str(), error.hint().c_str());
        return 1;
    }
    return 0;
}
