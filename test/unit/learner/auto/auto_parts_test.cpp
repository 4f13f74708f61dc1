// The parts of `auto` against plain computations: bases and their norms, sums over rows and units and their
// sensitivity, histograms and their cleaning, the schedule.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "base/error.h"
#include "learner/auto/auto.h"
#include "learner/auto/noisy_histogram.h"
#include "learner/auto/schedule.h"
#include "learner/rows/additive/basis_rows.h"
#include "privacy/accountant/gdp.h"
#include "support/exact_sums.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// A basis with columns, plain and centred partitions, cells of no leaf, a product and an intercept.
Basis MixedBasis(const std::vector<FeatureSpec>& features, Random& random) {
    Basis basis;
    for (uint32_t f = 0; f < features.size(); f++) {
        BasisBlock block;
        block.view = CodeView::Column(f, features[f].cells());
        if (f % 3 != 1) {
            BasisColumn column;
            for (uint32_t cell = 0; cell < features[f].cells(); cell++)
                column.values.push_back(static_cast<int32_t>(random.Below(1001)) - 500);
            block.columns.push_back(column);
        }
        if (f % 3 != 0) {
            block.partition.leaves = 4;
            for (uint32_t cell = 0; cell < features[f].cells(); cell++)
                block.partition.leaf.push_back(cell % 5 == 4 ? BasisPartition::kNoLeaf : cell % 5);
            if (f % 3 == 2)
                block.partition.Centre(1.7);
        }
        basis.Add(std::move(block));
    }
    BasisBlock product;
    product.view.cells = 16;
    for (uint32_t f = 0; f < 2; f++) {
        ProductFactor factor;
        factor.column = f;
        for (uint32_t cell = 0; cell < features[f].cells(); cell++)
            factor.offsets.push_back(static_cast<uint16_t>(cell % 4 * (f == 0 ? 4 : 1)));
        product.view.factors.push_back(factor);
    }
    product.partition.leaves = 16;
    for (uint32_t cell = 0; cell < 16; cell++)
        product.partition.leaf.push_back(cell);
    basis.Add(std::move(product));
    basis.SetIntercept(100);
    return basis;
}

// phi of a row, entry by entry from the definitions.
std::vector<int64_t> PlainPhi(const Basis& basis, const Dataset& dataset, size_t row) {
    std::vector<int64_t> phi;
    for (const BasisBlock& block : basis.blocks()) {
        uint32_t code = 0;
        if (block.view.factors.empty())
            code = dataset.Code(row, block.view.column);
        for (const ProductFactor& factor : block.view.factors)
            code += factor.offsets[dataset.Code(row, factor.column)];
        for (const BasisColumn& column : block.columns)
            phi.push_back(column.values[code]);
        for (uint32_t leaf = 0; leaf < block.partition.leaves; leaf++) {
            const uint32_t own = block.partition.leaf[code];
            phi.push_back(own == BasisPartition::kNoLeaf ? 0
                          : own == leaf                  ? block.partition.on
                                                         : -block.partition.off);
        }
    }
    phi.push_back(basis.intercept());
    return phi;
}

double Norm(const std::vector<int64_t>& vector) {
    double sum = 0;
    for (const int64_t entry : vector)
        sum += static_cast<double>(entry) * static_cast<double>(entry);
    return std::sqrt(sum);
}

DataShape MixedShape(size_t units) {
    DataShape shape;
    shape.rows = 5000;
    shape.wide = 1;
    shape.units = units;
    return shape;
}

TEST(BasisRows, SumsEqualThePlainComputation) {
    const Dataset dataset = RandomDataset(MixedShape(0));
    ChaChaSource source = TestSource(2);
    Random random(source);
    const Basis basis = MixedBasis(dataset.features(), random);
    NoInterrupt interrupt;
    BasisRows rows(dataset, BestSimd(), interrupt);
    std::vector<int32_t> table(dataset.features()[0].cells());
    for (int32_t& entry : table)
        entry = static_cast<int32_t>(random.Below(1 << 21)) - (1 << 20);
    rows.AddTable(CodeView::Column(0, dataset.features()[0].cells()), table);
    rows.AddTable(CodeView::Column(0, dataset.features()[0].cells()), table);
    rows.AddToBase(12345);
    rows.SetBasis(basis);
    const std::unique_ptr<const Objective> objective =
        MakeObjective(ObjectiveKind::kLogistic, dataset.target(), 0.3, 1);
    const std::vector<int64_t> sums = ExactSums(rows.GradientSums(*objective));
    const std::vector<int64_t> counts = ExactSums(rows.CountSums());

    std::vector<int64_t> plain(basis.coordinates(), 0), plain_counts(basis.coordinates(), 0);
    for (size_t row = 0; row < dataset.rows(); row++) {
        const std::vector<int64_t> phi = PlainPhi(basis, dataset, row);
        ASSERT_EQ(phi.size(), basis.coordinates());
        ASSERT_LE(Norm(phi), RootUp(basis.MaxNormSquared()));
        const int32_t score = 2 * table[dataset.Code(row, 0)] + 12345;
        const float label = dataset.Label(row);
        int32_t gradient = 0, hessian = 0;
        objective->Evaluate(Simd::kPortable, &score, &label, 1, &gradient, &hessian);
        for (size_t k = 0; k < phi.size(); k++) {
            plain[k] += gradient * phi[k];
            plain_counts[k] += kClipSteps * phi[k];
        }
    }
    EXPECT_EQ(sums, plain);
    EXPECT_EQ(counts, plain_counts);
}

// Removing any one unit changes the sums by at most the stated sensitivity, also where rows are scaled down;
// and the bound is met almost exactly by some units.
TEST(BasisRows, OneUnitChangesSumsByTheSensitivityAtMost) {
    for (const int shift : {0, 5}) {
        for (const size_t units : {size_t{0}, size_t{40}}) {
            DataShape shape = MixedShape(units);
            shape.rows = 120;
            const Dataset all = RandomDataset(shape);
            ChaChaSource source = TestSource(3);
            Random random(source);
            const Basis basis = MixedBasis(all.features(), random);
            NoInterrupt interrupt;
            const std::unique_ptr<const Objective> objective =
                MakeObjective(ObjectiveKind::kLogistic, all.target(), 0.2, 1);
            const auto sums_without = [&](uint32_t left_out, double* sensitivity) {
                const Dataset dataset = WithoutUnit(all, units > 0, left_out);
                BasisRows rows(dataset, BestSimd(), interrupt, shift);
                rows.SetBasis(basis, basis.MaxNormSquared() / 20);
                double claimed = 0;
                std::vector<int64_t> sums = ExactSums(rows.GradientSums(*objective), &claimed);
                *sensitivity = rows.Sensitivity();
                EXPECT_DOUBLE_EQ(claimed, *sensitivity);
                const std::vector<int64_t> labels = ExactSums(rows.LabelSums(*objective));
                sums.insert(sums.end(), labels.begin(), labels.end());
                return sums;
            };
            double sensitivity = 0, largest = 0;
            const std::vector<int64_t> full = sums_without(UINT32_MAX, &sensitivity);
            for (uint32_t unit = 0; unit < all.units(); unit++) {
                const std::vector<int64_t> rest = sums_without(unit, &sensitivity);
                for (const size_t begin : {size_t{0}, basis.coordinates()}) {
                    std::vector<int64_t> change;
                    for (size_t k = 0; k < basis.coordinates(); k++)
                        change.push_back(full[begin + k] - rest[begin + k]);
                    EXPECT_LE(Norm(change), sensitivity);
                    largest = std::max(largest, Norm(change));
                }
            }
            EXPECT_GT(largest, 0.95 * sensitivity);
        }
    }
}

AutoSchedule SomeSchedule() {
    return MakeAutoSchedule(ObjectiveKind::kSquared, 1000, 1, 4);
}

Plan PoolPlan(double epsilon) {
    return PlanOf(AutoLearner(AutoOptions(), TargetSpec::Regression(0, 1)), epsilon, 1e-6);
}

TEST(NoisyHistogram, WithoutNoiseIsTheHistogram) {
    DataShape shape;
    shape.rows = 3000;
    const Dataset dataset = RandomDataset(shape);
    NoInterrupt interrupt;
    BasisRows rows(dataset, BestSimd(), interrupt);
    Plan plan = PoolPlan(1);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    Pool pool(releaser, releaser.Find(AutoLearner::kMechanism));
    NoisyHistogram histogram(dataset.features(), 300);
    histogram.Release(0.05, rows, pool);
    const double sigma =
        std::sqrt(static_cast<double>(dataset.columns())) / (GdpMu(1, 1e-6) * std::sqrt(0.05));
    EXPECT_NEAR(noise.last_gaussian_steps / rows.StepsPerOne(), sigma, 1e-3 * sigma);
    histogram.Release(0.1, rows, pool);
    const MarginalCounts counts = histogram.Clean(SomeSchedule(), 0);
    EXPECT_NEAR(counts.rows, 3000, 1e-6);
    for (size_t f = 0; f < dataset.columns(); f++) {
        std::vector<double> plain(dataset.features()[f].cells(), 0.0);
        for (size_t row = 0; row < dataset.rows(); row++)
            plain[dataset.Code(row, f)]++;
        for (size_t cell = 0; cell < plain.size(); cell++)
            EXPECT_NEAR(counts.cells[f][cell], plain[cell], 1e-6);
    }
}

// Released once, with the noise of a twentieth of a training's pool.
NoisyHistogram ReleasedHistogram(const Dataset& dataset, uint32_t cells, double epsilon, unsigned char key) {
    NoInterrupt interrupt;
    BasisRows rows(dataset, BestSimd(), interrupt);
    Plan plan = PoolPlan(epsilon);
    ChaChaSource source = TestSource(key);
    Random random(source);
    ExactNoise noise(random);
    Releaser releaser(plan, noise);
    Pool pool(releaser, releaser.Find(AutoLearner::kMechanism));
    NoisyHistogram histogram(dataset.features(), cells);
    histogram.Release(0.05, rows, pool);
    return histogram;
}

TEST(NoisyHistogram, CleanCountsAreADistributionWhateverTheNoise) {
    const Dataset dataset = RandomDataset(DataShape());
    const NoisyHistogram histogram = ReleasedHistogram(dataset, 12, 0.01, 8);
    for (const uint64_t hint : {uint64_t{0}, uint64_t{500}}) {
        const MarginalCounts counts = histogram.Clean(SomeSchedule(), hint);
        EXPECT_GE(counts.rows, 1);
        for (const std::vector<double>& cells : counts.cells) {
            double sum = 0;
            for (const double count : cells) {
                EXPECT_GE(count, 0);
                sum += count;
            }
            EXPECT_NEAR(sum, counts.rows, 1e-6 * counts.rows);
        }
    }
}

// Twelve features on one grid, the last of them in one bin if `outlier`, the others uniform: the cleaned
// counts at a noise of about 2/3 of a uniform feature's counts.
MarginalCounts CleanOnOneGrid(bool outlier, double* sigma) {
    constexpr size_t kFeatures = 12, kRows = 1600;
    NumericRange range;
    range.bins = 16;
    std::vector<FeatureSpec> features;
    for (size_t f = 0; f < kFeatures; f++)
        features.push_back(FeatureSpec::Numeric("x" + std::to_string(f), range));
    DatasetBuilder builder(features, TargetSpec::Binary(), false);
    for (size_t row = 0; row < kRows; row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < kFeatures; f++)
            builder.SetCode(
                f, static_cast<uint16_t>(outlier && f + 1 == kFeatures ? 3 : (row + f) % range.bins));
        builder.AppendRow(0, UnitKeyOf(static_cast<int64_t>(row)));
    }
    NoInterrupt interrupt;
    *sigma = std::sqrt(static_cast<double>(kFeatures)) / (GdpMu(1, 1e-6) * std::sqrt(0.05));
    return ReleasedHistogram(builder.Finish(interrupt), 16, 1, 21).Clean(SomeSchedule(), kRows);
}

TEST(NoisyHistogram, FeaturesOnOneGridShareWhatTheyHaveInCommon) {
    double sigma = 0;
    const MarginalCounts alike = CleanOnOneGrid(false, &sigma);
    double squares = 0;
    for (const std::vector<double>& cells : alike.cells) {
        for (size_t bin = 0; bin < 16; bin++)
            squares += (cells[bin] - 100) * (cells[bin] - 100) / (16.0 * 12);
    }
    EXPECT_LT(std::sqrt(squares), 0.4 * sigma);  // about sigma / sqrt(12)
    const MarginalCounts mixed = CleanOnOneGrid(true, &sigma);
    EXPECT_GT(mixed.cells[11][3], 1200);  // of 1600
    for (size_t f = 0; f < 11; f++)
        EXPECT_LT(mixed.cells[f][3], 500);
}

TEST(CoarseCells, KeepTheSpecialValueAndMissingApart) {
    NumericRange range;
    range.lower = 0;
    range.upper = 1e5;
    const FeatureSpec wide = FeatureSpec::Numeric("gain", range);
    const std::vector<uint32_t> cells = CoarseCells(wide, 12);
    EXPECT_EQ(cells[0], 0U);
    EXPECT_EQ(cells[1], 1U);
    EXPECT_EQ(cells[wide.missing()], cells[wide.bins() - 1] + 1);
    range.lower = -1e5;
    const FeatureSpec both = FeatureSpec::Numeric("balance", range);
    const std::vector<uint32_t> both_cells = CoarseCells(both, 12);
    uint32_t zero = 0;
    while (both.CellUpper(zero) < 0)
        zero++;
    EXPECT_NE(both_cells[zero], both_cells[zero - 1]);
    EXPECT_NE(both_cells[zero], both_cells[zero + 1]);
    const FeatureSpec levels = FeatureSpec::Levels("l", {"a", "b"});
    EXPECT_EQ(CoarseCells(levels, 12), (std::vector<uint32_t>{0, 1, 2}));
}

// A number that is not in the list would be in no one's list.
TEST(AutoNumbers, EveryFieldIsInTheList) {
    EXPECT_EQ(sizeof(AutoSchedule), (1 + kAutoNumberCount) * sizeof(double));  // nu, and the list
    std::set<std::string> names;
    for (std::size_t k = 0; k < kAutoNumberCount; k++) {
        const NumberRow& row = kAutoNumbers[k];
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_STRNE(row.meaning, "") << row.name;
        EXPECT_STRNE(row.tried, "") << row.name;
        EXPECT_STRNE(row.effect, "") << row.name;
    }
}

// Experiments change what is in use, not a copy.
TEST(AutoNumbers, EachCanBeChanged) {
    AutoSchedule before = MakeAutoSchedule(ObjectiveKind::kLogistic, 20000, 0.2, 10);
    for (std::size_t k = 0; k < kAutoNumberCount; k++) {
        const NumberRow& row = kAutoNumbers[k];
        if (std::string(row.name) == "probabilities" || std::string(row.name) == "product_query")
            continue;  // rules look at them once more
        const AutoSchedule after =
            MakeAutoSchedule(ObjectiveKind::kLogistic, 20000, 0.2, 10, {{row.name, 2}});
        EXPECT_EQ(after.*row.field, 2 * before.*row.field) << row.name;
    }
}

TEST(AutoSchedule, IsSensibleEverywhere) {
    for (const ObjectiveKind objective :
         {ObjectiveKind::kLogistic, ObjectiveKind::kSquared, ObjectiveKind::kPoisson}) {
        for (double rows = 1; rows < 1e9; rows *= 7) {
            for (const double mu : {1e-5, 1e-2, 1.0, 20.0}) {
                for (const uint32_t features : {1U, 20U, 60000U}) {
                    const AutoSchedule s = MakeAutoSchedule(objective, rows, mu, features);
                    const double before = s.histogram_fraction + s.second_histogram + s.fine_histogram +
                                          s.initial_score + s.calibration;
                    EXPECT_LT(before, 0.35);
                    // A stage gets a share that its noise can live with, or none.
                    EXPECT_TRUE(s.residual_share == 0 || s.residual_share > 0.03);
                    EXPECT_LT(s.residual_share, 0.9);
                    EXPECT_GT(s.linear_steps, 0U);
                    EXPECT_GT(s.residual_epochs, 0U);
                    EXPECT_GT(s.residual_leaves, 1U);
                    EXPECT_GT(s.linear_clip, 0);
                    EXPECT_LE(s.linear_clip, 1);
                }
            }
        }
    }
}

}  // namespace
}  // namespace dpboost
