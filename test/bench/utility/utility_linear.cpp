// Accuracy and time of methods adassp ([ADASSP]) and pure_trees ([DPBOOST]): mean and
// standard deviation over runs, a run being one random 70/30 split. adassp: Adult, all 48,842 rows, F1 and
// AUC at delta 1/n; pure_trees: Abalone, RMSE in rings, delta 0.
//     utility_linear                                             15 runs of everything
//     utility_linear 5 "adassp_logistic"                         5 runs of the lines that contain that
//     utility_linear 5 "pure_trees " depth=4 learning_rate=0.3   ... with other settings
//     utility_linear 3 speed                                     time of adassp's 1000 rounds on Adult
// Ranges and levels are the datasets' documented ones, never those of rows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <numeric>

#include "bench/csv_data.h"
#include "bench/scoring.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

using Settings = std::map<std::string, double>;

struct Split {
    std::vector<uint32_t> train, test;
};

struct Scores {
    double first = 0;   // F1, or RMSE
    double second = 0;  // AUC
    double seconds = 0;
};

Split Shuffle(const EncodedTable& table, Random& random) {
    std::vector<uint32_t> order(table.rows());
    random.Permutation(order.data(), order.size());
    const auto middle = order.begin() + static_cast<long>(order.size() * 7 / 10);
    return {{order.begin(), middle}, {middle, order.end()}};
}

template <typename Value>
void Take(const Settings& settings, const char* name, Value* value) {
    const auto found = settings.find(name);
    if (found != settings.end())
        *value = static_cast<Value>(found->second);
}

constexpr const MethodInfo* kLinearMethods[] = {&kAdassp, &kAdasspLogistic, &kAdasspHinge};

AdasspOptions Adassp(const std::string& preset, const Settings& settings) {
    AdasspOptions o;
    o.loss = preset == kAdassp.name           ? ObjectiveKind::kSquared
             : preset == kAdasspLogistic.name ? ObjectiveKind::kLogistic
                                              : ObjectiveKind::kHinge;
    Take(settings, "rounds", &o.rounds);
    Take(settings, "eta", &o.learning_rate);
    Take(settings, "clip", &o.gradient_clip);
    Take(settings, "a", &o.product_weight);
    Take(settings, "b", &o.gradient_weight);
    Take(settings, "ridge", &o.ridge);
    Take(settings, "intervals", &o.intervals);
    Take(settings, "average", &o.average);
    return o;
}

constexpr const MethodInfo* kPureMethods[] = {&kPureTrees, &kPureSums, &kPureSeq, &kPurePara};

Model TrainPure(const std::string& name, const Dataset& dataset, double epsilon, const Settings& settings,
                Random& random, NoiseSource& noise) {
    std::vector<GivenOption> given;
    for (const auto& [key, value] : settings)
        given.push_back(Given(key.c_str(), value));
    for (const MethodInfo* method : kPureMethods)
        if (name == method->name)
            return TrainWith(*method, dataset, epsilon, 0, given, random, noise);
    throw Error(ErrorCode::kInvalidParameter, "unknown method " + name);
}

Scores Run(const EncodedTable& table, const std::string& preset, double epsilon, const Settings& settings,
           unsigned char run) {
    ChaChaSource source(ChaChaSource::Seed{run, 79});
    Random random(source);
    const Split split = Shuffle(table, random);
    const Dataset dataset = table.Build(split.train);
    ExactNoise noise(random);
    NoInterrupt interrupt;
    NoProgress progress;
    const bool linear = preset.rfind("adassp", 0) == 0;
    const std::clock_t start = std::clock();
    const Model model = [&] {
        if (linear) {
            const AdasspLearner learner(Adassp(preset, settings), dataset.features(), dataset.target());
            Plan plan = PlanOf(learner, epsilon, 1.0 / static_cast<double>(split.train.size()));
            return TrainLearner(learner, dataset, plan, random, noise);
        }
        return TrainPure(preset, dataset, epsilon, settings, random, noise);
    }();
    Scores scores;
    scores.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const Predictions rows = PredictRows(model, table, split.test);
    scores.first = linear ? F1(rows.predicted, rows.values) : Rmse(rows.predicted, rows.values);
    scores.second = linear ? Auc(rows.predicted, rows.values) : 0;
    return scores;
}

struct Mean {
    double sum = 0, squares = 0;
    int count = 0;
    void Add(double x) {
        sum += x;
        squares += x * x;
        count++;
    }
    double mean() const { return sum / count; }
    double deviation() const { return std::sqrt(std::max(0.0, squares / count - mean() * mean())); }
};

void Report(const EncodedTable& table, const std::string& preset, double epsilon, const Settings& settings,
            int runs) {
    Mean first, second, seconds;
    for (int run = 0; run < runs; run++) {
        const Scores scores = Run(table, preset, epsilon, settings, static_cast<unsigned char>(run + 1));
        first.Add(scores.first);
        second.Add(scores.second);
        seconds.Add(scores.seconds);
    }
    if (preset.rfind("adassp", 0) == 0)
        std::printf("adult    %-16s epsilon %-5g F1 %.4f (%.4f)  AUC %.4f (%.4f)  %.2f s\n", preset.c_str(),
                    epsilon, first.mean(), first.deviation(), second.mean(), second.deviation(),
                    seconds.mean());
    else
        std::printf("abalone  %-16s epsilon %-5g RMSE %.3f (%.3f)  %.2f s\n", preset.c_str(), epsilon,
                    first.mean(), first.deviation(), seconds.mean());
    std::fflush(stdout);
}

// The least time of 1000 rounds over all of Adult, calibration included.
void Speed(int runs) {
    const EncodedTable table = LoadTable("adult");
    std::vector<uint32_t> all(table.rows());
    std::iota(all.begin(), all.end(), 0);
    const Dataset dataset = table.Build(all);
    for (const MethodInfo* method : kLinearMethods) {
        double best = 1e9;
        for (int run = 0; run < runs; run++) {
            ChaChaSource source(ChaChaSource::Seed{static_cast<unsigned char>(run), 80});
            Random random(source);
            ExactNoise noise(random);
            const std::clock_t start = std::clock();
            TrainWith(*method, dataset, 1, 1e-6, {Given("rounds", 1000)}, random, noise);
            best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        }
        std::printf("adult    %-16s 1000 rounds, %zu rows: %.3f s of processor time (aim 0.5)\n",
                    method->name, dataset.rows(), best);
    }
}

void RunAll(const Arguments& arguments) {
    const auto& [runs, only, pairs] = arguments;
    Settings settings;
    for (const std::string& pair : pairs) {
        const size_t split = pair.find('=');
        settings[pair.substr(0, split)] = std::atof(pair.c_str() + split + 1);
    }
    if (only.empty() || only == "speed")
        Speed(std::min(runs, 3));
    EncodedTable table;
    for (const bool linear : {true, false}) {
        std::vector<std::string> names;
        if (linear)
            for (const MethodInfo* method : kLinearMethods)
                names.emplace_back(method->name);
        else
            for (const MethodInfo* method : kPureMethods)
                names.emplace_back(method->name);
        bool loaded = false;
        for (const std::string& name : names) {
            const std::vector<double> epsilons =
                linear ? std::vector<double>{0.1, 1} : std::vector<double>{1, 2, 4, 8};
            for (const double epsilon : epsilons) {
                char title[64];
                std::snprintf(title, sizeof(title), "%s %g ", name.c_str(), epsilon);
                if (std::strstr(title, only.c_str()) == nullptr)
                    continue;
                if (!loaded)
                    table = LoadTable(linear ? "adult" : "abalone");
                loaded = true;
                Report(table, name, epsilon, settings, runs);
            }
        }
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::Guarded([&] { dpboost::RunAll(dpboost::ReadArguments(argc, argv, 15)); });
}
