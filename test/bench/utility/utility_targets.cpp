// What the options of `auto` for other targets achieve, at delta 1e-6, against their goals: what monotone curves cost, how
// many rows intervals cover, how right the mean is of a logarithmic target, what part of the rows lies below a quantile.
//     utility_targets               5 splits, and 4 or 20 times as many where less would be noise, or a mean over 100 is meant
//     utility_targets 5 interval    the lines whose name contains "interval"
// Numbers are of rows that were not trained on. The amounts are generated (Scatter). How far intervals are moved outwards was
// chosen on Abalone; the generated tables beside it were looked at afterwards.
#include <cmath>
#include <cstdio>
#include <numeric>

#include "bench/scoring.h"
#include "bench/synthetic.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "model/intervals.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
constexpr int kTrainings = 20;  // for each run, where trainings are short

struct Split {
    std::vector<uint32_t> test, train;
};

// A quarter for the test.
Split SplitRows(size_t rows, Random& random) {
    std::vector<uint32_t> order(rows);
    random.Permutation(order.data(), order.size());
    const auto cut = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 4);
    return {{order.begin(), cut}, {cut, order.end()}};
}

Model Train(const EncodedTable& table, const std::vector<uint32_t>& rows, double epsilon,
            const std::vector<GivenOption>& given, Random& random) {
    ExactNoise noise(random);
    return TrainWith(kAuto, table.Build(rows), epsilon, kDelta, given, random, noise);
}

// ---- monotone ----

void Monotone(const Arguments& arguments) {
    const EncodedTable table = LoadPublic("adult");
    for (const double epsilon : {0.02, 0.1, 1.0}) {
        Tally free, bound, lost;
        for (int run = 0; run < 4 * arguments.runs; run++) {
            double auc[2];
            for (const bool monotone : {false, true}) {
                ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 15);
                Random random(source);
                const Split split = SplitRows(table.rows(), random);
                std::vector<GivenOption> given;
                if (monotone)
                    given.push_back(GivenNumbers("monotone", {{"age", 1}, {"education_num", 1}}));
                const Predictions rows =
                    PredictRows(Train(table, split.train, epsilon, given, random), table, split.test);
                auc[monotone] = Auc(rows.predicted, rows.values);
            }
            free.Add(auc[0]);
            bound.Add(auc[1]);
            lost.Add(auc[0] - auc[1]);
        }
        std::printf(
            "monotone  Adult    epsilon %-4g AUC %.4f, free %.4f, lost %+.4f +- %.4f (goal at most .001)\n",
            epsilon, bound.Mean(), free.Mean(), lost.Mean(), lost.StandardError());
        std::fflush(stdout);
    }
}

// ---- intervals ----

// What part of the rows intervals of the level 0.9 cover, and their mean width.
std::pair<double, double> Coverage(const Model& model, const EncodedTable& table,
                                   const std::vector<uint32_t>& rows) {
    const Intervals intervals(model);
    Predictor predictor(model);
    double covered = 0, width = 0;
    for (const uint32_t row : rows) {
        const Intervals::Ends ends = intervals.Around(predictor.Score(table.Row(row)), 0.9);
        covered += table.values[row] >= ends.lower && table.values[row] <= ends.upper;
        width += ends.upper - ends.lower;
    }
    const auto n = static_cast<double>(rows.size());
    return {covered / n, width / n};
}

void IntervalsOf(const char* name, const EncodedTable& table, double epsilon, const Arguments& arguments) {
    Tally covered, width;
    double least = 1;
    for (int run = 0; run < arguments.runs * kTrainings; run++) {
        ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 16);
        Random random(source);
        const Split split = SplitRows(table.rows(), random);
        const Model model = Train(table, split.train, epsilon, {GivenTruth("intervals", true)}, random);
        const auto [part, size] = Coverage(model, table, split.test);
        covered.Add(part);
        width.Add(size);
        least = std::min(least, part);
    }
    std::printf(
        "intervals %-9s epsilon %-4g cover %.4f +- %.4f (goal .89), least %.3f, width %.2f; %d trainings\n",
        name, epsilon, covered.Mean(), covered.StandardError(), least, width.Mean(), covered.runs);
    std::fflush(stdout);
}

// ---- logarithmic targets ----

// How amounts scatter around what the columns say: log-normal, with a heavier tail (0.3 x^2 in the logarithm), or evenly on
// a logarithmic scale from 1 to 3,000 whatever the columns say.
enum class Scatter { kNormal, kHeavy, kEven };
constexpr const char* kScatterNames[] = {"normal", "heavy", "even"};

double Amount(Scatter scatter, double middle, double normal) {
    const double even = std::log(3000) * std::erfc(-normal / std::sqrt(2)) / 2;
    const double heavy = scatter == Scatter::kHeavy ? 0.3 * normal * normal : 0;
    return std::min(1e5, std::exp(scatter == Scatter::kEven ? even : middle + normal + heavy));
}

double MeanAmount(Scatter scatter, double middle) {
    constexpr double kStep = 0.02;
    double sum = 0, weights = 0;
    for (double normal = -8; normal <= 8; normal += kStep) {
        const double weight = std::exp(-normal * normal / 2);
        sum += weight * Amount(scatter, middle, normal);
        weights += weight;
    }
    return sum / weights;
}

// Amounts from 0 to 100,000 on 4 columns, and the mean of each row.
EncodedTable Amounts(size_t rows, Scatter scatter, std::vector<double>* means) {
    EncodedTable table;
    std::vector<Encoder> encoders;
    for (int j = 0; j < 4; j++) {
        NumericRange range;
        range.lower = -4;
        range.upper = 4;
        table.features.push_back(FeatureSpec::Numeric("x" + std::to_string(j), range));
        encoders.emplace_back(table.features.back());
    }
    table.target = TargetSpec::Logarithmic(0, 1e5);
    Synthetic random(rows);
    for (size_t row = 0; row < rows; row++) {
        double x[4];
        for (int j = 0; j < 4; j++) {
            x[j] = random.Normal();
            table.codes.push_back(encoders[static_cast<size_t>(j)].Number(x[j]));
        }
        const double middle = 4 + 0.8 * x[0] - 0.5 * x[1] + 0.3 * x[2];
        table.values.push_back(Amount(scatter, middle, random.Normal()));
        means->push_back(MeanAmount(scatter, middle));
    }
    return table;
}

void LogTargets(const Arguments& arguments, Scatter scatter) {
    for (const size_t rows : {5000U, 20000U}) {
        std::vector<double> means;
        const EncodedTable table = Amounts(rows, scatter, &means);
        EncodedTable plain = table;
        plain.target = TargetSpec::Regression(0, 1e5);
        for (const double epsilon : {0.25, 1.0}) {
            Tally ratio, off, linear;
            double rmse[2] = {0, 0};
            for (int run = 0; run < arguments.runs * 4; run++)
                for (const bool logarithmic : {true, false}) {
                    ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 17);
                    Random random(source);
                    const EncodedTable& one = logarithmic ? table : plain;
                    const Split split = SplitRows(rows, random);
                    const Model model = Train(one, split.train, epsilon, {}, random);
                    Predictions found = PredictRows(model, one, split.test);
                    for (size_t i = 0; i < split.test.size(); i++)
                        found.values[i] = means[split.test[i]];
                    const double mean = std::accumulate(found.predicted.begin(), found.predicted.end(), 0.0) /
                                        std::accumulate(found.values.begin(), found.values.end(), 0.0);
                    (logarithmic ? ratio : linear).Add(mean);
                    if (logarithmic)
                        off.Add(std::fabs(mean - 1));
                    rmse[logarithmic] += Rmse(found.predicted, found.values) / (arguments.runs * 4);
                }
            std::printf(
                "log       %s, %zu rows, epsilon %-4g mean prediction / mean %.3f +- %.3f (goal within .05), "
                "off "
                "by "
                "%.3f a training, RMSE %.0f; linear %.3f, RMSE %.0f\n",
                kScatterNames[static_cast<int>(scatter)], rows, epsilon, ratio.Mean(), ratio.StandardError(),
                off.Mean(), rmse[1], linear.Mean(), rmse[0]);
            std::fflush(stdout);
        }
    }
}

// ---- quantiles ----

void Quantiles(const Arguments& arguments) {
    const EncodedTable table = LoadPublic("california_housing");
    for (const double epsilon : {0.25, 1.0})
        for (const double quantile : {0.1, 0.5, 0.9}) {
            Tally below;
            for (int run = 0; run < arguments.runs; run++) {
                ChaChaSource source = SourceOf(static_cast<uint32_t>(run), 18);
                Random random(source);
                const Split split = SplitRows(table.rows(), random);
                const Predictions rows =
                    PredictRows(Train(table, split.train, epsilon,
                                      {Given("objective", "quantile"), Given("quantile", quantile)}, random),
                                table, split.test);
                double part = 0;
                for (size_t i = 0; i < rows.values.size(); i++)
                    part += rows.values[i] < rows.predicted[i];
                below.Add(part / static_cast<double>(rows.values.size()));
            }
            std::printf("quantile  California epsilon %-4g %.1f: %.3f +- %.3f of the rows below\n", epsilon,
                        quantile, below.Mean(), below.StandardError());
            std::fflush(stdout);
        }
}

void RunAll(const Arguments& arguments) {
    const auto wanted = [&](const char* name) {
        return std::string(name).find(arguments.only) != std::string::npos;
    };
    if (wanted("monotone"))
        Monotone(arguments);
    for (const double epsilon : {0.25, 1.0})
        for (const char* name : {"abalone", "copies", "collinear", "skewed"})
            if (wanted("intervals"))
                IntervalsOf(name, LoadNamed(name), epsilon, arguments);
    for (const Scatter scatter : {Scatter::kNormal, Scatter::kHeavy, Scatter::kEven})
        if (wanted("log"))
            LogTargets(arguments, scatter);
    if (wanted("quantile"))
        Quantiles(arguments);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    return dpboost::Guarded([&] { dpboost::RunAll(dpboost::ReadArguments(argc, argv, 5)); });
}
