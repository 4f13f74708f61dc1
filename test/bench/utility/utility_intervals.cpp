// How many intervals of an evaluation hold the truth, on simulated rows that a model meets or misses: features that agree
// more than the reference has it, scores in lumps, a table that the model does not come from, a slope that is not the
// model's, rare classes. No table of people is in it.
//     utility_intervals            2,000 evaluations of every cell
//     utility_intervals 200        200 of them
//     utility_intervals 200 lumps  of the worlds whose title contains "lumps", with a line for every cell that is outside
// One line for each figure and kind of world: the coverage over all cells, and in how many it is outside .92 to .995.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
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

// How scores lie.
struct Shape {
    const char* name;
    size_t features;
    double agreement;  // correlation of what lies behind the features
    double scale;      // of the features' parts of the score
    double skew;       // power of the features' values in [0, 1]
    bool known;        // whether the model's reference has the features' distributions
    size_t levels;     // of a feature
};
constexpr Shape kShapes[] = {
    {"few", 3, 0, 1.2, 1, true, 16},         {"few agree", 3, 0.5, 1.2, 1, true, 16},
    {"many", 10, 0, 0.55, 1, true, 16},      {"many agree", 10, 0.2, 0.55, 1, true, 16},
    {"alike", 10, 0.5, 0.55, 1, true, 16},   {"skewed", 10, 0.2, 0.9, 3, true, 16},
    {"foreign", 10, 0.2, 0.9, 3, false, 16}, {"lumps", 3, 0.2, 1.5, 1, true, 3},
    {"weak", 10, 0.2, 0.15, 1, true, 16},
};

struct World {
    Shape shape;
    double slope;  // of the truth's log odds over the model's
    double rate;   // of positive rows
};

struct Size {
    int rows;
    double epsilon;
};
constexpr Size kSizes[] = {{2000, 1}, {10000, 0.1}, {10000, 0.5}, {45000, 0.1}, {45000, 0.5}, {300000, 0.5}};

double Logistic(double x) {
    return 1 / (1 + std::exp(-x));
}

// A feature's code at a fraction of its rows.
uint16_t CodeAt(const Shape& shape, double fraction) {
    const auto levels = static_cast<double>(shape.levels);
    const double level = std::floor(std::min(levels - 1, std::pow(fraction, shape.skew) * levels));
    return static_cast<uint16_t>(std::min(15.0, level * kBinsOfFeature / levels));
}

Reference ReferenceOf(const Shape& shape) {
    Marginal marginal;
    marginal.counts.assign(kBinsOfFeature + 1, 0);
    for (uint16_t code = 0; code <= kBinsOfFeature; code++)
        marginal.last_codes.push_back(code);
    for (int i = 0; i < 100000; i++)
        marginal.counts[CodeAt(shape, (i + 0.5) / 100000)] += 1;
    return {100000, 1, std::vector<Marginal>(shape.features, marginal)};
}

// Additive, each feature up or down with a weight of its own.
Model ModelOf(const Shape& shape, double base) {
    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < shape.features; i++)
        features.push_back(AuditColumn(("f" + std::to_string(i)).c_str(), kBinsOfFeature));
    Model model(features, TargetSpec::Binary(), Link::kLogistic);
    model.AddToBase(ToFixed(base));
    for (size_t i = 0; i < shape.features; i++) {
        const double sign = i % 3 == 1 ? -1 : 1;
        const double weight = sign * shape.scale * (0.4 + 0.24 * static_cast<double>(i * 7 % 5));
        std::vector<int32_t> table(kBinsOfFeature + 1);
        for (size_t code = 0; code < kBinsOfFeature; code++)
            table[code] = ToFixed(weight * (static_cast<double>(code) / 7.5 - 1));
        model.AddTable(i, table);
    }
    if (shape.known) {
        Evidence evidence;
        evidence.reference = ReferenceOf(shape);
        model.SetEvidence(evidence);
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
    const Model plain = ModelOf(world.shape, 0);
    const size_t width = world.shape.features;
    std::vector<std::vector<uint16_t>> codes(kRows, std::vector<uint16_t>(width));
    std::vector<double> odds(kRows), other(kRows);
    for (size_t i = 0; i < kRows; i++) {
        const double common = random.Normal();
        for (size_t f = 0; f < width; f++) {
            const double behind = std::sqrt(world.shape.agreement) * common * (f % 3 == 1 ? -1 : 1) +
                                  std::sqrt(1 - world.shape.agreement) * random.Normal();
            codes[i][f] = CodeAt(world.shape, std::erfc(-behind / std::sqrt(2.0)) / 2);
        }
        odds[i] = static_cast<double>(plain.Score(codes[i].data())) / ToFixed(1);
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
    Population all{ModelOf(world.shape, mean(1, 0)), {}, {}, {}};
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

struct Cell {
    int covered = 0, known = 0;
    double reach = 0, error = 0, squares = 0;
};

struct Tally {
    std::vector<double> coverage;
    double reach = 0;
    int known = 0;
};

// Rows drawn with replacement, and noise, many times.
std::map<std::string, Cell> RunSize(const Population& all, const Size& size, int runs, uint64_t seed) {
    MechanismRequest request = EvaluationRequest(TargetSpec::Binary());
    request.share = 1;
    const double sigma = Plan::Calibrate({size.epsilon, 1e-6, {request}, {}, {}}).NoiseMultiplier(0);
    NoInterrupt interrupt;
    const ReferenceDraws reference(all.model, interrupt);
    const ScoreBins bins(all.model, reference, ScoreBins::CountFor(size.rows / sigma, reference.mean()));
    struct Added {
        uint32_t cell;
        float part;
    };
    std::vector<Added> added(kRows);
    for (size_t i = 0; i < kRows; i++) {
        const ScorePlace place = bins.Place(all.scores[i], 65536);
        added[i] = {static_cast<uint32_t>(place.bin + (all.labels[i] ? 0 : bins.size())),
                    static_cast<float>(place.part) / 65536};
    }
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal(0, sigma);
    std::map<std::string, Cell> cells;
    for (int run = 0; run < runs; run++) {
        std::vector<double> counts(2 * bins.size() + 1);
        for (int i = 0; i < size.rows; i++) {
            const Added& row = added[(engine() >> 32) * kRows >> 32];
            counts[row.cell] += 1 - row.part;
            counts[row.cell + 1] += row.part;
        }
        counts.pop_back();
        for (double& count : counts)
            count += normal(engine);
        const auto half = counts.begin() + static_cast<std::ptrdiff_t>(bins.size());
        for (const Figure& figure :
             ClassFigures(bins, {{counts.begin(), half}, {half, counts.end()}, sigma})) {
            const double truth = figure.name == "rows" ? size.rows : all.truth.at(figure.name);
            Cell& cell = cells[figure.name];
            cell.covered += figure.lower <= truth && truth <= figure.upper;
            if (figure.value && std::isfinite(figure.upper - figure.lower)) {
                const double error = *figure.value - truth;
                cell.reach += (figure.upper - figure.lower) / 2;
                cell.error += error;
                cell.squares += error * error;
                cell.known++;
            }
        }
    }
    return cells;
}

void Print(const char* world, std::map<std::string, Tally>& tallies) {
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
            "%-10s  %-18s covers %.3f, from %.3f to %.3f, below .92 in %d and above .995 in %d of %zu; +- "
            "%.4f\n",
            world, name.c_str(), mean, coverage.front(), coverage.back(), low, high, coverage.size(),
            tally.reach / tally.known);
    }
    std::fflush(stdout);
}

void RunShape(const Shape& shape, int runs, bool each, std::map<std::string, Tally>* all) {
    std::map<std::string, Tally> tallies;
    Synthetic random(14);
    uint64_t seed = 0;
    for (const double rate : {0.02, 0.2, 0.5})
        for (const double slope : {0.7, 1.0, 1.4}) {
            const Population population = Populate({shape, slope, rate}, random);
            for (const Size& size : kSizes)
                for (const auto& [name, cell] : RunSize(population, size, runs, ++seed)) {
                    const double covers = static_cast<double>(cell.covered) / runs;
                    for (Tally* tally : {&tallies[name], &(*all)[name]}) {
                        tally->coverage.push_back(covers);
                        tally->reach += cell.reach;
                        tally->known += cell.known;
                    }
                    if (!each || (covers >= 0.92 && covers <= 0.995))
                        continue;
                    const double mean = cell.error / cell.known, square = cell.squares / cell.known;
                    std::printf(
                        "%s, rate %g, slope %g, %d rows, epsilon %g: %s covers %.3f; error %+.4f +- %.4f "
                        "(sd), "
                        "told +- %.4f\n",
                        shape.name, rate, slope, size.rows, size.epsilon, name.c_str(), covers, mean,
                        std::sqrt(square - mean * mean), cell.reach / cell.known / 1.96);
                }
        }
    Print(shape.name, tallies);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 2000;
    std::map<std::string, Tally> all;
    for (const Shape& shape : kShapes)
        if (argc <= 2 || std::string(shape.name).find(argv[2]) != std::string::npos)
            RunShape(shape, runs, argc > 2, &all);
    Print("all", all);
}
