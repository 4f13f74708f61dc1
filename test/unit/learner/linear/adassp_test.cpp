// Checks the parts of method adassp against plain computations with zero noise, and its sensitivities against
// random and worst rows.
#include "learner/linear/adassp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "learner/linear/solver.h"
#include "learner/rows/linear/design.h"
#include "learner/rows/linear/linear_rows.h"
#include "support/exact_sums.h"
#include "support/thrown.h"
#include "support/train_with.h"
#include "unit/learner/any_epsilon.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

AdasspOptions Options(ObjectiveKind loss) {
    AdasspOptions options;
    options.loss = loss;
    return options;
}

// As the learner makes it: the squared loss of a binary target is that of signs.
std::unique_ptr<const Objective> ObjectiveOf(ObjectiveKind loss, const TargetSpec& target, double clip) {
    const bool signs = loss == ObjectiveKind::kSquared && target.task() == Task::kBinary;
    return MakeObjective(signs ? ObjectiveKind::kSigns : loss, target, clip, 1);
}

// A row of X, plainly.
std::vector<double> DenseRow(const Dataset& dataset, const Design& design, size_t row) {
    std::vector<double> x(design.columns(), 0);
    for (size_t f = 0; f < dataset.columns(); f++)
        x[design.columns_of(f)[dataset.Code(row, f)]] += kDesignOne;
    x[design.intercept()] = kDesignOne;
    return x;
}

double Norm(const std::vector<int64_t>& vector) {
    long double sum = 0;
    for (const int64_t entry : vector)
        sum += static_cast<long double>(entry) * static_cast<long double>(entry);
    return static_cast<double>(std::sqrt(sum));
}

int WeightOf(const Dataset& dataset, size_t row) {
    if (!dataset.has_units())
        return kUnitWeight;
    const uint32_t unit = dataset.Unit(row);
    return kUnitWeight / static_cast<int>(dataset.unit_begin()[unit + 1] - dataset.unit_begin()[unit]);
}

TEST(Design, HasOneColumnPerIntervalAndLevel) {
    DataShape shape;
    shape.wide = 1;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    const Design design(features, 8);
    for (size_t f = 0; f < features.size(); f++) {
        const std::vector<uint16_t>& columns = design.columns_of(f);
        ASSERT_EQ(columns.size(), features[f].cells());
        EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end()));
        EXPECT_EQ(columns.front(), design.first_column(f));
        EXPECT_EQ(columns.back() + 1U, design.first_column(f + 1));
        EXPECT_LT(columns[columns.size() - 2], columns.back());  // missing: an indicator of its own
        const size_t groups = features[f].ordered() ? std::min(features[f].bins(), 8U) : features[f].bins();
        EXPECT_EQ(columns.back() - columns.front(), groups);
    }
    EXPECT_EQ(design.columns(), design.first_column(features.size()) + 1);
}

TEST(LinearRows, ProductsEqualThePlainOnes) {
    for (const size_t units : {0, 60}) {
        DataShape shape;
        shape.units = units;
        shape.rows = 300;
        const Dataset dataset = RandomDataset(shape);
        const Design design(dataset.features(), 8);
        NoInterrupt interrupt;
        const auto objective = ObjectiveOf(ObjectiveKind::kSquared, dataset.target(), 1);
        LinearRows rows(dataset, design, *objective, 100, BestSimd(), interrupt);
        const size_t p = design.columns();
        std::vector<double> plain(p * p, 0);
        for (size_t row = 0; row < dataset.rows(); row++) {
            const std::vector<double> x = DenseRow(dataset, design, row);
            for (size_t a = 0; a < p; a++) {
                for (size_t b = 0; b < p; b++)
                    plain[a * p + b] += WeightOf(dataset, row) * x[a] * x[b];
            }
        }
        const std::vector<int64_t> sums = ExactSums(rows.Products());
        ASSERT_EQ(sums.size(), design.product_count());
        std::vector<bool> released(p * p, false);
        for (size_t i = 0; i < sums.size(); i++) {
            const auto [a, b] = design.products()[i];
            EXPECT_EQ(static_cast<double>(sums[i]), plain[a * p + b]);
            released[a * p + b] = released[b * p + a] = true;
        }
        for (size_t i = 0; i < p * p; i++) {
            if (!released[i]) {
                EXPECT_EQ(plain[i], 0) << "an entry that is not released must be 0 by construction";
            }
        }
    }
}

double PlainGradient(ObjectiveKind loss, Task task, double label, double score, double clip) {
    double gradient = 0;
    const double sign = task == Task::kBinary ? 2 * label - 1 : label;
    if (loss == ObjectiveKind::kSquared)
        gradient = sign - score;
    else if (loss == ObjectiveKind::kLogistic)
        gradient = label - 1 / (1 + std::exp(-score));
    else
        gradient = 1 - sign * score > 0 ? sign : 0;
    return std::fmin(clip, std::fmax(-clip, gradient));
}

struct GradientCase {
    Task task;
    ObjectiveKind loss;
    double clip;
    uint32_t rounds;  // 1: codes are not grouped
    size_t units;
};

void PrintTo(const GradientCase& c, std::ostream* out) {
    *out << "loss " << static_cast<int>(c.loss) << " clip " << c.clip << " rounds " << c.rounds << " units "
         << c.units;
}

class AdasspGradients : public testing::TestWithParam<GradientCase> {};

TEST_P(AdasspGradients, EqualThePlainOnes) {
    const GradientCase& c = GetParam();
    DataShape shape;
    shape.task = c.task;
    shape.rows = 5000;  // more than a block
    shape.wide = 1;
    shape.units = c.units;
    const Dataset dataset = RandomDataset(shape);
    const Design design(dataset.features(), 8);
    const auto objective = ObjectiveOf(c.loss, dataset.target(), c.clip);
    ChaChaSource source = TestSource(5);
    Random random(source);
    std::vector<std::vector<int32_t>> tables;
    for (const FeatureSpec& feature : dataset.features()) {
        tables.emplace_back();
        for (uint32_t code = 0; code < feature.cells(); code++)
            tables.back().push_back(static_cast<int32_t>(random.Below(1 << 21)) - (1 << 20));
    }
    const int32_t base = 12345;
    std::vector<double> plain(design.columns(), 0);
    for (size_t row = 0; row < dataset.rows(); row++) {
        int64_t score = base;
        for (size_t f = 0; f < dataset.columns(); f++)
            score += tables[f][dataset.Code(row, f)];
        const double gradient =
            PlainGradient(c.loss, c.task, dataset.Label(row), FromFixed(score), c.clip) * kClipSteps / c.clip;
        const std::vector<double> x = DenseRow(dataset, design, row);
        for (size_t a = 0; a < x.size(); a++)
            plain[a] += gradient * WeightOf(dataset, row) / kUnitWeight * x[a];
    }
    NoInterrupt interrupt;
    LinearRows portable(dataset, design, *objective, c.rounds, Simd::kPortable, interrupt);
    const std::vector<int64_t> sums = ExactSums(portable.Gradients(base, tables));
    // Each row's gradient is rounded to a step (and truncated, with units): at most two steps of 64 per row.
    for (size_t a = 0; a < plain.size(); a++)
        EXPECT_NEAR(static_cast<double>(sums[a]), plain[a], 2.0 * kDesignOne * 5000) << a;
    LinearRows vectorised(dataset, design, *objective, c.rounds, BestSimd(), interrupt);
    EXPECT_EQ(ExactSums(vectorised.Gradients(base, tables)), sums);
    LinearRows regrouped(dataset, design, *objective, c.rounds == 1 ? 100 : 1, BestSimd(), interrupt);
    EXPECT_EQ(ExactSums(regrouped.Gradients(base, tables)), sums);
}

INSTANTIATE_TEST_SUITE_P(Losses, AdasspGradients,
                         testing::Values(GradientCase{Task::kBinary, ObjectiveKind::kSquared, 1, 1, 0},
                                         GradientCase{Task::kRegression, ObjectiveKind::kSquared, 0.3, 100,
                                                      0},
                                         GradientCase{Task::kBinary, ObjectiveKind::kLogistic, 1, 100, 0},
                                         GradientCase{Task::kBinary, ObjectiveKind::kLogistic, 0.5, 100, 700},
                                         GradientCase{Task::kBinary, ObjectiveKind::kHinge, 1, 100, 0},
                                         GradientCase{Task::kBinary, ObjectiveKind::kHinge, 1, 1, 700}));

// One unit with many rows, random or all alike and at the bounds.
Dataset OneUnit(size_t rows, bool worst, unsigned char key) {
    DataShape shape;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    ChaChaSource source = TestSource(key);
    Random random(source);
    DatasetBuilder builder(features, TargetSpec::Binary(), true);
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < features.size(); f++)
            builder.SetCode(
                f, worst ? features[f].missing() : static_cast<uint16_t>(random.Below(features[f].cells())));
        builder.AppendRow(worst ? 1.0F : static_cast<float>(random.Below(2)), UnitKeyOf(int64_t{1}));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

TEST(AdasspSensitivity, HoldsForAUnitOfAnySize) {
    NoInterrupt interrupt;
    for (const bool worst : {false, true}) {
        for (const size_t size : {1, 2, 3, 7, 100, 1023, 1024, 1025, 3000}) {
            const Dataset dataset = OneUnit(size, worst, static_cast<unsigned char>(size));
            const Design design(dataset.features(), 8);
            const auto objective = ObjectiveOf(ObjectiveKind::kHinge, dataset.target(), 1);
            LinearRows rows(dataset, design, *objective, 1, BestSimd(), interrupt);
            std::vector<std::vector<int32_t>> zeros;
            for (const FeatureSpec& feature : dataset.features())
                zeros.emplace_back(feature.cells(), 0);
            double of_products = 0, of_gradients = 0;
            const double products = Norm(ExactSums(rows.Products(), &of_products));
            const double gradients = Norm(ExactSums(rows.Gradients(0, zeros), &of_gradients));
            EXPECT_DOUBLE_EQ(of_products, design.ProductSensitivity());
            EXPECT_DOUBLE_EQ(of_gradients, design.GradientSensitivity());
            EXPECT_LE(products, design.ProductSensitivity()) << size;
            EXPECT_LE(gradients, design.GradientSensitivity()) << size;
            if (worst && size <= 2) {  // the bounds are attained
                EXPECT_GT(products, design.ProductSensitivity() * (1 - 1e-12));
                EXPECT_GT(gradients, design.GradientSensitivity() * (1 - 1e-12));
            }
        }
    }
}

TEST(AdasspSolver, SolvesInPanelsAndMakesAnyMatrixDefinite) {
    ChaChaSource source = TestSource(10);
    Random random(source);
    NoInterrupt interrupt;
    const Eigen::Index p = 131;
    std::vector<std::pair<uint16_t, uint16_t>> products;
    std::vector<double> sums;
    Eigen::MatrixXd x(2 * p, p);
    for (Eigen::Index i = 0; i < x.size(); i++)
        x.data()[i] = static_cast<double>(random.Below(2001)) / 1000 - 1;
    Eigen::MatrixXd matrix = x.transpose() * x;
    for (uint16_t a = 0; a < p; a++) {
        for (uint16_t b = a; b < p; b++) {
            products.emplace_back(a, b);
            sums.push_back(matrix(a, b));
        }
    }
    const AdasspSolver solver(p, products, sums, 0.1, 1, interrupt);
    matrix.diagonal().array() += solver.lambda();
    const Eigen::VectorXd right = x.row(0).transpose();
    EXPECT_LT((matrix * solver.Solve(right) - right).norm(), 1e-9);
    for (double& sum : sums)
        sum = -sum;  // negative definite: only a larger ridge helps
    const AdasspSolver negative(p, products, sums, 0.1, 1, interrupt);
    EXPECT_TRUE(negative.Solve(right).allFinite());
}

// Alg 2 with exact sums, plainly: doubles, dense rows, the ridge of the same plan.
Eigen::VectorXd PlainBoosting(const Dataset& dataset, const Design& design, const AdasspOptions& options,
                              double lambda) {
    const Task task = dataset.target().task();
    const Eigen::Index n = static_cast<Eigen::Index>(dataset.rows()),
                       p = static_cast<Eigen::Index>(design.columns());
    Eigen::MatrixXd x(n, p);
    for (Eigen::Index r = 0; r < n; r++) {
        const std::vector<double> row = DenseRow(dataset, design, static_cast<size_t>(r));
        for (Eigen::Index a = 0; a < p; a++)
            x(r, a) = row[static_cast<size_t>(a)] / kDesignOne;
    }
    const Eigen::MatrixXd ridge = x.transpose() * x + lambda * Eigen::MatrixXd::Identity(p, p);
    Eigen::VectorXd theta = Eigen::VectorXd::Zero(p);
    for (uint32_t round = 0; round < options.rounds; round++) {
        const Eigen::VectorXd scores = x * theta;
        Eigen::VectorXd gradients(n);
        for (Eigen::Index r = 0; r < n; r++)
            gradients(r) = PlainGradient(options.loss, task, dataset.Label(static_cast<size_t>(r)), scores(r),
                                         options.gradient_clip);
        theta += options.learning_rate * ridge.ldlt().solve(x.transpose() * gradients);
    }
    return theta;
}

TEST(AdasspTraining, WithoutNoiseIsPlainBoosting) {
    using Case = std::pair<Task, ObjectiveKind>;
    for (const auto& [task, loss] :
         {Case{Task::kRegression, ObjectiveKind::kSquared}, Case{Task::kBinary, ObjectiveKind::kSquared},
          Case{Task::kBinary, ObjectiveKind::kLogistic}, Case{Task::kBinary, ObjectiveKind::kHinge}}) {
        DataShape shape;
        shape.task = task;
        shape.rows = 2000;
        const Dataset dataset = RandomDataset(shape);
        AdasspOptions options = Options(loss);
        options.rounds = loss == ObjectiveKind::kHinge ? 1 : 5;  // the hinge's gradient jumps with rounding
        options.average = false;
        const AdasspLearner learner(options, dataset.features(), dataset.target());
        const Design& design = learner.design();
        Plan plan = PlanOf(learner, 1, 1e-6);
        const double unit = 1.0 / (static_cast<double>(kUnitWeight) * kDesignOne * kDesignOne);
        const double sigma = plan.ScaleInSteps(plan.Find(AdasspLearner::kProducts), 0) * unit;
        const double p = static_cast<double>(design.columns());
        const double lambda = sigma * std::sqrt(p * std::log(2 * p * p / 0.05));
        ChaChaSource source = TestSource(1);
        Random random(source);
        ZeroNoise noise;
        const Model model = TrainLearner(learner, dataset, plan, random, noise);
        EXPECT_TRUE(plan.Finished());
        EXPECT_EQ(noise.gaussian_draws, design.product_count() + options.rounds * design.columns());
        const Eigen::VectorXd theta = PlainBoosting(dataset, design, options, lambda);
        const double scale = loss == ObjectiveKind::kHinge ? 2 : 1;
        EXPECT_NEAR(FromFixed(model.base()), scale * theta(static_cast<Eigen::Index>(design.intercept())),
                    2e-4);
        for (size_t f = 0; f < dataset.columns(); f++) {
            for (size_t code = 0; code < design.columns_of(f).size(); code++)
                EXPECT_NEAR(FromFixed(model.table(f)[code]), scale * theta(design.columns_of(f)[code]), 2e-4);
        }
    }
}

TEST(AdasspPlan, SplitsMuInTheRatioAskedFor) {
    AdasspOptions options = Options(ObjectiveKind::kSquared);
    options.rounds = 50;
    options.product_weight = 1;
    options.gradient_weight = 3;
    const AdasspLearner learner(options, TestFeatures(DataShape()), TargetSpec::Binary());
    const Plan plan = PlanOf(learner, 1, 1e-6);
    const double a = 1 / plan.NoiseMultiplier(plan.Find(AdasspLearner::kProducts));
    const double b = std::sqrt(50.0) / plan.NoiseMultiplier(plan.Find(AdasspLearner::kGradients));
    EXPECT_NEAR(b / a, 3, 1e-9);
    EXPECT_EQ(plan.calibrated_by(), "gdp");
    EXPECT_THROW(PlanOf(learner, 1, 0), Error);  // Gaussian noise has no pure DP
}

TEST(AdasspOptions, RefuseWhatHasNoSense) {
    const std::vector<FeatureSpec> features = TestFeatures(DataShape());
    const TargetSpec binary = TargetSpec::Binary(), number = TargetSpec::Regression(0, 1);
    const auto make = [&](const MethodInfo& method, const TargetSpec& target, const GivenOption& option,
                          const std::vector<FeatureSpec>& columns) {
        return CodeOf([&] { method.make(method, {columns, target, 1, 1e-6}, {option}); });
    };
    const GivenOption few = Given("rounds", 5);
    for (const MethodInfo* method : {&kAdasspLogistic, &kAdasspHinge})
        EXPECT_EQ(make(*method, number, few, features), ErrorCode::kInvalidParameter);
    EXPECT_EQ(make(kAdassp, number, Given("loss", "hinge"), features), ErrorCode::kInvalidParameter);
    EXPECT_EQ(make(kAdasspHinge, binary, Given("gradient_clip", 0.5), features),
              ErrorCode::kInvalidParameter);
    for (const GivenOption& wrong :
         {Given("rounds", 0.0), Given("learning_rate", 0.0), Given("learning_rate", 2.1),
          Given("gradient_clip", 11), Given("loss", "poisson")})
        EXPECT_EQ(make(kAdassp, binary, wrong, features), ErrorCode::kInvalidParameter) << wrong.key;
    EXPECT_EQ(make(kAdassp, binary, few, {FeatureSpec::Hashed("h", 5000)}), ErrorCode::kLimitExceeded);
    EXPECT_EQ(make(kAdassp, binary, few, {}), ErrorCode::kInvalidParameter);
}

// As where a column's range is found after the plan was made.
TEST(AdasspTraining, TakesEncodingsWithFewerCellsThanPlanned) {
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    shape.numeric = 5;
    std::vector<FeatureSpec> planned = TestFeatures(shape);
    planned.erase(planned.begin() + 1,
                  planned.begin() + 3);  // of 40 and 2 bins, instead 129 and 255 of the next
    ASSERT_EQ(planned.size(), dataset.columns());
    const AdasspLearner learner({}, planned, dataset.target());
    ASSERT_GT(learner.design().columns(), Design(dataset.features(), 8).columns());
    Plan plan = PlanOf(learner, 1, 1e-6);
    ChaChaSource source = TestSource(3);
    Random random(source);
    ExactNoise noise(random);
    const Model model = TrainLearner(learner, dataset, plan, random, noise);
    EXPECT_TRUE(plan.Finished());
    for (size_t f = 0; f < dataset.columns(); f++)
        EXPECT_EQ(model.table(f).size(), dataset.features()[f].cells());
}

TEST(AdasspTraining, TrainsOnAnythingAtAnyEpsilon) {
    for (const size_t rows : {0, 1, 50}) {
        DataShape shape;
        shape.rows = rows;
        shape.units = rows == 50 ? 7 : 0;
        shape.missing_percent = 100;
        shape.levels = rows == 1 ? 0 : 1;
        ExpectTrainsAtAnyEpsilon(kAdassp, shape, 1e-6);
    }
}

}  // namespace
}  // namespace dpboost
