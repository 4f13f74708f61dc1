// Accuracy of method sbdt on public data with the settings of its paper, at delta 5e-8 and valid noise:
// 5-fold cross-validation, mean and standard error over runs (a run is one shuffle into folds), against the
// paper's figures.
//     utility                 3 runs of everything
//     utility 100             100 runs
//     utility 100 paper       100 runs of the lines whose title (settings/data/epsilon) contains "paper"
//     utility 10 adult eta=0.2     10 runs of the Adult lines with another learning rate
// Ranges and levels are the datasets' documented ones, never those of rows. Like the paper's grid search,
// settings that the paper does not publish were chosen on these same datasets (runs with the seeds 1 to 10;
// figures are printed for fresh shuffles and noise from kFirstSeed on), so they show what the method can
// reach, not what it does on unseen data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "bench/csv_data.h"
#include "bench/scoring.h"
#include "learner/boosted/sbdt.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 5e-8;
constexpr int kFolds = 5;
constexpr int kFirstSeed = 1000;

struct Line {
    const char* settings;
    const char* data;
    double epsilon;
    double goal;
    SbdtOptions options;
};

// One run: the mean of the metric over the folds.
double CrossValidate(const EncodedTable& table, const Line& line, int seed) {
    ChaChaSource source(
        ChaChaSource::Seed{static_cast<unsigned char>(seed), static_cast<unsigned char>(seed >> 8), 77});
    Random random(source);
    std::vector<uint32_t> order(table.rows());
    random.Permutation(order.data(), order.size());
    double total = 0;
    for (size_t fold = 0; fold < kFolds; fold++) {
        std::vector<uint32_t> train, test;
        for (size_t i = 0; i < order.size(); i++)
            (i % kFolds == fold ? test : train).push_back(order[i]);
        const Dataset dataset = table.Build(train);
        const SbdtLearner learner(line.options);
        Plan plan = PlanOf(learner, line.epsilon, kDelta);
        ExactNoise noise(random);
        const Model model = TrainLearner(learner, dataset, plan, random, noise);
        total += Score(table.target.task(), PredictRows(model, table, test));
    }
    return total / kFolds;
}

// Name=value pairs from the command line, to try other settings.
void Override(SbdtOptions* o, const std::string& name, double value) {
    if (name == "trees")
        o->trees = static_cast<uint32_t>(value);
    else if (name == "depth")
        o->depth = static_cast<int>(value);
    else if (name == "eta")
        o->learning_rate = value;
    else if (name == "gamma")
        o->subsample = value;
    else if (name == "g")
        o->gradient_clip = value;
    else if (name == "h")
        o->hessian_clip = value;
    else if (name == "r1")
        o->hessian_share = value;
    else if (name == "init")
        o->initial_share = value;
    else if (name == "lambda")
        o->l2 = value;
    else if (name == "beta")
        o->leaf_clip = value;
    else if (name == "cyclic")
        o->features = value != 0 ? FeatureSchedule::kCyclic : FeatureSchedule::kAny;
    else if (name == "extra")
        o->extra_rounds = static_cast<uint32_t>(value);
    else
        throw Error(ErrorCode::kInvalidParameter, "unknown option " + name);
}

// Published: trees, depth, gamma, r1, clips and the initial share of Abalone at 0.105 and Adult at 0.02
// ([SBDT] Fig. 4). Learning rate and lambda are only given as ranges, and the other epsilons as results;
// those were chosen here.
std::vector<Line> PaperLines() {
    SbdtOptions abalone(Task::kRegression, 0.1);  // [SBDT] Fig. 4
    abalone.trees = 150;
    abalone.depth = 2;
    abalone.subsample = 0.1;
    abalone.hessian_share = 0.2;
    abalone.initial_share = 0.1;
    abalone.gradient_clip = 0.1;
    abalone.learning_rate = 0.1;
    abalone.l2 = 15;
    SbdtOptions abalone_weaker = abalone;  // chosen here, within the paper's ranges
    abalone_weaker.trees = 300;
    abalone_weaker.depth = 3;
    SbdtOptions adult(Task::kBinary, 0.02);  // [SBDT] Fig. 4
    adult.trees = 200;
    adult.depth = 5;
    adult.subsample = 0.005;
    adult.hessian_share = 0.1;
    adult.initial_share = 0;
    adult.gradient_clip = 0.5;
    adult.hessian_clip = 0.1;
    adult.learning_rate = 0.1;
    adult.l2 = 10;
    SbdtOptions spambase = adult;  // chosen here, within the paper's ranges
    spambase.gradient_clip = 0.3;
    spambase.l2 = 15;
    return {{"paper settings", "abalone", 0.105, 2.745, abalone},
            {"paper settings", "abalone", 0.25, 2.64, abalone_weaker},
            {"paper settings", "adult_complete", 0.02, 0.825, adult},
            {"paper settings", "adult_complete", 0.053, 0.853, adult},
            {"paper settings", "spambase", 0.02, 0.79, spambase}};
}

// One recipe for all data and epsilons, against S-BDT tuned for each. Its ramps were set
// with these datasets in view.
std::vector<Line> DefaultLines() {
    const auto line = [](const char* data, double epsilon, double goal) {
        const Task task = std::strcmp(data, "abalone") == 0 ? Task::kRegression : Task::kBinary;
        return Line{"defaults", data, epsilon, goal, SbdtOptions(task, epsilon)};
    };
    return {line("abalone", 0.05, 2.885), line("abalone", 0.105, 2.745), line("abalone", 0.25, 2.638),
            line("abalone", 0.5, 2.576),  line("abalone", 1, 2.549),     line("adult", 0.01, 0.817),
            line("adult", 0.02, 0.851),   line("adult", 0.053, 0.876),   line("adult", 0.1, 0.886),
            line("adult", 0.5, 0.897),    line("adult", 1, 0.901),       line("spambase", 0.02, 0.79),
            line("spambase", 0.1, 0.925), line("spambase", 0.5, 0.959),  line("spambase", 1, 0.965)};
}

void Report(const EncodedTable& table, const Line& line, int runs) {
    double sum = 0, squares = 0;
    for (int run = 0; run < runs; run++) {
        const double value = CrossValidate(table, line, kFirstSeed + run);
        sum += value;
        squares += value * value;
    }
    const double mean = sum / runs;
    const double error = runs > 1 ? std::sqrt(std::max(0.0, squares / runs - mean * mean) / (runs - 1)) : 0;
    const bool lower_is_better = line.options.task == Task::kRegression;
    const double shortfall = lower_is_better ? mean - line.goal : line.goal - mean;
    std::printf("%-15s %-15s epsilon %-6g %s %.4f +- %.4f   S-BDT %.4g   %s\n", line.settings, line.data,
                line.epsilon, lower_is_better ? "RMSE" : "AUC ", mean, error, line.goal,
                shortfall <= 0           ? "better"
                : shortfall <= 2 * error ? "within two standard errors"
                                         : "WORSE");
    std::fflush(stdout);
}

void RunAll(const Arguments& arguments) {
    const auto& [runs, only, pairs] = arguments;
    std::string loaded;
    EncodedTable table;
    std::vector<Line> lines = PaperLines();
    for (const Line& line : DefaultLines())
        lines.push_back(line);
    for (Line& line : lines) {
        char title[80];
        std::snprintf(title, sizeof(title), "%s/%s/%g", line.settings, line.data, line.epsilon);
        if (std::strstr(title, only.c_str()) == nullptr)
            continue;
        for (const std::string& pair : pairs) {
            const size_t split = pair.find('=');
            Override(&line.options, pair.substr(0, split), std::atof(pair.c_str() + split + 1));
        }
        if (loaded != line.data)
            table = LoadTable(loaded = line.data);
        Report(table, line, runs);
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::Guarded([&] { dpboost::RunAll(dpboost::ReadArguments(argc, argv, 3)); });
}
