// What halving and doubling each number of `auto` does (src/learner/auto/numbers.inc), on the same folds as without it.
//     utility_sensitivity                   one run of everything: about half an hour of one core
//     utility_sensitivity 3 score_clip,sampling    three runs of some numbers
//     utility_sensitivity 3 part=1/2        of every other number, to share the work
// A line is a number's name and the text for its list: what changed by more than three standard errors (over folds), in
// thousandths of AUC or accuracy, per mille of RMSE or quantile loss, or thousandths of log loss where the order of rows
// stays; more is better. Where models are the same bit for bit in the first fold, the others are not trained. Besides the six
// public tables there is one of each kind of training that has numbers of its own.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "bench/scoring.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 5e-8;
constexpr size_t kFolds = 5;
constexpr double kSigmas = 3, kLeastShown = 0.1;

enum class Kind { kPlain, kQuantile, kIntervals, kCounts, kServers, kUpdate };

struct Case {
    std::string name;  // as it is printed
    EncodedTable table;
    Kind kind;
    std::vector<double> epsilons;
};

// Of one fold; loss is that of probabilities, 0 where there are none.
struct Quality {
    double score = 0, loss = 0;
    bool operator==(const Quality& other) const { return score == other.score && loss == other.loss; }
};

EncodedTable WithTarget(EncodedTable table, const TargetSpec& target) {
    table.target = target;
    return table;
}

// Five ranges of the value instead of the value.
EncodedTable InClasses(EncodedTable table) {
    std::vector<std::string> classes;
    for (int k = 0; k < 5; k++)
        classes.push_back(std::to_string(k));
    const double width = table.target.upper() / 5;
    for (double& value : table.values)
        value = std::clamp(std::floor(value / width), 0.0, 4.0);
    table.target = TargetSpec::Classes(classes);
    return table;
}

std::vector<Case> Cases() {
    const EncodedTable california = LoadNamed("california_housing"), abalone = LoadNamed("abalone");
    const EncodedTable magic = LoadNamed("magic"), adult = LoadNamed("adult");
    return {
        {"Magic", magic, Kind::kPlain, {0.1, 1, 4}},
        {"Credit", LoadNamed("credit2"), Kind::kPlain, {1}},
        {"California", california, Kind::kPlain, {0.1, 4}},
        {"Adult", adult, Kind::kPlain, {0.1}},
        {"Spambase", LoadNamed("spambase"), Kind::kPlain, {0.1, 1}},
        {"Abalone", abalone, Kind::kPlain, {0.1, 1}},
        {"Xor3", LoadNamed("xor3"), Kind::kPlain, {1}},
        {"Rare", LoadNamed("rare1"), Kind::kPlain, {1}},
        {"Noise columns", LoadNamed("magic+100noise"), Kind::kPlain, {1}},
        {"Wide target", LoadNamed("california_housing/target*1000"), Kind::kPlain, {1}},
        {"Logarithm", WithTarget(california, TargetSpec::Logarithmic(0, 500.001)), Kind::kPlain, {1}},
        {"Classes", InClasses(california), Kind::kPlain, {0.1}},
        {"Quantile", abalone, Kind::kQuantile, {0.1}},
        {"Intervals", abalone, Kind::kIntervals, {1}},
        {"Counts", abalone, Kind::kCounts, {1}},
        {"Servers", magic, Kind::kServers, {1}},
        {"Update", adult, Kind::kUpdate, {0.02}},
    };
}

AutoOptions OptionsOf(const Case& one, const std::vector<NumberChange>& changes) {
    AutoOptions options;
    options.objective = one.kind == Kind::kQuantile ? ObjectiveKind::kQuantile
                        : one.kind == Kind::kCounts ? ObjectiveKind::kPoisson
                                                    : DefaultObjective(one.table.target.task());
    options.quantile = 0.9;
    options.intervals = one.kind == Kind::kIntervals;
    options.changes = changes;
    return options;
}

// Into the model, which may be one that is continued.
void Train(const AutoOptions& options, const Case& one, const std::vector<uint32_t>& rows, double epsilon,
           Random& random, Model* model) {
    const AutoLearner learner(options, one.table.target);
    Plan plan = PlanOf(learner, epsilon, kDelta);
    ExactNoise noise(random);
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    NoProgress progress;
    NoInterrupt interrupt;
    const Dataset dataset = one.table.Build(rows);
    Run run{dataset, releaser, structure, coins, *model, progress, interrupt, {}};
    run.across_servers = one.kind == Kind::kServers;
    learner.Train(run);
    Evidence evidence = model->evidence();
    evidence.noise = NoiseKind::kGaussian;
    evidence.mu = std::hypot(evidence.mu, 1 / plan.NoiseMultiplier(plan.Find(AutoLearner::kMechanism)));
    model->SetEvidence(std::move(evidence));
}

double QuantileLoss(const Predictions& rows, double tau) {
    double loss = 0;
    for (size_t i = 0; i < rows.values.size(); i++) {
        const double above = rows.values[i] - rows.predicted[i];
        loss += std::max(tau * above, (tau - 1) * above) / static_cast<double>(rows.values.size());
    }
    return loss;
}

Quality OneFold(const Case& one, double epsilon, int run, size_t fold,
                const std::vector<NumberChange>& changes) {
    ChaChaSource folds = SourceOf(500, static_cast<uint32_t>(run));
    Random split(folds);
    std::vector<uint32_t> order(one.table.rows()), test, train;
    split.Permutation(order.data(), order.size());
    for (size_t i = 0; i < order.size(); i++)
        (i % kFolds == fold ? test : train).push_back(order[i]);
    ChaChaSource source = SourceOf(500U << 16 | static_cast<uint32_t>(run),
                                   static_cast<uint32_t>(fold << 20 | std::lround(1000 * epsilon)));
    Random random(source);
    AutoOptions options = OptionsOf(one, changes);
    const AutoLearner learner(options, one.table.target);
    Model model(one.table.features, one.table.target, learner.link());
    if (one.kind == Kind::kUpdate) {  // a model of half of the rows goes on with the other half
        const auto half = train.begin() + static_cast<std::ptrdiff_t>(train.size() / 2);
        Train(options, one, {train.begin(), half}, epsilon, random, &model);
        train.erase(train.begin(), half);
        options.continued = true;
    }
    Train(options, one, train, epsilon, random, &model);
    if (one.table.target.task() == Task::kClasses) {
        const ClassQuality classes = QualityOfClasses(model, one.table, test);
        return {classes.accuracy, classes.log_loss};
    }
    const Predictions rows = PredictRows(model, one.table, test);
    if (one.kind == Kind::kQuantile)
        return {QuantileLoss(rows, options.quantile), 0};
    const bool binary = one.table.target.task() == Task::kBinary;
    return {Score(one.table.target.task(), rows), binary ? LogLoss(rows.predicted, rows.values) : 0};
}

std::vector<Quality> AllFolds(const Case& one, double epsilon, int runs,
                              const std::vector<NumberChange>& changes, const std::vector<Quality>* before) {
    std::vector<Quality> folds;
    for (int run = 0; run < runs; run++) {
        for (size_t fold = 0; fold < kFolds; fold++) {
            folds.push_back(OneFold(one, epsilon, run, fold, changes));
            if (before != nullptr && folds.size() == 1 && folds[0] == (*before)[0])
                return *before;
        }
    }
    return folds;
}

// The difference and whether it is clear.
std::string Shown(const std::string& name, const std::vector<double>& differences) {
    Tally tally;
    for (const double one : differences)
        tally.Add(one);
    if (std::fabs(tally.Mean()) < kLeastShown || std::fabs(tally.Mean()) < kSigmas * tally.StandardError())
        return {};
    char text[64];
    std::snprintf(text, sizeof text, " %s %+.1f", name.c_str(), tally.Mean());
    return text;
}

std::string Compare(const Case& one, double epsilon, const std::vector<Quality>& before,
                    const std::vector<Quality>& after) {
    char name[64];
    std::snprintf(name, sizeof name, "%s %g", one.name.c_str(), epsilon);
    const bool larger_is_better = one.table.target.task() != Task::kRegression;
    std::vector<double> scores, losses;
    for (size_t i = 0; i < before.size(); i++) {
        const double difference = after[i].score - before[i].score;
        scores.push_back(larger_is_better ? 1000 * difference : -1000 * difference / before[i].score);
        losses.push_back(1000 * (before[i].loss - after[i].loss));
    }
    const std::string shown = Shown(name, scores);
    return shown.empty() ? Shown(std::string(name) + " loss", losses) : shown;
}

struct Settings {
    int runs = 1;
    size_t part = 0, parts = 1;
    std::string names;  // all unless some are given
};

void RunAll(const Settings& settings) {
    const std::vector<Case> cases = Cases();
    std::vector<std::vector<Quality>> before;
    for (const Case& one : cases) {
        for (const double epsilon : one.epsilons)
            before.push_back(AllFolds(one, epsilon, settings.runs, {}, nullptr));
    }
    for (size_t k = settings.part; k < kAutoNumberCount; k += settings.parts) {
        const std::string name = kAutoNumbers[k].name;
        if (!settings.names.empty() &&
            ("," + settings.names + ",").find("," + name + ",") == std::string::npos)
            continue;
        std::printf("%s:", name.c_str());
        for (const double factor : {0.5, 2.0}) {
            std::string shown;
            size_t line = 0;
            for (const Case& one : cases) {
                for (const double epsilon : one.epsilons) {
                    if (one.name == "Noise columns" && name.rfind("sparse", 0) != 0) {  // long
                        line++;
                        continue;
                    }
                    try {
                        shown +=
                            Compare(one, epsilon, before[line],
                                    AllFolds(one, epsilon, settings.runs, {{name, factor}}, &before[line]));
                    } catch (const Error&) {  // a share that is doubled may be more than there is
                        shown += " " + one.name + " fails";
                    }
                    line++;
                }
            }
            std::printf("%s%s%s", factor < 1 ? " halved" : "; doubled", shown.empty() ? " -" : "",
                        shown.c_str());
            std::fflush(stdout);
        }
        std::printf("\n");
    }
}

void Read(const std::string& argument, Settings* settings) {
    if (argument.rfind("part=", 0) == 0) {
        settings->part = static_cast<size_t>(std::atoi(argument.c_str() + 5)) - 1;
        settings->parts = static_cast<size_t>(std::atoi(argument.c_str() + argument.find('/') + 1));
    } else if (std::atoi(argument.c_str()) > 0) {
        settings->runs = std::atoi(argument.c_str());
    } else {
        settings->names = argument;
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    dpboost::Settings settings;
    for (int i = 1; i < argc; i++)
        dpboost::Read(argv[i], &settings);
    return dpboost::Guarded([&] { dpboost::RunAll(settings); });
}
