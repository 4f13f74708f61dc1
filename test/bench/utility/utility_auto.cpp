// Accuracy of the untuned methods `auto` and `sbdt` side by side against epsilon, on public data and on the
// simulated interaction problems of [DPXGB] C.2.1: 5-fold cross-validation, both on the same folds; mean
// and standard error over runs, seconds per training (its calibration included).
//     utility_auto                     3 runs of everything
//     utility_auto 20 spambase         20 runs of the lines that contain "spambase"
//     utility_auto 20 spambase/0.1     of one line (and of those that start like it)
//     ... half=1                       on one half of the rows at twice the epsilon (same signal to noise):
//                                      1 is the half that the schedule was chosen on, 2 the other one
//     ... grid=expert                  grids chosen by hand (log where it helps) instead of the default ones
//     ... method=auto                  without `sbdt`
//     ... depth=1                      `auto` without interactions
//     ... seed=2                       other folds and noise
// The last columns: what the recipe's prototype reached, and what we aim for. AUC; RMSE for abalone.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "bench/scoring.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

struct Line {
    const char* data;
    double epsilon;
    double delta;
    double prototype;
    double aim;
};

const Line kLines[] = {
    {"abalone", 0.05, 5e-8, 2.717, 2.68},
    {"abalone", 0.105, 5e-8, 2.550, 2.52},
    {"abalone", 0.25, 5e-8, 2.433, 2.40},
    {"abalone", 0.5, 5e-8, 2.336, 2.30},
    {"abalone", 1, 5e-8, 2.267, 2.24},
    {"adult", 0.01, 5e-8, 0.860, 0.865},
    {"adult", 0.02, 5e-8, 0.876, 0.880},
    {"adult", 0.053, 5e-8, 0.889, 0.892},
    {"adult", 0.1, 5e-8, 0.896, 0.899},
    {"adult", 0.5, 5e-8, 0.909, 0.911},
    {"adult", 1, 5e-8, 0.912, 0.915},
    {"spambase", 0.02, 5e-8, 0.845, 0.860},
    {"spambase", 0.1, 5e-8, 0.950, 0.955},
    {"spambase", 0.5, 5e-8, 0.974, 0.976},
    {"spambase", 1, 5e-8, 0.977, 0.980},
    {"simulated1_variance", 1, 1e-4, 0.98, 0.95},
    {"simulated2_variance", 1, 1e-4, 0.98, 0.95},
    {"simulated1_deviation", 1, 1e-4, 0.97, 0.93},
    {"simulated2_deviation", 1, 1e-4, 0.97, 0.93},
};

struct Settings {
    int runs = 3;
    std::string filter;
    int half = 0;
    bool expert_grid = false;
    bool sbdt = true;
    uint32_t depth = 3;
    int seed = 1;
};

double DrawNormal(Random& random) {
    double sum = 0;  // of enough uniforms: this is test data, not noise
    for (int i = 0; i < 48; i++)
        sum += static_cast<double>(random.Next32()) / 4294967296.0 - 0.5;
    return sum / 2;
}

// [DPXGB] C.2.1, with N(mean, v) read as variance or as standard deviation.
EncodedTable Simulate(int problem, bool deviation) {
    const double mean[] = {1, -5, -2}, spread[] = {25, 8, 7};
    EncodedTable out;
    double sd[3];
    std::vector<Encoder> encoders;
    for (int j = 0; j < 3; j++) {
        sd[j] = deviation ? spread[j] : std::sqrt(spread[j]);
        NumericRange range;
        range.lower = mean[j] - 4 * sd[j];
        range.upper = mean[j] + 4 * sd[j];
        out.features.push_back(FeatureSpec::Numeric("x" + std::to_string(j + 1), range));
        encoders.emplace_back(out.features.back());
    }
    ChaChaSource source = SourceOf(77, static_cast<uint32_t>(problem * 2 + deviation));
    Random random(source);
    for (int row = 0; row < 10000; row++) {
        double x[3];
        for (int j = 0; j < 3; j++) {
            x[j] = mean[j] + sd[j] * DrawNormal(random);
            out.codes.push_back(encoders[j].Number(x[j]));
        }
        const double f = x[0] * x[1] + x[0] * x[2] + x[1] * x[2] + x[0] * x[1] * x[2] +
                         (problem == 2 ? x[0] + x[1] + x[2] : 0);
        out.values.push_back(f > 0 ? 1 : 0);
    }
    return out;
}

EncodedTable Load(const std::string& name, bool expert_grid) {
    if (name.rfind("simulated", 0) == 0)
        return Simulate(name[9] - '0', name.find("deviation") != std::string::npos);
    return LoadTable(name, expert_grid ? nullptr : WithDefaultGrids);
}

// Results of one method over runs.
struct TimedTally : Tally {
    double seconds = 0;
};

Model TrainOne(bool sbdt, const Dataset& dataset, double epsilon, double delta, uint32_t depth,
               Random& random) {
    ExactNoise noise(random);
    if (sbdt)
        return TrainWith(kSbdt, dataset, epsilon, delta, {}, random, noise);
    return TrainWith(kAuto, dataset, epsilon, delta, {Given("depth", depth)}, random, noise);
}

// One shuffle: adds the mean over its folds, and the mean time of a training.
void CrossValidate(bool sbdt, const EncodedTable& table, const std::vector<uint32_t>& rows, double epsilon,
                   double delta, const Settings& settings, int run, TimedTally& tally) {
    constexpr size_t kFolds = 5;
    ChaChaSource source = SourceOf(static_cast<uint32_t>(settings.seed), static_cast<uint32_t>(run));
    Random random(source);
    std::vector<uint32_t> order(rows.size());
    random.Permutation(order.data(), order.size());  // the same for both methods
    double mean = 0;
    for (size_t fold = 0; fold < kFolds; fold++) {
        std::vector<uint32_t> train, test;
        for (size_t i = 0; i < rows.size(); i++)
            (i % kFolds == fold ? test : train).push_back(rows[order[i]]);
        const Dataset dataset = table.Build(train);
        const auto start = std::chrono::steady_clock::now();
        const Model model = TrainOne(sbdt, dataset, epsilon, delta, settings.depth, random);
        tally.seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kFolds;
        mean += Score(table.target.task(), PredictRows(model, table, test)) / kFolds;
    }
    tally.Add(mean);
}

void Print(const Line& line, const TimedTally& automatic, const TimedTally& sbdt) {
    std::printf("%-21s %7g %9.4f %7.4f %8.4f", line.data, line.epsilon, automatic.Mean(),
                automatic.StandardError(), automatic.seconds / automatic.runs);
    if (sbdt.runs > 0)
        std::printf(" %9.4f %7.4f %8.4f", sbdt.Mean(), sbdt.StandardError(), sbdt.seconds / sbdt.runs);
    std::printf(" %10.3f %6.3f\n", line.prototype, line.aim);
    std::fflush(stdout);
}

void RunAll(const Settings& settings) {
    std::printf("%-21s %7s %9s %7s %8s", "data", "epsilon", "auto", "s.e.", "seconds");
    if (settings.sbdt)
        std::printf(" %9s %7s %8s", "sbdt", "s.e.", "seconds");
    std::printf(" %10s %6s\n", "prototype", "aim");
    std::string loaded;
    EncodedTable table;
    for (const Line& line : kLines) {
        char title[64];
        std::snprintf(title, sizeof title, "%s/%g", line.data, line.epsilon);
        if (std::string(title).find(settings.filter) == std::string::npos)
            continue;
        if (loaded != line.data) {
            table = Load(line.data, settings.expert_grid);
            loaded = line.data;
        }
        const std::vector<uint32_t> rows = RowsOfHalf(table.rows(), settings.half);
        const double epsilon = settings.half == 0 ? line.epsilon : 2 * line.epsilon;
        TimedTally automatic, sbdt;
        for (int run = 0; run < settings.runs; run++) {
            CrossValidate(false, table, rows, epsilon, line.delta, settings, run, automatic);
            if (settings.sbdt)
                CrossValidate(true, table, rows, epsilon, line.delta, settings, run, sbdt);
        }
        Print(line, automatic, sbdt);
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    dpboost::Settings settings;
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        if (argument.rfind("half=", 0) == 0)
            settings.half = std::atoi(argv[i] + 5);
        else if (argument.rfind("seed=", 0) == 0)
            settings.seed = std::atoi(argv[i] + 5);
        else if (argument.rfind("depth=", 0) == 0)
            settings.depth = static_cast<uint32_t>(std::atoi(argv[i] + 6));
        else if (argument == "method=auto")
            settings.sbdt = false;
        else if (argument == "grid=expert")
            settings.expert_grid = true;
        else if (std::atoi(argv[i]) > 0)
            settings.runs = std::atoi(argv[i]);
        else
            settings.filter = argument;
    }
    return dpboost::Guarded([&] { dpboost::RunAll(settings); });
}
