// Accuracy of `auto`, untuned, against epsilon on public and generated tables: 5-fold cross-validation,
// delta 5e-8, mean and standard error over runs, CPU seconds per training.
//     utility_tables                        3 runs of all tables, and where more budget gave less
//     utility_tables public                 of the public ones
//     utility_tables 5 synthetic            5 runs of the generated ones and of wide ranges and noise columns
//     utility_tables 10 magic,adult eps=1,4  ten runs of some
//     ... half=1                            on one half of the rows at twice the epsilon (same signal to noise):
//                                           1 is the half that numbers were chosen on, 2 the other one
//     ... seed=2                            other folds and noise
//     ... depth=1                           without interactions
//     ... set=linear_time*2                 with a number of the schedule changed
//     ... noise=off                         without noise: what is left is bias
//     ... raw=FILE                          every fold's score, for comparisons of the same folds
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>
#include <string>

#include "base/error.h"
#include "bench/scoring.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "support/train_with.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

constexpr double kDelta = 5e-8;
constexpr size_t kFolds = 5;

const char* const kPublic[] = {"magic", "credit2", "california_housing", "adult", "spambase", "abalone"};
const char* const kVariants[] = {"magic+100noise", "credit2/columns*10", "credit2/columns*1000",
                                 "california_housing/target*10", "california_housing/target*1000"};

struct Settings {
    int runs = 3;
    std::vector<std::string> names;
    std::vector<double> epsilons = {0.1, 0.5, 1, 4};
    int half = 0;
    uint32_t depth = 3;
    int seed = 1;
    std::vector<NumberChange> changes;
    bool noise = true;
    std::string raw;
};

struct Result {
    Tally score;  // AUC or RMSE
    Tally loss;   // log loss
    Tally seconds;
};

double CpuSeconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Model TrainOne(const Dataset& dataset, double epsilon, const Settings& settings, Random& random) {
    AutoOptions options;
    options.objective = DefaultObjective(dataset.target().task());
    options.depth = settings.depth;
    options.changes = settings.changes;
    const AutoLearner learner(options, dataset.target());
    Plan plan = PlanOf(learner, epsilon, kDelta);
    ExactNoise exact(random);
    ZeroNoise none;
    return settings.noise ? TrainLearner(learner, dataset, plan, random, exact)
                          : TrainLearner(learner, dataset, plan, random, none);
}

void OneRun(const EncodedTable& table, const std::vector<uint32_t>& rows, const Settings& settings, int run,
            std::vector<Result>& results, const std::string& name, std::FILE* raw) {
    const bool classes = table.target.task() == Task::kBinary;
    ChaChaSource source = SourceOf(static_cast<uint32_t>(settings.seed), static_cast<uint32_t>(run));
    Random random(source);
    std::vector<uint32_t> order(rows.size());
    random.Permutation(order.data(), order.size());
    std::vector<double> score(results.size(), 0), loss(results.size(), 0), seconds(results.size(), 0);
    for (size_t fold = 0; fold < kFolds; fold++) {
        std::vector<uint32_t> train, test;
        for (size_t i = 0; i < rows.size(); i++)
            (i % kFolds == fold ? test : train).push_back(rows[order[i]]);
        const Dataset dataset = table.Build(train);
        for (size_t e = 0; e < results.size(); e++) {
            const double epsilon = settings.epsilons[e] * (settings.half == 0 ? 1 : 2);
            // Its own stream: the same noise whatever else is measured.
            ChaChaSource noise =
                SourceOf(static_cast<uint32_t>(settings.seed) << 16 | static_cast<uint32_t>(run),
                         static_cast<uint32_t>(fold << 20 | std::lround(1000 * epsilon)));
            Random own(noise);
            const double start = CpuSeconds();
            const Model model = TrainOne(dataset, epsilon, settings, own);
            seconds[e] += (CpuSeconds() - start) / kFolds;
            const Predictions rows_left_out = PredictRows(model, table, test);
            const double one = Score(table.target.task(), rows_left_out);
            const double lost = classes ? LogLoss(rows_left_out.predicted, rows_left_out.values) : 0;
            if (raw != nullptr)
                std::fprintf(raw, "%s %g %d %zu %.6f %.6f\n", name.c_str(), settings.epsilons[e], run, fold,
                             one, lost);
            score[e] += one / kFolds;
            loss[e] += lost / kFolds;
        }
    }
    for (size_t e = 0; e < results.size(); e++) {
        results[e].score.Add(score[e]);
        results[e].loss.Add(loss[e]);
        results[e].seconds.Add(seconds[e]);
    }
}

// More budget must not give less, beyond one standard error of the difference.
int PrintViolations(const std::string& name, const Settings& settings, const std::vector<Result>& results,
                    bool classes) {
    int violations = 0;
    for (size_t e = 0; e + 1 < results.size(); e++) {
        const Tally &less = results[e].score, &more = results[e + 1].score;
        const double worse = (less.Mean() - more.Mean()) * (classes ? 1 : -1);
        const double error = std::hypot(less.StandardError(), more.StandardError());
        if (worse <= error)
            continue;
        std::printf("NOT MONOTONE: %s is worse at epsilon %g than at %g, by %.4f (standard error %.4f)\n",
                    name.c_str(), settings.epsilons[e + 1], settings.epsilons[e], worse, error);
        violations++;
    }
    return violations;
}

std::vector<Result> Measure(const EncodedTable& table, const Settings& settings, const std::string& name) {
    std::FILE* const raw = settings.raw.empty() ? nullptr : std::fopen(settings.raw.c_str(), "a");
    const std::vector<uint32_t> rows = RowsOfHalf(table.rows(), settings.half);
    std::vector<Result> results(settings.epsilons.size());
    for (int run = 0; run < settings.runs; run++)
        OneRun(table, rows, settings, run, results, name, raw);
    if (raw != nullptr)
        std::fclose(raw);
    return results;
}

void RunAll(const Settings& settings) {
    std::printf("%-31s %7s %9s %8s %8s %8s\n", "data", "epsilon", "AUC/RMSE", "s.e.", "log loss", "seconds");
    int violations = 0;
    for (const std::string& name : settings.names) {
        const EncodedTable table = LoadNamed(name);
        const std::vector<Result> results = Measure(table, settings, name);
        for (size_t e = 0; e < results.size(); e++)
            std::printf("%-31s %7g %9.4f %8.4f %8.4f %8.4f\n", name.c_str(), settings.epsilons[e],
                        results[e].score.Mean(), results[e].score.StandardError(), results[e].loss.Mean(),
                        results[e].seconds.Mean());
        violations += PrintViolations(name, settings, results, table.target.task() == Task::kBinary);
        std::fflush(stdout);
    }
    std::printf("%d violations of \"more budget is not worse\"\n", violations);
}

void Read(const std::string& argument, Settings& settings) {
    const size_t sign = argument.find('=');
    const std::string key = sign == std::string::npos ? "" : argument.substr(0, sign);
    if (key == "half")
        settings.half = std::atoi(argument.c_str() + sign + 1);
    else if (key == "seed")
        settings.seed = std::atoi(argument.c_str() + sign + 1);
    else if (key == "noise")
        settings.noise = argument != "noise=off";
    else if (key == "raw")
        settings.raw = argument.substr(sign + 1);
    else if (key == "depth")
        settings.depth = static_cast<uint32_t>(std::atoi(argument.c_str() + sign + 1));
    else if (key == "set") {
        const size_t times = argument.find('*');
        settings.changes.push_back({argument.substr(sign + 1, times - sign - 1),
                                    std::strtod(argument.c_str() + times + 1, nullptr)});
    } else if (key == "eps") {
        settings.epsilons.clear();
        std::istringstream numbers(argument.substr(sign + 1));
        for (std::string number; std::getline(numbers, number, ',');)
            settings.epsilons.push_back(std::strtod(number.c_str(), nullptr));
    } else if (std::atoi(argument.c_str()) > 0) {
        settings.runs = std::atoi(argument.c_str());
    } else if (argument == "public") {
        settings.names.insert(settings.names.end(), std::begin(kPublic), std::end(kPublic));
    } else if (argument == "synthetic") {
        for (const SyntheticKind& kind : SyntheticKinds())
            settings.names.emplace_back(kind.name);
        settings.names.insert(settings.names.end(), std::begin(kVariants), std::end(kVariants));
    } else {
        std::istringstream names(argument);
        for (std::string name; std::getline(names, name, ',');)
            settings.names.push_back(name);
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    dpboost::Settings settings;
    for (int i = 1; i < argc; i++)
        dpboost::Read(argv[i], settings);
    if (settings.names.empty())
        dpboost::Read("public", settings);
    if (argc == 1)
        dpboost::Read("synthetic", settings);
    return dpboost::Guarded([&] { dpboost::RunAll(settings); });
}
