// How many intervals of an evaluation hold the truth, on simulated rows that a model meets or misses: features that agree
// more than the reference has it, a slope that is not the model's, rare classes. The constants of bin_shape.cpp were
// chosen here. One line for each figure: the coverage over all worlds, and in how many it is outside .92 to .995.
//     utility_intervals        150 evaluations of every world
//     utility_intervals 20     20 of them
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "bench/synthetic.h"
#include "learner/evaluation/evaluation.h"
#include "learner/evaluation/exact_metrics.h"
#include "learner/evaluation/figures/class_figures.h"
#include "support/audit/audit.h"

namespace dpboost {
namespace {

constexpr size_t kRows = 200000;
constexpr size_t kBinsOfFeature = 16;

struct World {
    size_t features;
    double agreement;  // correlation of what lies behind the features
    double slope;      // of the truth's log odds over the model's
    double rate;       // of positive rows
};

struct Size {
    int rows;
    double epsilon;
};
constexpr Size kSizes[] = {{2000, 1}, {10000, 0.1}, {10000, 0.5}, {45000, 0.1}, {45000, 0.5}, {300000, 0.5}};

double Logistic(double x) {
    return 1 / (1 + std::exp(-x));
}

// Additive, each feature up or down with a weight of its own.
Model ModelOf(const World& world, double base) {
    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < world.features; i++)
        features.push_back(AuditColumn(("f" + std::to_string(i)).c_str(), kBinsOfFeature));
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    model.AddToBase(ToFixed(base));
    for (size_t i = 0; i < world.features; i++) {
        const double sign = i % 3 == 1 ? -1 : 1, scale = world.features == 3 ? 1.2 : 0.55;
        const double weight = sign * scale * (0.4 + 0.24 * static_cast<double>(i * 7 % 5));
        std::vector<int32_t> table(kBinsOfFeature + 1);
        for (size_t code = 0; code < kBinsOfFeature; code++)
            table[code] = ToFixed(weight * (static_cast<double>(code) / 7.5 - 1));
        model.AddTable(i, table);
    }
    return model;
}

// By bisection: what to add so that the mean of f(added) is the rate.
template <typename Mean>
double Added(double rate, const Mean& mean) {
    double low = -15, high = 15;
    for (int step = 0; step < 50; step++)
        (mean((low + high) / 2) > rate ? high : low) = (low + high) / 2;
    return low;
}

struct Population {
    Model model;
    std::vector<int64_t> scores;
    std::vector<bool> labels;
    std::map<std::string, double> truth;
};

Population Populate(const World& world, Synthetic& random) {
    const Model shape = ModelOf(world, 0);
    std::vector<std::vector<uint16_t>> codes(kRows, std::vector<uint16_t>(world.features));
    std::vector<double> odds(kRows), other(kRows);
    for (size_t i = 0; i < kRows; i++) {
        const double common = random.Normal();
        for (size_t f = 0; f < world.features; f++) {
            const double behind = std::sqrt(world.agreement) * common * (f % 3 == 1 ? -1 : 1) +
                                  std::sqrt(1 - world.agreement) * random.Normal();
            codes[i][f] = static_cast<uint16_t>(
                std::min(15.0, std::erfc(-behind / std::sqrt(2.0)) / 2 * kBinsOfFeature));
        }
        odds[i] = static_cast<double>(shape.Score(codes[i].data())) / ToFixed(1);
        other[i] = 0.5 * random.Normal();  // of which the model knows nothing
    }
    const auto mean = [&](double slope, double more) {
        return Added(world.rate, [&](double base) {
            double sum = 0;
            for (size_t i = 0; i < kRows; i += 10)
                sum += Logistic(base + slope * odds[i] + more * other[i]);
            return 10 * sum / kRows;
        });
    };
    Population all{ModelOf(world, mean(1, 0)), {}, {}, {}};
    const double base = mean(world.slope, 1);
    ExactClassMetrics exact;
    for (size_t i = 0; i < kRows; i++) {
        all.scores.push_back(all.model.Score(codes[i].data()));
        all.labels.push_back(random.Positive(base + world.slope * odds[i] + other[i]) > 0);
        exact.Add(all.model.Respond(all.scores[i]), all.labels[i]);
    }
    NoInterrupt interrupt;
    for (const Figure& figure : exact.Figures(interrupt))
        all.truth[figure.name] = figure.value.value_or(std::nan(""));
    return all;
}

struct Tally {
    std::vector<double> coverage;
    double reach = 0;
    int known = 0;
};

// Rows drawn with replacement, and noise, many times.
void RunSize(const Population& all, const Size& size, int runs, Synthetic& random,
             std::map<std::string, Tally>* tallies) {
    MechanismRequest request = EvaluationRequest(TargetSpec::Binary());
    request.share = 1;
    const double sigma = Plan::Calibrate({size.epsilon, 1e-6, {request}, {}, {}}).NoiseMultiplier(0);
    NoInterrupt interrupt;
    const ReferenceDraws reference(all.model, interrupt);
    const ScoreBins bins(all.model, reference, ScoreBins::CountFor(size.rows / sigma, reference.mean()));
    std::vector<size_t> cells(kRows);
    for (size_t i = 0; i < kRows; i++)
        cells[i] = bins.Find(all.scores[i]) + (all.labels[i] ? 0 : bins.size());
    std::map<std::string, int> covered;
    for (int run = 0; run < runs; run++) {
        std::vector<double> counts(2 * bins.size());
        for (double& count : counts)
            count = sigma * random.Normal();
        for (int row = 0; row < size.rows; row++)
            counts[cells[static_cast<size_t>(random.Uniform() * kRows)]] += 1;
        const auto half = counts.begin() + static_cast<std::ptrdiff_t>(bins.size());
        for (const Figure& figure :
             ClassFigures(bins, {{counts.begin(), half}, {half, counts.end()}, sigma})) {
            const double truth = figure.name == "rows" ? size.rows : all.truth.at(figure.name);
            covered[figure.name] += figure.lower <= truth && truth <= figure.upper;
            if (figure.value) {
                (*tallies)[figure.name].reach += (figure.upper - figure.lower) / 2;
                (*tallies)[figure.name].known++;
            }
        }
    }
    for (const auto& [name, count] : covered)
        (*tallies)[name].coverage.push_back(static_cast<double>(count) / runs);
}

void Print(double agreement, std::map<std::string, Tally>& tallies) {
    for (auto& [name, tally] : tallies) {
        std::vector<double>& coverage = tally.coverage;
        std::sort(coverage.begin(), coverage.end());
        double mean = 0;
        int low = 0, high = 0;
        for (const double part : coverage) {
            mean += part / static_cast<double>(coverage.size());
            low += part < 0.92;
            high += part > 0.995;
        }
        std::printf(
            "agreement %.1f  %-18s covers %.3f, least %.3f, below .92 in %d and above .995 in %d of %zu; +- "
            "%.4f\n",
            agreement, name.c_str(), mean, coverage[0], low, high, coverage.size(),
            tally.reach / tally.known);
    }
    std::fflush(stdout);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 150;
    for (const double agreement : {0.0, 0.2, 0.5}) {
        std::map<std::string, Tally> tallies;
        Synthetic random(14);
        for (const double rate : {0.02, 0.1, 0.3, 0.5})
            for (const double slope : {0.7, 1.0, 1.4})
                for (const size_t features : {3, 10}) {
                    const Population all = Populate({features, agreement, slope, rate}, random);
                    for (const Size& size : kSizes)
                        RunSize(all, size, runs, random, &tallies);
                }
        Print(agreement, tallies);
    }
}
