// Trainings that three parties do together, in one process (60, 30 and 10 % of Adult; t = 1): exchanges, bytes that a party
// sends, accuracy beside one server's, and seconds with a link that takes 0, 1 and 50 ms there and back. `federation.sh` measures
// real servers. usage: federation_bench [RUNS]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench/csv_data.h"
#include "bench/scoring.h"
#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "learner/methods.h"
#include "model/predictor.h"
#include "support/parties.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;

struct Split {
    std::vector<uint32_t> test;
    std::vector<uint32_t> train;
};

Split Shuffled(const EncodedTable& table, unsigned char run) {
    ChaChaSource source = TestSource(static_cast<unsigned char>(100 + run));
    Random random(source);
    std::vector<uint32_t> order(table.rows());
    random.Permutation(order.data(), order.size());
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 5);
    return {{order.begin(), middle}, {middle, order.end()}};
}

double AucOf(const EncodedTable& table, const Model& model, const std::vector<uint32_t>& test) {
    Predictor predictor(model);
    std::vector<double> scores, labels;
    for (const uint32_t row : test) {
        scores.push_back(predictor.Predict(table.Row(row)));
        labels.push_back(table.values[row]);
    }
    return Auc(scores, labels);
}

struct Outcome {
    double auc = 0;
    size_t exchanges = 0;
    size_t bytes = 0;
    double seconds = 0;
};

Outcome Together(const EncodedTable& table, const Split& split, const MethodInfo& method, double epsilon,
                 const std::vector<GivenOption>& given, int delay_ms, unsigned char run) {
    const TestFederation federation(3, 1);
    const size_t rows = split.train.size(), first = rows * 6 / 10, second = rows * 9 / 10;
    std::vector<Dataset> parts;
    for (const auto& [from, to] : {std::pair<size_t, size_t>{0, first}, {first, second}, {second, rows}})
        parts.push_back(table.Build({split.train.begin() + static_cast<std::ptrdiff_t>(from),
                                     split.train.begin() + static_cast<std::ptrdiff_t>(to)}));
    MemoryExchange exchange(4);
    exchange.delay_ms = delay_ms;
    TogetherOptions options;
    options.seed = run;
    Outcome outcome;
    options.keep = [&](size_t server, const Model& model) {
        if (server == 0)
            outcome.auc = AucOf(table, model, split.test);
    };
    const auto start = std::chrono::steady_clock::now();
    TrainTogether(federation, method, parts, epsilon, kDelta, given, exchange, options);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.exchanges = exchange.totals.size();
    for (const auto& total : exchange.totals)
        outcome.bytes += 8 * total.size();
    return outcome;
}

double Central(const EncodedTable& table, const Split& split, const MethodInfo& method, double epsilon,
               const std::vector<GivenOption>& given, unsigned char run) {
    ChaChaSource source = TestSource(run);
    Random random(source);
    ExactNoise noise(random);
    return AucOf(table, TrainWith(method, table.Build(split.train), epsilon, kDelta, given, random, noise),
                 split.test);
}

void Measure(const EncodedTable& table, const char* name, const MethodInfo& method, double epsilon,
             const std::vector<GivenOption>& given, int runs, bool delays) {
    double together = 0, central = 0;
    Outcome last;
    for (int run = 0; run < runs; ++run) {
        const Split split = Shuffled(table, static_cast<unsigned char>(run));
        last = Together(table, split, method, epsilon, given, 0, static_cast<unsigned char>(run + 1));
        together += last.auc / runs;
        central += Central(table, split, method, epsilon, given, static_cast<unsigned char>(run + 1)) / runs;
    }
    std::printf("%-24s epsilon %-4g  %5zu exchanges  %7.1f kB up  AUC %.4f (one server %.4f)  %.2f s", name,
                epsilon, last.exchanges, static_cast<double>(last.bytes) / 1000, together, central,
                last.seconds);
    if (delays)
        for (const int delay : {1, 50})
            std::printf(", %d ms link %.2f s", delay,
                        Together(table, Shuffled(table, 0), method, epsilon, given, delay, 1).seconds);
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 4;
    const EncodedTable table = LoadTable("adult");
    Measure(table, "auto", kAuto, 0.1, {}, runs, true);
    Measure(table, "auto", kAuto, 0.5, {}, runs, false);
    Measure(table, "auto", kAuto, 1, {}, runs, true);
    Measure(table, "sbdt", kSbdt, 0.1, {}, 1, false);
    Measure(table, "sbdt, 1000 trees", kSbdt, 1, {Given("trees", 1000), Given("depth", 6)}, 1, false);
    Measure(table, "sbdt, in batches of 10", kSbdt, 1,
            {Given("trees", 1000), Given("depth", 6), Given("batch", 10)}, 1, true);
    Measure(table, "adassp", *AllMethods().Find("adassp_logistic"), 0.1, {}, 1, false);
    return 0;
}
