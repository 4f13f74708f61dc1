// How many intervals of an evaluation hold the truth, of regressions and of several classes, on simulated rows: errors that
// are normal, heavy-tailed, skewed, or larger for large values; targets of several shapes; classes of which the model is
// sure, or not, or wrongly so. As utility_intervals does for classifiers of two classes.
//     utility_value_intervals        2,000 evaluations of every cell
//     utility_value_intervals 200    200 of them
//     utility_value_intervals 200 outliers    of the cells whose title contains "outliers"
// One line for each figure: the coverage over all cells, and each cell in which it is outside .92 to .995.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "bench/synthetic.h"
#include "learner/evaluation/evaluation.h"
#include "learner/evaluation/evaluation_rows.h"
#include "learner/evaluation/exact_metrics.h"
#include "learner/evaluation/figures/confusion.h"
#include "learner/evaluation/figures/value_figures.h"

namespace dpboost {
namespace {

struct Size {
    int rows;
    double epsilon;
};
constexpr Size kSizes[] = {{1000, 1}, {4000, 0.1}, {4000, 0.5}, {20000, 0.1}, {20000, 0.5}};

// A drawn row: label and prediction in [-1, 1], or class and probabilities.
struct Row {
    double label = 0, prediction = 0;
    size_t truth = 0;
    std::vector<double> probabilities;
};
using Draw = std::function<Row(Synthetic&)>;

// Errors of standard deviation 1.
const std::map<std::string, std::function<double(Synthetic&)>> kErrors = {
    {"normal", [](Synthetic& random) { return random.Normal(); }},
    {"laplace",
     [](Synthetic& random) {
         return (random.Uniform() < 0.5 ? -1 : 1) * -std::log(1 - random.Uniform()) / std::sqrt(2.0);
     }},
    {"skewed", [](Synthetic& random) { return -std::log(1 - random.Uniform()) - 1; }},
    {"outliers", [](Synthetic& random) { return random.Normal() * (random.Uniform() < 0.02 ? 4.5 : 0.78); }},
    {"even", [](Synthetic& random) { return std::sqrt(12.0) * (random.Uniform() - 0.5); }},
};
const std::map<std::string, std::function<double(Synthetic&)>> kLabels = {
    {"even", [](Synthetic& random) { return 1.6 * random.Uniform() - 0.8; }},
    {"normal", [](Synthetic& random) { return std::clamp(0.3 * random.Normal(), -1.0, 1.0); }},
    {"skewed", [](Synthetic& random) { return std::min(1.0, -1 - 0.35 * std::log(1 - random.Uniform())); }},
};

void Note(const char* title, const Size& size, const std::map<std::string, int>& covered, int runs,
          std::map<std::string, std::vector<double>>* all) {
    for (const auto& [name, count] : covered) {
        const double covers = static_cast<double>(count) / runs;
        (*all)[name].push_back(covers);
        if (covers < 0.92 || covers > 0.995)
            std::printf("  %s, %d rows, epsilon %g: %s covers %.3f\n", title, size.rows, size.epsilon,
                        name.c_str(), covers);
    }
}

double Sigma(const TargetSpec& target, double epsilon) {
    MechanismRequest request = EvaluationRequest(target);
    request.share = 1;
    return Plan::Calibrate({epsilon, 1e-6, {request}, {}, {}}).NoiseMultiplier(0);
}

// Label and prediction; the truth is that of a million rows, whatever the size of their errors.
void RunValues(const char* title, const Draw& draw, int runs,
               std::map<std::string, std::vector<double>>* all) {
    const TargetSpec target = TargetSpec::Regression(-1, 1);
    Synthetic random(5);
    ExactValueMetrics exact;
    constexpr int kAll = 1000000;
    for (int i = 0; i < kAll; i++) {
        const Row row = draw(random);
        exact.Add(row.prediction, row.label);
    }
    std::map<std::string, double> truth;
    for (const Figure& figure : exact.Figures())
        truth[figure.name] = figure.value.value_or(std::nan(""));
    for (const Size& size : kSizes) {
        const double sigma = Sigma(target, size.epsilon) * ValueSensitivity() / EvaluationStep();
        std::map<std::string, int> covered;
        for (int run = 0; run < runs; run++) {
            ValueTotals totals{};
            totals.sigma = sigma;
            for (double& sum : totals.sums)
                sum = sigma * random.Normal();
            for (int i = 0; i < size.rows; i++) {
                const Row row = draw(random);
                const auto terms = ValueTerms(row.prediction, row.label);
                for (size_t k = 0; k < kValueSums; k++)
                    totals.sums[k] += terms[k];
            }
            for (const Figure& figure : ValueFigures(target, totals)) {
                const double wanted = figure.name == "rows" ? size.rows : truth.at(figure.name);
                covered[figure.name] += figure.lower <= wanted && wanted <= figure.upper;
            }
        }
        Note(title, size, covered, runs, all);
    }
}

void RunClasses(const char* title, size_t classes, const Draw& draw, int runs,
                std::map<std::string, std::vector<double>>* all) {
    std::vector<std::string> names;
    for (size_t k = 0; k < classes; k++)
        names.push_back("c" + std::to_string(k));
    const TargetSpec target = TargetSpec::Classes(names);
    Synthetic random(6);
    const auto step = static_cast<int64_t>(EvaluationStep());
    const auto total = [&](int rows, double sigma) {
        std::vector<int64_t> sums(ConfusionSums(classes));
        for (int i = 0; i < rows; i++) {
            const Row row = draw(random);
            AddClassRow(row.probabilities, row.truth, step, &sums);
        }
        ClassTotals totals;
        totals.sigma = sigma;
        for (const int64_t sum : sums)
            totals.sums.push_back(static_cast<double>(sum) / EvaluationStep() + sigma * random.Normal());
        return totals;
    };
    std::map<std::string, double> truth;
    for (const Figure& figure : ConfusionFigures(total(1000000, 0)))
        truth[figure.name] = figure.value.value_or(std::nan(""));
    for (const Size& size : kSizes) {
        const double sigma = Sigma(target, size.epsilon) * ConfusionSensitivity() / EvaluationStep();
        std::map<std::string, int> covered;
        for (int run = 0; run < runs; run++)
            for (const Figure& figure : ConfusionFigures(total(size.rows, sigma))) {
                const double wanted = figure.name == "rows" ? size.rows : truth.at(figure.name);
                covered["classes: " + figure.name] += figure.lower <= wanted && wanted <= figure.upper;
            }
        Note(title, size, covered, runs, all);
    }
}

// The model says class 0 with a probability that varies; the truth is what it says, to the power of `sureness`.
Draw ClassesOf(size_t classes, double sharpness, double sureness) {
    return [=](Synthetic& random) {
        Row row;
        std::vector<double> odds(classes), said(classes), real(classes);
        for (double& one : odds)
            one = sharpness * random.Normal();
        const auto soften = [&](double times, std::vector<double>* out) {
            double sum = 0;
            for (size_t k = 0; k < classes; k++)
                sum += (*out)[k] = std::exp(times * odds[k]);
            for (double& one : *out)
                one /= sum;
        };
        soften(1, &said);
        soften(sureness, &real);
        double left = random.Uniform();
        while (row.truth + 1 < classes && (left -= real[row.truth]) > 0)
            row.truth++;
        row.probabilities = said;
        return row;
    };
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 2000;
    const auto asked = [&](const std::string& title) {
        return argc <= 2 || title.find(argv[2]) != std::string::npos;
    };
    std::map<std::string, std::vector<double>> all;
    for (const auto& [error_name, error] : kErrors)
        for (const auto& [label_name, label] : kLabels)
            for (const double scale : {0.06, 0.25, 0.5}) {
                const auto& draw_error = error;
                const auto& draw_label = label;
                const std::string title = error_name + " errors of " + std::to_string(scale).substr(0, 4) +
                                          ", " + label_name + " labels";
                if (!asked(title))
                    continue;
                RunValues(
                    title.c_str(),
                    [&](Synthetic& random) {
                        Row row;
                        row.label = draw_label(random);
                        row.prediction = std::clamp(row.label + scale * draw_error(random), -1.0, 1.0);
                        return row;
                    },
                    runs, &all);
            }
    for (const size_t classes : {3, 10})
        for (const double sharpness : {0.5, 3.0})
            for (const double sureness : {0.6, 1.0, 1.5}) {
                char title[80];
                std::snprintf(title, sizeof title, "%zu classes, sharpness %g, sureness %g", classes,
                              sharpness, sureness);
                if (!asked(title))
                    continue;
                RunClasses(title, classes, ClassesOf(classes, sharpness, sureness), runs, &all);
            }
    for (auto& [name, coverage] : all) {
        double mean = 0;
        for (const double one : coverage)
            mean += one / static_cast<double>(coverage.size());
        std::sort(coverage.begin(), coverage.end());
        std::printf("%-20s covers %.3f, from %.3f to %.3f in %zu cells\n", name.c_str(), mean,
                    coverage.front(), coverage.back(), coverage.size());
    }
}
