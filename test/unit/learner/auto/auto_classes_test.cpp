// `auto` with a score per class: sums over rows with K gradients each and what one unit changes of them, two classes
// against the logistic loss, and that it learns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/auto.h"
#include "learner/auto/interactions/interactions.h"
#include "learner/auto/residual_stage.h"
#include "learner/objective/losses.h"
#include "model/predictor.h"
#include "support/exact_sums.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

DataShape ClassShape(size_t classes, size_t rows, size_t units = 0) {
    DataShape shape;
    shape.task = Task::kClasses;
    shape.classes = classes;
    shape.rows = rows;
    shape.units = units;
    return shape;
}

// Indicators of all cells of every feature, and an intercept.
Basis CellBasis(const std::vector<FeatureSpec>& features) {
    Basis basis;
    for (uint32_t f = 0; f < features.size(); f++) {
        BasisBlock block;
        block.view = CodeView::Column(f, features[f].cells());
        block.partition.leaves = features[f].cells();
        for (uint32_t cell = 0; cell < features[f].cells(); cell++)
            block.partition.leaf.push_back(cell);
        basis.Add(std::move(block));
    }
    basis.SetIntercept(100);
    return basis;
}

double Norm(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); i++)
        sum += static_cast<double>(a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
    return std::sqrt(sum);
}

// The rows without one unit; in `other_class` the unit stays, in the next class.
Dataset Neighbour(const Dataset& all, uint32_t unit, bool other_class) {
    DatasetBuilder builder(all.features(), all.target(), all.has_units());
    for (size_t row = 0; row < all.rows(); row++) {
        const bool chosen = all.Unit(row) == unit;
        if (chosen && !other_class)
            continue;
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < all.columns(); f++)
            builder.SetCode(f, all.Code(row, f));
        const float next =
            all.Label(row) + 1 < static_cast<float>(all.target().classes().size()) ? all.Label(row) + 1 : 0;
        builder.AppendRow(chosen ? next : all.Label(row), UnitKeyOf(all.Unit(row)));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

// A table of K values per cell, the same for the same key.
void AddScores(const Dataset& dataset, size_t classes, BasisRows* rows) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    std::vector<int32_t> table(dataset.features()[0].cells() * classes);
    for (int32_t& entry : table)
        entry = static_cast<int32_t>(random.Below(1 << 22)) - (1 << 21);
    rows->AddTable(CodeView::Column(0, dataset.features()[0].cells()), table);
    for (size_t k = 0; k < classes; k++)
        rows->AddToBase(static_cast<int32_t>(k) * 100000, k);
}

TEST(ClassRows, SumsEqualThePlainComputation) {
    constexpr size_t kClasses = 5;
    const Dataset dataset = RandomDataset(ClassShape(kClasses, 5000));
    const Basis basis = CellBasis(dataset.features());
    NoInterrupt interrupt;
    BasisRows rows(dataset, BestSimd(), interrupt, 0, kClasses);
    AddScores(dataset, kClasses, &rows);
    rows.SetBasis(basis);
    const auto objective = MakeObjective(ObjectiveKind::kSoftmax, dataset.target(), 0.4, 1);
    const std::vector<int64_t> sums = ExactSums(rows.GradientSums(*objective));
    ASSERT_EQ(sums.size(), kClasses * basis.coordinates());

    ChaChaSource source = TestSource(5);
    Random random(source);
    std::vector<int32_t> table(dataset.features()[0].cells() * kClasses);
    for (int32_t& entry : table)
        entry = static_cast<int32_t>(random.Below(1 << 22)) - (1 << 21);
    std::vector<int64_t> plain(sums.size(), 0);
    for (size_t row = 0; row < dataset.rows(); row++) {
        int32_t scores[kClasses], gradients[kClasses], hessian = 0;
        for (size_t k = 0; k < kClasses; k++)
            scores[k] = table[dataset.Code(row, 0) * kClasses + k] + static_cast<int32_t>(k) * 100000;
        const float label = dataset.Label(row);
        objective->Evaluate(Simd::kPortable, scores, &label, 1, gradients, &hessian);
        for (size_t k = 0; k < kClasses; k++) {
            size_t first = k * basis.coordinates();
            for (size_t f = 0; f < dataset.columns(); f++) {
                plain[first + dataset.Code(row, f)] += int64_t{gradients[k]} * kBasisOne;
                first += dataset.features()[f].cells();
            }
            plain[first] += int64_t{gradients[k]} * 100;
        }
    }
    EXPECT_EQ(sums, plain);
}

// Removing any one unit changes all K sums together by at most the stated sensitivity, and one that changes its class by
// at most twice that; some reach it almost exactly.
TEST(ClassRows, OneUnitChangesSumsByTheSensitivityAtMost) {
    for (const int shift : {0, 5}) {
        for (const size_t units : {size_t{0}, size_t{25}}) {
            constexpr size_t kClasses = 4;
            const Dataset all = RandomDataset(ClassShape(kClasses, 100, units));
            const Basis basis = CellBasis(all.features());
            const auto objective = MakeObjective(ObjectiveKind::kSoftmax, all.target(), 0.3, 1);
            double sensitivity = 0, largest = 0, largest_change = 0;
            const auto sums_of = [&](const Dataset& dataset) {
                NoInterrupt interrupt;
                BasisRows rows(dataset, BestSimd(), interrupt, shift, kClasses);
                AddScores(dataset, kClasses, &rows);
                rows.SetBasis(basis, basis.MaxNormSquared() / 2);
                return ExactSums(rows.GradientSums(*objective), &sensitivity);
            };
            const std::vector<int64_t> sums = sums_of(all);
            for (uint32_t unit = 0; unit < all.units(); unit++) {
                largest = std::max(largest, Norm(sums, sums_of(Neighbour(all, unit, false))));
                largest_change = std::max(largest_change, Norm(sums, sums_of(Neighbour(all, unit, true))));
            }
            EXPECT_LE(largest, sensitivity) << shift << " " << units;
            EXPECT_GT(largest, 0.98 * sensitivity) << shift << " " << units;
            EXPECT_LE(largest_change, 2 * sensitivity) << shift << " " << units;
            EXPECT_GT(largest_change, sensitivity) << shift << " " << units;
        }
    }
}

// The stages on a binary target, with one score or two, without noise: the log odds in the tables of all features and in
// the base, after products of features were learned as well.
std::vector<double> RunStages(const Dataset& dataset, ObjectiveKind kind) {
    AutoOptions options;
    options.objective = ObjectiveKind::kLogistic;
    const AutoLearner learner(options, dataset.target());
    Plan plan = PlanOf(learner, 8, 1e-6);
    ZeroNoise zero;
    Releaser releaser(plan, zero);
    Pool pool(releaser, releaser.Find(AutoLearner::kMechanism));
    NoInterrupt interrupt;
    ChaChaSource source = TestSource(3);
    Random random(source);
    PublicRandom structure(random);
    const size_t outputs = kind == ObjectiveKind::kSoftmax ? 2 : 1;
    const auto features = static_cast<uint32_t>(dataset.columns());
    BasisRows rows(dataset, BestSimd(), interrupt, 0, outputs);
    AutoSchedule schedule = MakeAutoSchedule(kind, static_cast<double>(dataset.rows()), pool.mu(), features);
    schedule.weak_spread = 0;  // of one score alone
    NoisyHistogram histogram(dataset.features(), Whole(schedule.histogram_cells));
    histogram.Release(schedule.histogram_fraction, rows, pool);
    const MarginalCounts counts = histogram.Clean(schedule, 0);
    AdditiveTables tables(dataset.features(), rows);
    NoiseBands bands(dataset.features(), counts, outputs);
    std::vector<uint32_t> active;
    for (uint32_t f = 0; f < features; f++)
        active.push_back(f);
    AdditiveStage stage{dataset.features(),
                        dataset.target(),
                        kind,
                        schedule,
                        counts,
                        rows,
                        pool,
                        tables,
                        bands,
                        structure,
                        active};
    stage.sampling = 0.5;
    if (outputs == 2) {
        stage.spread = stage.ClippedAt(1)->spread();
        stage.classes = {0.5, 0.5};
    }
    RunLinearStage(stage, pool.left() / 2, 2);
    ResidualStage residual(stage, pool.left() / 4);
    residual.RunEpochs(residual.epochs());
    Interactions interactions(stage);
    interactions.Find(pool.left() / 8, 2);
    EXPECT_GT(interactions.share(), 0) << "there is a product to be found";
    interactions.Grow(0);
    std::vector<double> odds;
    for (uint32_t f = 0; f < features; f++) {
        const std::vector<double>& table = tables.table(f);
        for (size_t cell = 0; cell < table.size() / outputs; cell++)
            odds.push_back(outputs == 1 ? table[cell] : table[2 * cell + 1] - table[2 * cell]);
    }
    odds.push_back(FromFixed(outputs == 1 ? tables.base() : tables.base(1) - tables.base(0)));
    return odds;
}

TEST(AutoClasses, TwoClassesAreTheLogisticLossWithoutNoise) {
    DataShape shape;
    shape.rows = 4000;
    shape.product = true;
    const Dataset dataset = RandomDataset(shape);
    const std::vector<double> one = RunStages(dataset, ObjectiveKind::kLogistic);
    const std::vector<double> two = RunStages(dataset, ObjectiveKind::kSoftmax);
    ASSERT_EQ(one.size(), two.size());
    double largest = 0;
    for (size_t i = 0; i < one.size(); i++) {
        EXPECT_NEAR(one[i], two[i], 1e-3) << i;
        largest = std::max(largest, std::fabs(one[i]));
    }
    EXPECT_GT(largest, 0.3) << "it has learned nothing";
}

double Accuracy(const Model& model, const Dataset& dataset) {
    Predictor predictor(model);
    std::vector<int64_t> scores(model.outputs());
    std::vector<uint16_t> codes(dataset.columns());
    double hits = 0;
    for (size_t row = 0; row < dataset.rows(); row++) {
        dataset.CopyRow(row, codes.data());
        predictor.Scores(codes.data(), scores.data());
        hits += std::max_element(scores.begin(), scores.end()) - scores.begin() ==
                static_cast<std::ptrdiff_t>(dataset.Label(row));
    }
    return hits / static_cast<double>(dataset.rows());
}

// Labels are the class that the first column points to in about nine of ten rows.
TEST(AutoClasses, LearnsUpToSixtyFourClasses) {
    for (const size_t classes : {3, 5, 64}) {
        const Dataset dataset = RandomDataset(ClassShape(classes, 20000));
        ChaChaSource source = TestSource(8);
        Random random(source);
        ExactNoise noise(random);
        const Model model = TrainWith(kAuto, dataset, 4, 1e-6, {}, random, noise);
        EXPECT_EQ(model.link(), Link::kSoftmax);
        EXPECT_EQ(model.outputs(), classes);
        EXPECT_GT(Accuracy(model, dataset), classes == 64 ? 0.2 : 0.7) << classes;
        EXPECT_EQ(Model::Parse(model.Serialize()).Serialize(), model.Serialize());
    }
}

// Where there is no row, and at the smallest budget, there is a model too.
TEST(AutoClasses, TrainsOnNothing) {
    for (const double epsilon : {1e-3, 1.0, 100.0}) {
        const Dataset dataset = RandomDataset(ClassShape(4, 0));
        ChaChaSource source = TestSource(8);
        Random random(source);
        ExactNoise noise(random);
        const Model model = TrainWith(kAuto, dataset, epsilon, 1e-6, {}, random, noise);
        EXPECT_EQ(Model::Parse(model.Serialize()).Serialize(), model.Serialize());
    }
}

// Just beyond the least nu with one-feature trees, these have next to nothing of the pool: such a draw's noise is beyond the
// samplers, and a refusal would come after the charge.
TEST(AutoClasses, TrainsWhereTreesBegin) {
    const double epsilon = 0.02;
    const Dataset dataset = RandomDataset(ClassShape(10, 25000));
    const auto plain = LearnerOf(kAuto, dataset, epsilon, 1e-6, {});
    const double mu = 1 / PlanOf(*plain, epsilon, 1e-6).NoiseMultiplier(0);
    const double nu = MakeAutoSchedule(ObjectiveKind::kSoftmax, 1, mu, 1).few_rows_per_class * 8;
    const double edge = nu * std::sqrt(static_cast<double>(dataset.columns())) / mu;
    for (const double beyond : {0.0, 1e-5, 1e-4, 1e-2}) {
        const auto learner =
            LearnerOf(kAuto, dataset, epsilon, 1e-6, {Given("rows_hint", std::ceil(edge * (1 + beyond)))});
        Plan plan = PlanOf(*learner, epsilon, 1e-6);
        learner->CheckPlan(plan, dataset.columns());
        ChaChaSource source = TestSource(4);
        Random random(source);
        ExactNoise noise(random);
        EXPECT_NO_THROW(TrainLearner(*learner, dataset, plan, random, noise)) << beyond;
        EXPECT_TRUE(plan.Finished());
    }
}

TEST(AutoClasses, OtherLossesAreRefused) {
    const TargetSpec classes = TargetSpec::Classes({"a", "b", "c"});
    for (const ObjectiveKind kind : {ObjectiveKind::kSquared, ObjectiveKind::kLogistic}) {
        AutoOptions options;
        options.objective = kind;
        EXPECT_THROW(AutoLearner(options, classes), Error);
    }
    AutoOptions options;
    options.objective = ObjectiveKind::kSoftmax;
    EXPECT_THROW(AutoLearner(options, TargetSpec::Binary()), Error);
}

}  // namespace
}  // namespace dpboost
