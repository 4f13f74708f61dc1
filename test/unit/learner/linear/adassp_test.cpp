// Checks the parts of method adassp against plain computations with zero noise, and its sensitivities against
// random and worst rows.
#include "learner/linear/adassp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "learner/linear/design.h"
#include "learner/linear/solver.h"
#include "learner/rows/linear_rows.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

AdasspOptions Options(Task task, ObjectiveKind loss, NumericBasis basis) {
    AdasspOptions options;
    options.task = task;
    options.loss = loss;
    options.basis = basis;
    return options;
}

// A row of X, plainly.
std::vector<double> DenseRow(const Dataset& dataset, const Design& design, size_t row) {
    std::vector<double> x(design.columns(), 0);
    for (size_t f = 0; f < dataset.columns(); f++) {
        const Design::Entry entry = design.entries(f)[dataset.Code(row, f)];
        x[entry.column] += entry.value;
    }
    x[design.intercept()] = kDesignUnit;
    return x;
}

double Norm(const std::vector<int64_t>& vector) {
    long double sum = 0;
    for (const int64_t entry : vector)
        sum += static_cast<long double>(entry) * static_cast<long double>(entry);
    return static_cast<double>(std::sqrt(sum));
}

template <typename Body>
ErrorCode CodeOf(const Body& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::kInternal;
}

int WeightOf(const Dataset& dataset, size_t row) {
    if (!dataset.has_units())
        return kUnitWeight;
    const uint32_t unit = dataset.Unit(row);
    return kUnitWeight / static_cast<int>(dataset.unit_begin()[unit + 1] - dataset.unit_begin()[unit]);
}

TEST(Design, HasOneBoundedEntryPerFeature) {
    DataShape shape;
    shape.wide = 1;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    for (const NumericBasis basis : {NumericBasis::kValue, NumericBasis::kGrid, NumericBasis::kIntervals}) {
        const Design design(features, Options(Task::kBinary, ObjectiveKind::kSquared, basis));
        for (size_t f = 0; f < features.size(); f++) {
            ASSERT_EQ(design.entries(f).size(), features[f].cells());
            for (const Design::Entry& entry : design.entries(f)) {
                EXPECT_LE(std::abs(entry.value), kDesignUnit);
                EXPECT_GE(entry.column, design.first_column(f));
                EXPECT_LT(entry.column, design.first_column(f + 1));
            }
            EXPECT_EQ(design.entries(f).back().value, kDesignUnit);  // missing: an indicator of its own
            EXPECT_NE(design.entries(f).back().column, design.entries(f).front().column);
        }
        EXPECT_TRUE(design.dependent());  // because of the levels
    }
}

TEST(Design, ScalesValuesToThePublicRange) {
    NumericRange range;
    range.lower = 100;
    range.upper = 300;
    range.scale = Scale::kLinear;
    range.bins = 4;
    const Design design({FeatureSpec::Numeric("x", range)},
                        Options(Task::kBinary, ObjectiveKind::kSquared, NumericBasis::kValue));
    EXPECT_EQ(design.columns(), 3u);
    EXPECT_FALSE(design.dependent());
    const int expected[] = {-48, -16, 16, 48};  // the middles of the quarters of [-64, 64]
    for (size_t code = 0; code < 4; code++)
        EXPECT_EQ(design.entries(0)[code].value, expected[code]);
}

TEST(LinearRows, ProductsEqualThePlainOnes) {
    for (const size_t units : {0, 60}) {
        DataShape shape;
        shape.units = units;
        shape.rows = 300;
        const Dataset dataset = RandomDataset(shape);
        const AdasspOptions options = Options(Task::kBinary, ObjectiveKind::kSquared, NumericBasis::kGrid);
        const Design design(dataset.features(), options);
        NoInterrupt interrupt;
        const LinearRows rows(dataset, design, options, BestSimd(), interrupt);
        const size_t p = design.columns();
        std::vector<double> plain(p * p, 0);
        for (size_t row = 0; row < dataset.rows(); row++) {
            const std::vector<double> x = DenseRow(dataset, design, row);
            for (size_t a = 0; a < p; a++) {
                for (size_t b = 0; b < p; b++)
                    plain[a * p + b] += WeightOf(dataset, row) * x[a] * x[b];
            }
        }
        const std::vector<int64_t> sums = rows.RawProducts();
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
    AdasspOptions options = Options(c.task, c.loss, NumericBasis::kGrid);
    options.rounds = c.rounds;
    options.gradient_clip = c.clip;
    const Design design(dataset.features(), options);
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
    LinearRows portable(dataset, design, options, Simd::kPortable, interrupt);
    const std::vector<int64_t> sums = portable.RawGradients(base, tables);
    // Each row's gradient is rounded to a step (and truncated, with units): at most two steps of 64 per row.
    for (size_t a = 0; a < plain.size(); a++)
        EXPECT_NEAR(static_cast<double>(sums[a]), plain[a], 2.0 * kDesignUnit * 5000) << a;
    LinearRows vectorised(dataset, design, options, BestSimd(), interrupt);
    EXPECT_EQ(vectorised.RawGradients(base, tables), sums);
    options.rounds = c.rounds == 1 ? 100 : 1;
    LinearRows regrouped(dataset, design, options, BestSimd(), interrupt);
    EXPECT_EQ(regrouped.RawGradients(base, tables), sums);
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
    AdasspOptions options = Options(Task::kBinary, ObjectiveKind::kHinge, NumericBasis::kGrid);
    options.rounds = 1;
    NoInterrupt interrupt;
    for (const bool worst : {false, true}) {
        for (const size_t size : {1, 2, 3, 7, 100, 1023, 1024, 1025, 3000}) {
            const Dataset dataset = OneUnit(size, worst, static_cast<unsigned char>(size));
            const Design design(dataset.features(), options);
            LinearRows rows(dataset, design, options, BestSimd(), interrupt);
            std::vector<std::vector<int32_t>> zeros;
            for (const FeatureSpec& feature : dataset.features())
                zeros.emplace_back(feature.cells(), 0);
            const double products = Norm(rows.RawProducts()), gradients = Norm(rows.RawGradients(0, zeros));
            EXPECT_LE(products, design.ProductSensitivity()) << size;
            EXPECT_LE(gradients, design.GradientSensitivity()) << size;
            if (worst && size <= 2) {  // the bounds are attained
                EXPECT_GT(products, design.ProductSensitivity() * (1 - 1e-12));
                EXPECT_GT(gradients, design.GradientSensitivity() * (1 - 1e-12));
            }
        }
    }
}

TEST(AdasspSolver, FindsTheSmallestEigenvalueWithinItsError) {
    ChaChaSource source = TestSource(9);
    Random random(source);
    const size_t p = 12;
    std::vector<std::pair<uint16_t, uint16_t>> products;
    for (uint16_t a = 0; a < p; a++) {
        for (uint16_t b = a; b < p; b++)
            products.emplace_back(a, b);
    }
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(p, p);
    int64_t last = 0;
    const double bound = static_cast<double>(p) * kDesignUnit * kDesignUnit;
    for (int row = 0; row < 200; row++) {
        Eigen::VectorXd x(p);
        for (size_t a = 0; a < p; a++)
            x(static_cast<Eigen::Index>(a)) = static_cast<double>(random.Below(129)) - 64;
        matrix += x * x.transpose();
        std::vector<int64_t> sums;
        for (const auto& [a, b] : products)
            sums.push_back(static_cast<int64_t>(matrix(a, b)));
        const int64_t smallest = SmallestEigenvalue(p, products, sums);
        const double plain =
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues()(0);
        EXPECT_NEAR(static_cast<double>(smallest), std::fmax(0, plain), 1 + 1e-9 * matrix.norm());
        EXPECT_GE(smallest, last - 1);
        EXPECT_LE(static_cast<double>(smallest - last), bound + 1);
        last = smallest;
    }
    EXPECT_GT(last, 0);
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
    const AdasspSolver solver(p, products, sums, 0.1, 0, 1, interrupt);
    matrix.diagonal().array() += solver.lambda();
    const Eigen::VectorXd right = x.row(0).transpose();
    EXPECT_LT((matrix * solver.Solve(right) - right).norm(), 1e-9);
    for (double& sum : sums)
        sum = -sum;  // negative definite: only a larger ridge helps
    const AdasspSolver negative(p, products, sums, 0.1, 0, 1, interrupt);
    EXPECT_TRUE(negative.Solve(right).allFinite());
}

// Alg 2 with exact sums, plainly: doubles, dense rows, the ridge of the same plan.
Eigen::VectorXd PlainBoosting(const Dataset& dataset, const Design& design, const AdasspOptions& options,
                              double lambda) {
    const Eigen::Index n = static_cast<Eigen::Index>(dataset.rows()),
                       p = static_cast<Eigen::Index>(design.columns());
    Eigen::MatrixXd x(n, p);
    for (Eigen::Index r = 0; r < n; r++) {
        const std::vector<double> row = DenseRow(dataset, design, static_cast<size_t>(r));
        for (Eigen::Index a = 0; a < p; a++)
            x(r, a) = row[static_cast<size_t>(a)] / kDesignUnit;
    }
    const Eigen::MatrixXd ridge = x.transpose() * x + lambda * Eigen::MatrixXd::Identity(p, p);
    Eigen::VectorXd theta = Eigen::VectorXd::Zero(p);
    for (uint32_t round = 0; round < options.rounds; round++) {
        const Eigen::VectorXd scores = x * theta;
        Eigen::VectorXd gradients(n);
        for (Eigen::Index r = 0; r < n; r++)
            gradients(r) = PlainGradient(options.loss, options.task, dataset.Label(static_cast<size_t>(r)),
                                         scores(r), options.gradient_clip);
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
        AdasspOptions options = Options(task, loss, NumericBasis::kGrid);
        options.rounds = loss == ObjectiveKind::kHinge ? 1 : 5;  // the hinge's gradient jumps with rounding
        options.average = false;
        const Design design(dataset.features(), options);
        Plan plan = Plan::Calibrate(BuildAdasspPlan(options, dataset.features(), 1, 1e-6));
        const double unit = 1.0 / (static_cast<double>(kUnitWeight) * kDesignUnit * kDesignUnit);
        const double sigma = plan.ScaleInSteps(plan.Find(kAdasspProductsMechanism), 0) * unit;
        const double p = static_cast<double>(design.columns());
        const double lambda = sigma * std::sqrt(p * std::log(2 * p * p / 0.05));
        ChaChaSource source = TestSource(1);
        Random random(source);
        ZeroNoise noise;
        NoInterrupt interrupt;
        NoProgress progress;
        const Model model = TrainAdassp(dataset, options, plan, random, noise, interrupt, progress);
        EXPECT_TRUE(plan.Finished());
        EXPECT_EQ(noise.gaussian_draws, design.product_count() + options.rounds * design.columns());
        const Eigen::VectorXd theta = PlainBoosting(dataset, design, options, lambda);
        const double scale = loss == ObjectiveKind::kHinge ? 2 : 1;
        EXPECT_NEAR(FromFixed(model.base()), scale * theta(static_cast<Eigen::Index>(design.intercept())),
                    2e-4);
        for (size_t f = 0; f < dataset.columns(); f++) {
            for (size_t code = 0; code < design.entries(f).size(); code++) {
                const Design::Entry entry = design.entries(f)[code];
                EXPECT_NEAR(FromFixed(model.table(f)[code]),
                            scale * theta(entry.column) * entry.value / kDesignUnit, 2e-4);
            }
        }
    }
}

TEST(AdasspPlan, SplitsMuInTheRatioAskedFor) {
    DataShape shape;
    shape.levels = 0;
    AdasspOptions options = Options(Task::kBinary, ObjectiveKind::kSquared, NumericBasis::kGrid);
    options.rounds = 50;
    options.product_weight = 1;
    options.gradient_weight = 3;
    options.lambda_weight = 0.5;
    const Plan plan = Plan::Calibrate(BuildAdasspPlan(options, TestFeatures(shape), 1, 1e-6));
    const double a = 1 / plan.NoiseMultiplier(plan.Find(kAdasspProductsMechanism));
    const double b = std::sqrt(50.0) / plan.NoiseMultiplier(plan.Find(kAdasspGradientsMechanism));
    const double c = 1 / plan.NoiseMultiplier(plan.Find(kAdasspLambdaMechanism));
    EXPECT_NEAR(b / a, 3, 1e-9);
    EXPECT_NEAR(c / a, 0.5, 1e-9);
    EXPECT_EQ(plan.calibrated_by(), "gdp");
    shape.levels = 1;  // dependent columns: no charge for an eigenvalue that is 0 anyway
    EXPECT_EQ(BuildAdasspPlan(options, TestFeatures(shape), 1, 1e-6).mechanisms.size(), 2u);
}

TEST(AdasspPlan, RefusesWhatHasNoProofOrNoSense) {
    const std::vector<FeatureSpec> features = TestFeatures(DataShape());
    AdasspOptions options;
    EXPECT_EQ(CodeOf([&] { BuildAdasspPlan(options, features, 1, 0); }), ErrorCode::kUnsupported);
    options.task = Task::kRegression;
    options.loss = ObjectiveKind::kLogistic;
    EXPECT_EQ(CodeOf([&] { options.Check(); }), ErrorCode::kInvalidParameter);
    options = AdasspOptions();
    options.loss = ObjectiveKind::kHinge;
    options.gradient_clip = 0.5;
    EXPECT_EQ(CodeOf([&] { options.Check(); }), ErrorCode::kInvalidParameter);
    options = AdasspOptions();
    EXPECT_EQ(CodeOf([&] { BuildAdasspPlan(options, {FeatureSpec::Hashed("h", 5000)}, 1, 1e-6); }),
              ErrorCode::kLimitExceeded);
    EXPECT_EQ(CodeOf([&] { BuildAdasspPlan(options, {}, 1, 1e-6); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { AdasspOptions::Preset("adasp", Task::kBinary, 1); }),
              ErrorCode::kInvalidParameter);
}

TEST(AdasspTraining, TrainsOnAnythingAtAnyEpsilon) {
    for (const size_t rows : {0, 1, 50}) {
        for (const double epsilon : {0.001, 1.0, 50.0}) {
            DataShape shape;
            shape.rows = rows;
            shape.units = rows == 50 ? 7 : 0;
            shape.missing_percent = 100;
            shape.levels = rows == 1 ? 0 : 1;
            const Dataset dataset = RandomDataset(shape);
            AdasspOptions options = AdasspOptions::Defaults(Task::kBinary, epsilon);
            options.basis = NumericBasis::kValue;
            Plan plan = Plan::Calibrate(BuildAdasspPlan(options, dataset.features(), epsilon, 1e-6));
            ChaChaSource source = TestSource(3);
            Random random(source);
            ExactNoise noise(random);
            NoInterrupt interrupt;
            NoProgress progress;
            const Model model = TrainAdassp(dataset, options, plan, random, noise, interrupt, progress);
            std::vector<uint16_t> codes(dataset.columns(), 0);
            const double prediction = model.Predict(codes.data());
            EXPECT_GE(prediction, 0);
            EXPECT_LE(prediction, 1);
        }
    }
}

}  // namespace
}  // namespace dpboost
