// How well a private evaluation tells what a model is worth: models of `auto`, evaluated many times on rows drawn anew
// with replacement. Error against the exact figure of the same rows; how many of the 95 % intervals hold the figure of
// all rows. And what a hold-out costs the model.
//     utility_evaluate             200 evaluations of every line
//     utility_evaluate 20          20 of them
//     utility_evaluate 20 holdout  lines whose title contains "holdout"
// Beside the title stands what the error should be at the most.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "bench/csv_data.h"
#include "learner/auto/auto.h"
#include "learner/evaluation/evaluation.h"
#include "learner/evaluation/exact_metrics.h"
#include "mechanism/chacha_source.h"
#include "model/predictor.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;

ChaChaSource SourceOf(uint32_t a, uint32_t b) {
    ChaChaSource::Seed seed{};
    std::memcpy(seed.data(), &a, sizeof a);
    std::memcpy(seed.data() + 4, &b, sizeof b);
    return ChaChaSource(std::move(seed));
}

std::vector<uint32_t> AllRows(const EncodedTable& table) {
    std::vector<uint32_t> rows(table.values.size());
    for (size_t i = 0; i < rows.size(); i++)
        rows[i] = static_cast<uint32_t>(i);
    return rows;
}

// All rows, but of the positives only so many that they are 2 %.
std::vector<uint32_t> RarePositives(const EncodedTable& table) {
    std::vector<uint32_t> rows;
    double positives = 0, negatives = 0;
    for (size_t i = 0; i < table.values.size(); i++)
        negatives += table.values[i] > 0.5 ? 0 : 1;
    for (size_t i = 0; i < table.values.size(); i++) {
        if (table.values[i] > 0.5 && ++positives > negatives * 0.02 / 0.98)
            continue;
        rows.push_back(static_cast<uint32_t>(i));
    }
    return rows;
}

std::map<std::string, double> Exact(const Model& model, const EncodedTable& table,
                                    const std::vector<uint32_t>& rows) {
    Predictor predictor(model);
    ExactClassMetrics classes;
    ExactValueMetrics values;
    for (uint32_t row : rows) {
        const double prediction = predictor.Predict(table.Row(row));
        if (model.target().task() == Task::kBinary)
            classes.Add(prediction, table.values[row] > 0.5);
        else
            values.Add(prediction, table.values[row]);
    }
    NoInterrupt interrupt;
    std::map<std::string, double> exact;
    for (const Figure& figure :
         model.target().task() == Task::kBinary ? classes.Figures(interrupt) : values.Figures())
        exact[figure.name] = figure.value.value_or(std::nan(""));
    return exact;
}

struct Tally {
    int known = 0, runs = 0, covered = 0;
    double error = 0, squares = 0, reach = 0;
};

struct Line {
    const char* name;
    const char* data;
    bool rare;
    size_t rows;
    double epsilon;
    const char* aim;
};

const Line kLines[] = {
    {"adult", "adult", false, 2000, 1, ""},
    {"adult", "adult", false, 10000, 0.1, "auc .026"},
    {"adult", "adult", false, 10000, 0.5, "auc .007"},
    {"adult", "adult", false, 45000, 0.1, "auc .008"},
    {"adult", "adult", false, 45000, 0.5, "auc .004"},
    {"adult, 2 % positives", "adult", true, 37000, 0.5, "auc .016"},
    {"abalone", "abalone", false, 4177, 0.5, "rmse .08"},
    {"abalone", "abalone", false, 4177, 1, ""},
    {"abalone", "abalone", false, 20000, 0.1, ""},
};

std::string TitleOf(const Line& line) {
    char title[128];
    std::snprintf(title, sizeof title, "%s, %zu rows, epsilon %g", line.name, line.rows, line.epsilon);
    return title;
}

void RunLine(const Line& line, int runs) {
    const EncodedTable table = LoadTable(line.data);
    const std::vector<uint32_t> all = line.rare ? RarePositives(table) : AllRows(table);
    ChaChaSource source = SourceOf(14, 1);
    Random random(source);
    ExactNoise noise(random);
    const Dataset train = table.Build(all);
    const Model model = TrainWith(kAuto, train, 1, kDelta, {}, random, noise);
    const std::map<std::string, double> truth = Exact(model, table, all);
    std::map<std::string, Tally> tallies;
    std::vector<std::string> names;
    NoInterrupt interrupt;
    for (int run = 0; run < runs; run++) {
        std::vector<uint32_t> rows;
        for (size_t i = 0; i < line.rows; i++)
            rows.push_back(all[random.Below(all.size())]);
        MechanismRequest request = EvaluationRequest(model.target());
        request.share = 1;
        Plan plan = Plan::Calibrate({line.epsilon, kDelta, {request}, {}, {}});
        Releaser releaser(plan, noise);
        const Evaluation evaluation =
            Evaluate(model, static_cast<double>(line.rows), table.Build(rows), releaser, interrupt);
        const std::map<std::string, double> exact = Exact(model, table, rows);
        for (const Figure& figure : evaluation.figures) {
            if (run == 0)
                names.push_back(figure.name);
            Tally& tally = tallies[figure.name];
            const double population =
                figure.name == "rows" ? static_cast<double>(line.rows) : truth.at(figure.name);
            tally.runs++;
            tally.covered += figure.lower <= population && population <= figure.upper;
            if (!figure.value)
                continue;
            const double error = *figure.value - exact.at(figure.name);
            tally.known++;
            tally.error += error;
            tally.squares += error * error;
            tally.reach += (figure.upper - figure.lower) / 2;
        }
    }
    std::printf("%s   (aim: %s)\n", TitleOf(line).c_str(), line.aim);
    for (const std::string& name : names) {
        const Tally& tally = tallies[name];
        const double n = tally.known;
        std::printf(
            "  %-18s exact %8.4f  known %5.3f  bias %+9.5f  rms error %9.5f  +- %8.4f  covers %5.3f\n",
            name.c_str(), name == "rows" ? static_cast<double>(line.rows) : truth.at(name), n / tally.runs,
            tally.error / n, std::sqrt(tally.squares / n), tally.reach / n,
            static_cast<double>(tally.covered) / tally.runs);
    }
    std::fflush(stdout);
}

// AUC on rows that neither model has seen, with all and with 4/5 of the others to train on.
void RunHoldout(const char* data, double epsilon, int runs) {
    const EncodedTable table = LoadTable(data);
    double difference = 0, squares = 0, whole = 0;
    for (int run = 0; run < runs; run++) {
        ChaChaSource source = SourceOf(15, static_cast<uint32_t>(run));
        Random random(source);
        ExactNoise noise(random);
        std::vector<uint32_t> order(table.values.size());
        random.Permutation(order.data(), order.size());
        const auto fifth = static_cast<std::ptrdiff_t>(order.size() / 5);
        const std::vector<uint32_t> test(order.begin(), order.begin() + fifth);
        const std::vector<uint32_t> train(order.begin() + fifth, order.end());
        const std::vector<uint32_t> less(train.begin() + static_cast<std::ptrdiff_t>(train.size() / 5),
                                         train.end());
        const auto auc = [&](const std::vector<uint32_t>& rows) {
            const Model model = TrainWith(kAuto, table.Build(rows), epsilon, kDelta, {}, random, noise);
            return Exact(model, table, test).at("auc");
        };
        const double all = auc(train);
        const double lost = all - auc(less);
        whole += all / runs;
        difference += lost / runs;
        squares += lost * lost / runs;
    }
    std::printf("holdout 0.2, %s, epsilon %g: auc %.4f, it costs %.4f +- %.4f   (aim: .002 at 1)\n", data,
                epsilon, whole, difference,
                std::sqrt(std::max(0.0, squares - difference * difference) / runs));
    std::fflush(stdout);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 200;
    const std::string filter = argc > 2 ? argv[2] : "";
    for (const Line& line : kLines)
        if (TitleOf(line).find(filter) != std::string::npos)
            RunLine(line, runs);
    if (std::string("holdout").find(filter) != std::string::npos)
        for (const double epsilon : {0.1, 1.0})
            RunHoldout("adult", epsilon, std::max(2, runs / 20));
}
