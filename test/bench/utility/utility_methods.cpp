// Accuracy of the methods of [FEDGBDT] and [DPXGB] at epsilon 1, delta 1/n: mean and standard
// deviation over runs, a run being one random 70/30 split, against what the papers report. Adult is its
// 30,162 complete training rows, as in [DPXGB]; "problem1" and "problem2" are simulated as in its C.2.1.
//     utility_methods                     15 runs of everything
//     utility_methods 5 dp_xgb            5 runs of the lines that contain "dp_xgb"
//     utility_methods 5 dp_xgb trees=20   ... with another setting
// Ranges and levels are the datasets' documented ones, never those of rows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>

#include "bench/csv_data.h"
#include "bench/scoring.h"
#include "learner/boosted/presets.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

double UnitNormal(Random& random) {
    const auto uniform = [&] {
        return (static_cast<double>(random.Next64() >> 11) + 0.5) / 9007199254740992.0;
    };
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::acos(-1.0) * uniform());
}

// [DPXGB] C.2.1: labels by interactions of three normal features, of which models get only the values. The
// public ranges are five deviations.
EncodedTable Simulate(int problem) {
    ChaChaSource source(ChaChaSource::Seed{static_cast<unsigned char>(problem), 91});
    Random random(source);
    const double means[] = {1, -5, -2}, variances[] = {25, 8, 7};
    EncodedTable table;
    std::vector<Encoder> encoders;
    for (int j = 0; j < 3; j++) {
        const double width = 5 * std::sqrt(variances[j]);
        table.features.push_back(NumericFeature("x" + std::to_string(j + 1), means[j] - width,
                                                means[j] + width, Scale::kLinear, 254));
        encoders.emplace_back(table.features.back());
    }
    for (int row = 0; row < 10000; row++) {
        double x[3];
        for (int j = 0; j < 3; j++) {
            x[j] = means[j] + std::sqrt(variances[j]) * UnitNormal(random);
            table.codes.push_back(encoders[static_cast<size_t>(j)].Number(x[j]));
        }
        double score = x[0] * x[1] + x[0] * x[2] + x[1] * x[2] + x[0] * x[1] * x[2];
        if (problem == 2)
            score += x[0] + x[1] + x[2];
        table.values.push_back(score > 0);
    }
    return table;
}

struct Line {
    std::string data;
    std::string preset;
    double goal;  // AUC; 0: none
    uint32_t trees = 0;
};

std::vector<Line> Lines() {
    return {{"adult", "dp_ebm", 0.904},      {"adult", "dp_tr_ih_ebm", 0.904},
            {"adult", "dp_tr_batch", 0},     {"adult", "dp_tr_ih", 0},
            {"adult", "dp_tr", 0},           {"adult", "dp_rf", 0.870},
            {"adult", "dp_pr", 0},           {"adult", "feverless", 0.833},
            {"adult", "dp_xgb", 0.890},      {"adult", "dp_xgb_cyclic", 0},
            {"problem1", "dp_xgb", 0, 20},   {"problem1", "dp_tr", 0, 20},
            {"problem1", "dp_tr_ih", 0, 20}, {"problem2", "dp_xgb", 0, 20},
            {"problem2", "dp_tr", 0, 20},    {"problem2", "dp_tr_ih", 0, 20},
            {"abalone", "dp_ebm", 0},        {"abalone", "dp_tr_ih_ebm", 0},
            {"abalone", "dp_tr", 0},         {"abalone", "dp_tr_batch", 0},
            {"abalone", "dp_rf", 0},         {"abalone", "feverless", 0},
            {"abalone", "dp_xgb", 0}};
}

constexpr const MethodInfo* kMethods[] = {&kDpTr, &kDpTrIh, &kDpTrIhEbm, &kDpTrBatch, &kDpEbm,
                                          &kDpRf, &kDpPr,   &kFeverless, &kDpXgb,     &kDpXgbCyclic};

// key=value, to try other settings.
GivenOption Parse(const std::string& pair) {
    const size_t split = pair.find('=');
    const std::string key = pair.substr(0, split), value = pair.substr(split + 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    return *end == 0 ? Given(key.c_str(), number) : Given(key.c_str(), value.c_str());
}

std::unique_ptr<Learner> Make(const Line& line, const EncodedTable& table, double epsilon,
                              std::vector<GivenOption> given) {
    if (line.trees > 0)
        given.insert(given.begin(), Given("trees", line.trees));
    for (const MethodInfo* method : kMethods)
        if (line.preset == method->name)
            return method->make(*method, {table.features, table.target, epsilon, 0}, given);
    throw Error(ErrorCode::kInvalidParameter, "unknown method " + line.preset);
}

// One random split; also adds the CPU time of the training.
double Run(const EncodedTable& table, const Learner& learner, double epsilon, unsigned char run,
           double* seconds) {
    ChaChaSource source(ChaChaSource::Seed{run, 78});
    Random random(source);
    std::vector<uint32_t> order(table.rows());
    random.Permutation(order.data(), order.size());
    const auto middle = order.begin() + static_cast<long>(order.size() * 7 / 10);
    const std::vector<uint32_t> train(order.begin(), middle), test(middle, order.end());
    const Dataset dataset = table.Build(train);
    const auto start = std::clock();
    Plan plan = PlanOf(learner, epsilon, 1.0 / static_cast<double>(train.size()));
    ExactNoise noise(random);
    const Model model = TrainLearner(learner, dataset, plan, random, noise);
    *seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return Score(table.target.task(), PredictRows(model, table, test));
}

void Report(const EncodedTable& table, const Line& line, const Learner& learner, double epsilon, int runs) {
    double sum = 0, squares = 0, seconds = 0;
    for (int run = 0; run < runs; run++) {
        const double auc = Run(table, learner, epsilon, static_cast<unsigned char>(run + 1), &seconds);
        sum += auc;
        squares += auc * auc;
    }
    const double mean = sum / runs;
    const double deviation = std::sqrt(std::max(0.0, squares / runs - mean * mean));
    const Footprint footprint = learner.footprint(false);
    std::printf("%-9s %-14s %4u trees, depth %u  %s %.4f (%.4f)  %.2f s", line.data.c_str(),
                line.preset.c_str(), static_cast<unsigned>(footprint.trees), footprint.depth,
                table.target.task() == Task::kBinary ? "AUC " : "RMSE", mean, deviation, seconds / runs);
    if (line.goal > 0)
        std::printf("  goal %.3f %s", line.goal, mean >= line.goal ? "reached" : "MISSED");
    std::printf("\n");
    std::fflush(stdout);
}

void RunAll(const Arguments& arguments) {
    const auto& [runs, only, pairs] = arguments;
    double epsilon = 1;
    std::vector<GivenOption> given;
    for (const std::string& pair : pairs) {
        const GivenOption option = Parse(pair);
        if (option.key == "epsilon")
            epsilon = option.number;
        else
            given.push_back(option);
    }
    std::string loaded;
    EncodedTable table;
    for (const Line& line : Lines()) {
        if ((line.data + " " + line.preset + " ").find(only) == std::string::npos)
            continue;
        const char* rows = std::getenv("ADULT_ROWS");  // "adult": all 48,842
        if (loaded != line.data)
            table = line.data == "adult"     ? LoadTable(rows != nullptr ? rows : "adult_complete")
                    : line.data == "abalone" ? LoadTable("abalone")
                                             : Simulate(line.data.back() - '0');
        loaded = line.data;
        Report(table, line, *Make(line, table, epsilon, given), epsilon, runs);
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::Guarded([&] { dpboost::RunAll(dpboost::ReadArguments(argc, argv, 15)); });
}
