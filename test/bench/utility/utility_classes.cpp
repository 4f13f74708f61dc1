// Accuracy of more than two classes, at delta 1e-6: mean and standard error over random splits, a quarter of the rows for
// the test, against the goals; log loss beside it. And what ten classes cost in time, against two of them.
//     utility_classes               5 splits of everything
//     utility_classes 20 digits     20 splits of the lines whose name contains "digits"
//     utility_classes 5 adult linear_time=0.5    with another number of `auto`'s schedule, times this factor
//     utility_classes 5 digits method=sbdt
// Digits are those of scikit-learn, which test/bench/digits writes to a CSV file; without it their lines are
// left out. Ranges and levels are the datasets' documented ones, never those of rows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>

#include "bench/csv_data.h"
#include "bench/scoring.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;

struct Line {
    const char* name;
    double epsilon;
    double goal;
};

constexpr Line kLines[] = {
    {"digits", 0.5, .74},
    {"digits", 1, .865},
    {"digits", 2, .915},
    {"adult marital", 0.1, .685},
    {"adult marital", 0.5, .690},
    {"adult marital", 1, .694},
    {"adult occupation", 0.1, .352},
    {"adult occupation", 0.5, .367},
    {"adult occupation", 1, .370},
    {"abalone sex", 0.1, .529},
};

std::string DigitsFile() {
    const char* file = std::getenv("DPBOOST_DIGITS");
    return file != nullptr ? file : "/tmp/dpboost_digits.csv";
}

// Rows whose target is one of the classes; an empty one is the class "NA" if that is there.
EncodedTable LoadClasses(const CsvTable& table, std::vector<FeatureSpec> features, const std::string& target,
                         const std::vector<std::string>& classes) {
    EncodedTable out;
    out.features = std::move(features);
    out.target = TargetSpec::Classes(classes);
    std::vector<Encoder> encoders;
    std::vector<size_t> columns;
    for (const FeatureSpec& spec : out.features) {
        encoders.emplace_back(spec);
        columns.push_back(table.Column(spec.name()));
    }
    const size_t column = table.Column(target);
    for (const std::vector<std::string>& row : table.rows) {
        const std::string label = row[column].empty() ? "NA" : row[column];
        const auto found = std::find(classes.begin(), classes.end(), label);
        if (found == classes.end())
            continue;
        EncodeRow(row, encoders, columns, &out);
        out.values.push_back(static_cast<double>(found - classes.begin()));
    }
    return out;
}

EncodedTable LoadDigits(const CsvTable& table) {
    std::vector<FeatureSpec> features;
    std::vector<std::string> classes;
    for (const std::string& name : table.names) {
        if (name != "digit")
            features.push_back(PublicFeature({name.c_str(), 0, 16, true}, 1));
    }
    for (int digit = 0; digit < 10; digit++)
        classes.push_back(std::to_string(digit));
    return LoadClasses(table, std::move(features), "digit", classes);
}

// Adult without its sampling weights; marital_status without relationship, which says the same.
EncodedTable LoadAdult(const std::string& target) {
    const CsvTable table = ReadCsv(DataFolder() + "/adult.csv");
    std::vector<FeatureSpec> features;
    std::vector<std::string> classes;
    for (const FeatureSpec& spec : WithDefaultGrids(AdultFeatures())) {
        if (spec.name() == target)
            classes = spec.levels();
        else if (spec.name() != "fnlwgt" && (target != "marital_status" || spec.name() != "relationship"))
            features.push_back(spec);
    }
    features.push_back(FeatureSpec::Levels("income", {"<=50K", ">50K"}));
    if (target == "occupation")
        classes.push_back("NA");
    return LoadClasses(table, std::move(features), target, classes);
}

EncodedTable LoadAbalone() {
    const CsvTable table = ReadCsv(DataFolder() + "/abalone.csv");
    std::vector<FeatureSpec> features = WithDefaultGrids(AbaloneFeatures());
    features.erase(features.begin());
    features.push_back(PublicFeature({"rings", 1, 29, true}, 1));
    return LoadClasses(table, std::move(features), "sex", {"F", "I", "M"});
}

bool Load(const std::string& name, EncodedTable* table) {
    if (name == "digits") {
        std::FILE* const file = std::fopen(DigitsFile().c_str(), "r");
        if (file == nullptr)
            return false;
        std::fclose(file);
        *table = LoadDigits(ReadCsv(DigitsFile()));
    } else if (name == "abalone sex") {
        *table = LoadAbalone();
    } else {
        *table = LoadAdult(name == "adult marital" ? "marital_status" : "occupation");
    }
    return true;
}

struct Settings {
    bool sbdt = false;
    std::vector<NumberChange> changes;
};

Settings ReadSettings(const std::vector<std::string>& given) {
    Settings settings;
    for (const std::string& one : given) {
        const size_t equal = one.find('=');
        if (one == "method=sbdt")
            settings.sbdt = true;
        else if (equal != std::string::npos)
            settings.changes.push_back({one.substr(0, equal), std::strtod(one.c_str() + equal + 1, nullptr)});
    }
    return settings;
}

std::unique_ptr<Learner> MakeLearner(const EncodedTable& table, const Settings& settings, double epsilon) {
    if (settings.sbdt)
        return kSbdt.make(kSbdt, {table.features, table.target, epsilon, kDelta}, {});
    AutoOptions options;
    options.objective = DefaultObjective(table.target.task());
    options.changes = settings.changes;
    return std::make_unique<AutoLearner>(options, table.target);
}

double CpuSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void Run(const Line& line, const EncodedTable& table, const Arguments& arguments) {
    Tally accuracy, log_loss;
    double seconds = 0;
    for (int run = 0; run < arguments.runs; run++) {
        ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 2026);
        Random random(source);
        std::vector<uint32_t> order(table.rows());
        random.Permutation(order.data(), order.size());
        const auto cut = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 4);
        const std::vector<uint32_t> test(order.begin(), cut), train(cut, order.end());
        const Dataset dataset = table.Build(train);
        const std::unique_ptr<Learner> learner =
            MakeLearner(table, ReadSettings(arguments.settings), line.epsilon);
        Plan plan = PlanOf(*learner, line.epsilon, kDelta);
        ExactNoise noise(random);
        const double before = CpuSeconds();
        const Model model = TrainLearner(*learner, dataset, plan, random, noise);
        seconds += CpuSeconds() - before;
        const ClassQuality quality = QualityOfClasses(model, table, test);
        accuracy.Add(quality.accuracy);
        log_loss.Add(quality.log_loss);
    }
    std::printf("%-18s epsilon %-4g accuracy %.4f +- %.4f (goal %.3f)  log loss %.3f  %.2f s\n", line.name,
                line.epsilon, accuracy.Mean(), accuracy.StandardError(), line.goal, log_loss.Mean(),
                seconds / arguments.runs);
    std::fflush(stdout);
}

// Processor time of ten classes over that of two, on the same columns of Adult: education in ten groups, and in two.
void CompareTimes(const Arguments& arguments) {
    const CsvTable csv = ReadCsv(DataFolder() + "/adult.csv");
    EncodedTable table = LoadAdult("marital_status");
    std::vector<uint32_t> all(table.rows());
    std::iota(all.begin(), all.end(), 0U);
    const size_t years = csv.Column("education_num");
    double seconds[2];
    for (const bool many : {false, true}) {
        table.target = many ? TargetSpec::Classes({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"})
                            : TargetSpec::Binary();
        for (size_t row = 0; row < table.rows(); row++) {
            const int number = std::atoi(csv.rows[row][years].c_str());
            table.values[row] = many ? (number * 10 - 1) / 16 : number > 9;
        }
        const Dataset dataset = table.Build(all);
        seconds[many] = 0;
        for (int run = 0; run < arguments.runs; run++) {
            ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 2027);
            Random random(source);
            ExactNoise noise(random);
            const std::unique_ptr<Learner> learner = MakeLearner(table, ReadSettings(arguments.settings), 1);
            Plan plan = PlanOf(*learner, 1, kDelta);
            const double before = CpuSeconds();
            TrainLearner(*learner, dataset, plan, random, noise);
            seconds[many] += (CpuSeconds() - before) / arguments.runs;
        }
    }
    std::printf("time of 10 classes / 2 classes: %.3f s / %.3f s = %.1f (goal 13)\n", seconds[1], seconds[0],
                seconds[1] / seconds[0]);
}

void RunAll(const Arguments& arguments) {
    std::string loaded;
    EncodedTable table;
    for (const Line& line : kLines) {
        if (std::string(line.name).find(arguments.only) == std::string::npos)
            continue;
        if (loaded != line.name && !Load(line.name, &table)) {
            std::printf("%s: no %s (test/bench/digits writes it)\n", line.name, DigitsFile().c_str());
            continue;
        }
        loaded = line.name;
        Run(line, table, arguments);
    }
    if (std::string("time").find(arguments.only) != std::string::npos)
        CompareTimes(arguments);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::Guarded([&] { dpboost::RunAll(dpboost::ReadArguments(argc, argv, 5)); });
}
