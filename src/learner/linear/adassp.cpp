#include "learner/linear/adassp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/linear/solver.h"
#include "learner/rows/linear/linear_rows.h"

namespace dpboost {
namespace {

constexpr const char* kLosses[] = {"squared", "logistic", "hinge"};

constexpr OptionRow kRows[] = {
    WordAmong<&AdasspOptions::loss, ObjectiveKind::kSquared, ObjectiveKind::kLogistic, ObjectiveKind::kHinge>(
        "loss", kLosses, "what is minimised"),
    Whole<&AdasspOptions::rounds>("rounds", 1, 100000, "rounds of boosting"),
    NumberAbove<&AdasspOptions::learning_rate>("learning_rate", 0, 2, "step size"),
    Number<&AdasspOptions::gradient_clip>("gradient_clip", 0.001, 10, "bound on a person's influence"),
};

constexpr char kPaper[] =
    "Rho, Archambeau, Aydore, Ermis, Kearns, Roth, Tang, Wang, Wu: Differentially Private Gradient Boosting "
    "on Linear "
    "Learners for Tabular Data Analysis (2022), BoostedAdaSSP";

template <ObjectiveKind kLoss>
std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext& context,
                              const std::vector<GivenOption>& given) {
    AdasspOptions options;
    options.loss = kLoss;
    method.options.Apply(given, &options);
    return std::make_unique<AdasspLearner>(options, context.features, context.target);
}

std::unique_ptr<const Objective> ObjectiveOf(const AdasspOptions& options, const TargetSpec& target) {
    const bool binary = target.task() == Task::kBinary;
    if (options.loss != ObjectiveKind::kSquared && !binary)
        RefuseOption("loss", "\"squared\" for a numeric target",
                     "The logistic and the hinge loss are for targets with two values.");
    if (options.loss == ObjectiveKind::kHinge && options.gradient_clip != 1)
        RefuseOption("gradient_clip", "1 for the hinge loss", "Its gradient is -1, 0 or 1.");
    const bool signs = options.loss == ObjectiveKind::kSquared && binary;
    return MakeObjective(signs ? ObjectiveKind::kSigns : options.loss, target, options.gradient_clip, 1);
}

MechanismRequest Gaussian(const char* name, uint64_t count, double mu, double sensitivity, std::size_t sums) {
    MechanismRequest request;
    request.name = name;
    request.kind = EventKind::kGaussian;
    request.count = count;
    request.rest = mu * mu;
    request.dimensions = {{sensitivity, 1, sums}};
    return request;
}

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
        for (const uint16_t column : design.columns_of(f))
            most = std::max(most, std::fabs((*theta)(column)));
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
        for (const uint16_t column : design.columns_of(f))
            table.push_back(ToFixed(scale * (*theta)(column)));
        tables.features.push_back(std::move(table));
    }
    return tables;
}

// Neighbours: add or remove one unit. Sensitivity: Design::ProductSensitivity. Charge: one event of kProducts (Alg 2,
// "part 1"; part 3, the smallest eigenvalue, is 0 by construction).
AdasspSolver ReleaseSolver(const Design& design, double ridge, LinearRows& rows, Run& run) {
    constexpr double kUnit = 1.0 / (static_cast<double>(kUnitWeight) * kDesignOne * kDesignOne);
    const NoisySums sums = run.releaser.Release(run.releaser.Find(AdasspLearner::kProducts), rows.Products());
    std::vector<double> products;
    products.reserve(sums.values.size());
    for (const int64_t sum : sums.values)
        products.push_back(static_cast<double>(sum) * kUnit);
    return AdasspSolver(design.columns(), design.products(), products, sums.sigma * kUnit, ridge,
                        run.interrupt);
}

}  // namespace

const MethodInfo kAdassp = {"adassp",
                            "boosted linear models, squared loss",
                            kPaper,
                            "effects that are linear in each column; F1 scores at small epsilon",
                            false,
                            kRows,
                            &Make<ObjectiveKind::kSquared>};
const MethodInfo kAdasspLogistic = {"adassp_logistic",
                                    "boosted linear models, logistic loss",
                                    kPaper,
                                    "the same, with probabilities",
                                    false,
                                    kRows,
                                    &Make<ObjectiveKind::kLogistic>};
const MethodInfo kAdasspHinge = {
    "adassp_hinge", "boosted linear models, hinge loss", kPaper, "comparison with linear classifiers", false,
    kRows,          &Make<ObjectiveKind::kHinge>};

AdasspLearner::AdasspLearner(const AdasspOptions& options, const std::vector<FeatureSpec>& features,
                             const TargetSpec& target)
    : options_(options), design_(features, options.intervals), objective_(ObjectiveOf(options, target)) {}

std::vector<MechanismRequest> AdasspLearner::Mechanisms() const {
    return {Gaussian(kProducts, 1, options_.product_weight, design_.ProductSensitivity(),
                     design_.product_count()),
            Gaussian(kGradients, options_.rounds, options_.gradient_weight, design_.GradientSensitivity(),
                     design_.columns())};
}

Footprint AdasspLearner::footprint(bool has_units) const {
    Footprint footprint;
    footprint.bytes_per_row = LinearRows::BytesPerRow(design_.features(), has_units);
    return footprint;
}

// Each round: neighbours add or remove one unit; sensitivity Design::GradientSensitivity; charge: one event of kGradients
// (Alg 2, "part 2").
void AdasspLearner::Train(Run& run) const {
    const Design design(run.model.features(), options_.intervals);
    LinearRows rows(run.rows, design, *objective_, options_.rounds, run.settings.simd, run.interrupt,
                    run.settings.threads);
    const AdasspSolver solver = ReleaseSolver(design, options_.ridge, rows, run);
    const MechanismId id = run.releaser.Find(kGradients);
    const double unit = options_.gradient_clip / (static_cast<double>(kClipSteps) * kDesignOne);
    const Eigen::Index columns = static_cast<Eigen::Index>(design.columns());
    Eigen::VectorXd theta = Eigen::VectorXd::Zero(columns);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(columns);
    Eigen::VectorXd gradient(columns);
    const uint32_t first_averaged = options_.average ? options_.rounds / 2 : options_.rounds - 1;
    for (uint32_t round = 0; round < options_.rounds; round++) {
        const Tables tables = MakeTables(design, &theta, 1);
        const NoisySums sums = run.releaser.Release(id, rows.Gradients(tables.base, tables.features));
        for (Eigen::Index i = 0; i < columns; i++)
            gradient(i) = static_cast<double>(sums.values[static_cast<std::size_t>(i)]) * unit;
        theta += options_.learning_rate * solver.Solve(gradient);
        if (round >= first_averaged)
            mean += theta;
        run.progress.Report(round + 1, options_.rounds);
        run.interrupt.Poll();
    }
    mean /= options_.rounds - first_averaged;
    const Tables tables = MakeTables(design, &mean, objective_->link_scale());
    run.model.AddToBase(tables.base);
    for (std::size_t f = 0; f < tables.features.size(); f++)
        run.model.AddTable(f, tables.features[f]);
}

}  // namespace dpboost
