#include "learner/linear/adassp.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "learner/linear/design.h"
#include "learner/linear/solver.h"
#include "learner/rows/linear_rows.h"
#include "mechanism/noisy_sum.h"

namespace dpboost {
namespace {

// Scores are 32-bit fixed-point numbers of 2^-20, below 2048.
constexpr double kMaxScore = 1000;

// The coefficients of a linear model as the tables that training and prediction add up.
struct Tables {
    int32_t base = 0;
    std::vector<std::vector<int32_t>> features;
};

// theta is scaled down, if noise blew it up, so that no row's score can pass kMaxScore.
Tables MakeTables(const Design& design, Eigen::VectorXd* theta, double scale) {
    double largest = std::fabs((*theta)(static_cast<Eigen::Index>(design.intercept())));
    for (std::size_t f = 0; f < design.features(); f++) {
        double most = 0;
        for (const Design::Entry& entry : design.entries(f))
            most = std::max(most, std::fabs((*theta)(entry.column) * entry.value / kDesignUnit));
        largest += most;
    }
    if (!(largest * scale <= kMaxScore)) {
        if (theta->allFinite())
            *theta *= kMaxScore / (largest * scale);
        else
            theta->setZero();
    }
    Tables tables;
    tables.base = ToFixed(scale * (*theta)(static_cast<Eigen::Index>(design.intercept())));
    for (std::size_t f = 0; f < design.features(); f++) {
        std::vector<int32_t> table;
        for (const Design::Entry& entry : design.entries(f))
            table.push_back(ToFixed(scale * (*theta)(entry.column) * entry.value / kDesignUnit));
        tables.features.push_back(std::move(table));
    }
    return tables;
}

// Releases X'X and, if it can be above 0, its smallest eigenvalue (Alg 2, "part 1 & 3").
AdasspSolver ReleaseSolver(const Design& design, const AdasspOptions& options, const LinearRows& rows,
                           Plan& plan, NoiseSource& noise, Interrupt& interrupt) {
    const double unit = 1.0 / (static_cast<double>(kUnitWeight) * kDesignUnit * kDesignUnit);
    std::vector<int64_t> noisy_sums = rows.RawProducts();
    double eigenvalue = 0;
    if (design.ReleasesEigenvalue(options)) {
        int64_t noisy_smallest = SmallestEigenvalue(design.columns(), design.products(), noisy_sums);
        const MechanismId id = plan.Find(kAdasspLambdaMechanism);
        AddGaussianNoise(plan.Take(id), noise, SumBlock{&noisy_smallest, 1});
        // AdaSSP takes a lower bound: exceeded with probability 1.3e-3 only.
        eigenvalue = std::max(0.0, static_cast<double>(noisy_smallest) - 3 * plan.ScaleInSteps(id, 0)) * unit;
    }
    const MechanismId id = plan.Find(kAdasspProductsMechanism);
    AddGaussianNoise(plan.Take(id), noise, SumBlock{noisy_sums.data(), noisy_sums.size()});
    std::vector<double> natural;
    natural.reserve(noisy_sums.size());
    for (const int64_t sum : noisy_sums)
        natural.push_back(static_cast<double>(sum) * unit);
    return AdasspSolver(design.columns(), design.products(), natural, plan.ScaleInSteps(id, 0) * unit,
                        eigenvalue, options.ridge, interrupt);
}

Model MakeModel(const Dataset& dataset, const AdasspOptions& options, const Design& design,
                Eigen::VectorXd theta) {
    const std::unique_ptr<const Objective> objective = options.MakeObjective(dataset.target());
    Model model(dataset.features(), dataset.target(), objective->link());
    const Tables tables = MakeTables(design, &theta, objective->link_scale());
    model.AddToBase(tables.base);
    for (std::size_t f = 0; f < tables.features.size(); f++)
        model.AddTable(f, tables.features[f]);
    return model;
}

}  // namespace

std::size_t AdasspBytesPerRow(const AdasspOptions&, std::size_t features, bool has_units) {
    return LinearRows::BytesPerRow(features, has_units);
}

Model TrainAdassp(const Dataset& dataset, const AdasspOptions& options, Plan& plan, Random&,
                  NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                  const TrainingSettings& settings) {
    options.Check();
    CheckInternal(options.task == dataset.target().task(),
                  "the options are for another task than the dataset");
    dataset.RequireMemory(dataset.rows() *
                          AdasspBytesPerRow(options, dataset.columns(), dataset.has_units()));
    const Design design(dataset.features(), options);
    LinearRows rows(dataset, design, options, settings.simd, interrupt);
    const AdasspSolver solver = ReleaseSolver(design, options, rows, plan, noise, interrupt);
    const MechanismId id = plan.Find(kAdasspGradientsMechanism);
    const double unit = options.gradient_clip / (static_cast<double>(kClipSteps) * kDesignUnit);
    const Eigen::Index columns = static_cast<Eigen::Index>(design.columns());
    Eigen::VectorXd theta = Eigen::VectorXd::Zero(columns);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(columns);
    Eigen::VectorXd gradient(columns);
    const uint32_t first_averaged = options.average ? options.rounds / 2 : options.rounds - 1;
    for (uint32_t round = 0; round < options.rounds; round++) {
        const Tables tables = MakeTables(design, &theta, 1);
        std::vector<int64_t> noisy_sums = rows.RawGradients(tables.base, tables.features);
        AddGaussianNoise(plan.Take(id), noise, SumBlock{noisy_sums.data(), noisy_sums.size()});
        for (Eigen::Index i = 0; i < columns; i++)
            gradient(i) = static_cast<double>(noisy_sums[static_cast<std::size_t>(i)]) * unit;
        theta += options.learning_rate * solver.Solve(gradient);
        if (round >= first_averaged)
            mean += theta;
        progress.Report(round + 1, options.rounds);
        interrupt.Poll();
    }
    CheckInternal(plan.Finished(), "the plan was made for other options");
    return MakeModel(dataset, options, design, mean / (options.rounds - first_averaged));
}

}  // namespace dpboost
