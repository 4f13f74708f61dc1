// The framework as a whole: every preset trains, takes exactly the charges of its plan, and without noise
// equals a plain computation; threads and SIMD change nothing; what has no proof is refused.
#include "learner/boosted/framework.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "learner/boosted/presets.h"
#include "learner/rows/leaf_sums.h"
#include "learner/tree/leaf_update.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

Model Train(const Dataset& dataset, const FrameworkOptions& options, const TrainingSettings& settings = {},
            NoiseSource* other = nullptr) {
    ChaChaSource source = TestSource(42);
    Random random(source);
    ZeroNoise zero;
    NoInterrupt interrupt;
    NoProgress progress;
    Plan plan = Plan::Calibrate(BuildFrameworkPlan(options, dataset.features(), 1, 1e-6));
    Model model = TrainFramework(dataset, options, plan, random, other != nullptr ? *other : zero, interrupt,
                                 progress, settings);
    EXPECT_TRUE(plan.Finished());
    return model;
}

FrameworkOptions Small(const std::string& preset, Task task = Task::kBinary) {
    FrameworkOptions options = FrameworkOptions::Preset(preset, task, 1);
    options.trees = 7;
    options.depth = 3;
    options.hessian_rounds = 2;
    options.candidate_count = 8;
    if (options.batch > 1)
        options.batch = 3;
    return options;
}

// Given the structures, every leaf value follows from plain sums over rows at the scores of the batch before.
void ExpectPlainLeaves(const Dataset& dataset, const FrameworkOptions& options, const Model& model) {
    ASSERT_EQ(model.trees().size(), options.trees);
    const bool averaging = options.leaf == LeafPart::kAveraging;
    const bool logistic = options.task == Task::kBinary && !averaging;
    const std::unique_ptr<const Objective> objective =
        MakeObjective(logistic ? ObjectiveKind::kLogistic : ObjectiveKind::kSquared, dataset.target(),
                      options.gradient_clip, options.hessian_clip);
    Plan plan = Plan::Calibrate(BuildFrameworkPlan(options, dataset.features(), 1, 1e-6));
    const MechanismId id = plan.Find(MainMechanism(options));
    const double g_unit = options.gradient_clip / kClipSteps, h_unit = options.hessian_clip / kClipSteps;
    LeafUpdate update(options);
    std::vector<uint16_t> codes(dataset.columns());
    for (size_t t = 0; t < options.trees; t++) {
        const size_t seen = t - t % options.batch_size();
        std::vector<NoisySide> leaves(size_t{1} << options.depth);
        for (size_t row = 0; row < dataset.rows(); row++) {
            dataset.CopyRow(row, codes.data());
            int32_t score = averaging ? ToFixed(options.task == Task::kBinary ? 0.5 : 0) : model.base();
            for (size_t k = 0; !averaging && k < seen; k++)
                score += model.trees()[k].leaves[model.trees()[k].Leaf(codes.data(), dataset.features())];
            const float label = dataset.Label(row);
            int32_t g, h;
            objective->Evaluate(Simd::kPortable, &score, &label, 1, &g, &h);
            if (options.hessian_is_count())
                h = kClipSteps;
            NoisySide& leaf = leaves[model.trees()[t].Leaf(codes.data(), dataset.features())];
            leaf.gradient += g * g_unit;
            leaf.hessian += h * h_unit;
        }
        for (NoisySide& leaf : leaves) {
            leaf.hessian_variance = std::pow(plan.ScaleInSteps(id, 0) * h_unit, 2);
            leaf.gradient_variance = std::pow(plan.ScaleInSteps(id, 1) * g_unit, 2);
        }
        const std::vector<int32_t> values = update.Values(leaves);
        for (size_t leaf = 0; leaf < leaves.size(); leaf++)
            EXPECT_NEAR(model.trees()[t].leaves[leaf], values[leaf], 1) << "tree " << t;
    }
}

TEST(Method, WithoutNoiseLeavesAreThoseOfAPlainComputation) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        DataShape shape;
        shape.task = task;
        shape.wide = 1;
        const Dataset dataset = RandomDataset(shape);
        for (const char* preset : {"dp_tr", "dp_tr_ih", "dp_rf", "dp_xgb"}) {
            SCOPED_TRACE(preset);
            FrameworkOptions options = Small(preset, task);
            options.trees =
                4;  // greedy trees soon split on the one informative feature only, and become a table
            ExpectPlainLeaves(dataset, options, Train(dataset, options));
            if (options.leaf == LeafPart::kAveraging)
                continue;
            options.batch = 3;
            options.leaf = LeafPart::kGradient;
            options.FitToParts();
            ExpectPlainLeaves(dataset, options, Train(dataset, options));
        }
    }
}

TEST(Method, AveragingIsTheMeanLabelOfALeaf) {
    FrameworkOptions options = FrameworkOptions::Preset("dp_rf", Task::kBinary, 1);
    options.trees = 4;
    options.l2 = 0;
    LeafUpdate update(options);
    // 3 of 4 rows are positive: the sum of y - 1/2 is 1.
    const std::vector<int32_t> values = update.Values({{1, 4, 0, 0}, {-2, 4, 0, 0}});
    EXPECT_EQ(values[0], ToFixed(0.75 / 4));
    EXPECT_EQ(values[1], ToFixed(0));
}

TEST(Method, NewtonStepIsTheQuotientOfTheSums) {
    FrameworkOptions options = FrameworkOptions::Preset("dp_tr", Task::kBinary, 1);
    options.learning_rate = 0.5;
    options.l2 = 1;
    options.leaf_clip = 2;
    LeafUpdate update(options);
    const std::vector<int32_t> values = update.Values({{6, 3, 0, 0}, {-3, 2, 0, 0}, {90, 3, 0, 0}});
    EXPECT_EQ(values[0], ToFixed(0.5 * 1.5));
    EXPECT_EQ(values[1], ToFixed(-0.5));
    EXPECT_EQ(values[2], ToFixed(0.5 * 2));
    // With noise the step is drawn to zero: v = 12, 12 / (3 * 4) = 1 more in the denominator.
    LeafUpdate noisy(options);
    EXPECT_EQ(noisy.Values({{6, 3, 12, 0}})[0], ToFixed(0.5 * 6 / 5));
}

std::vector<FrameworkOptions> AllPresets(Task task) {
    std::vector<FrameworkOptions> all;
    for (size_t i = 0; i < kFrameworkPresetCount; i++)
        all.push_back(Small(kFrameworkPresets[i].name, task));
    return all;
}

TEST(Method, EveryPresetTrainsWhateverTheRows) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        for (const FrameworkOptions& options : AllPresets(task)) {
            DataShape shape;
            shape.task = task;
            for (const size_t rows : {0, 1, 300}) {
                shape.rows = rows;
                Train(RandomDataset(shape), options);
            }
            shape.units = 30;
            Train(RandomDataset(shape), options);
            if (options.structure != StructurePart::kExponential) {
                FrameworkOptions sampled = options;
                sampled.subsample = 0.3;
                Train(RandomDataset(shape), sampled);
            }
        }
    }
}

TEST(Method, ThreadsAndVectorsChangeNothing) {
    DataShape shape;
    shape.rows = 9000;
    shape.units = 700;
    const Dataset dataset = RandomDataset(shape);
    for (FrameworkOptions options : AllPresets(Task::kBinary)) {
        options.trees = 4;
        TrainingSettings settings;
        settings.threads = 3;
        settings.simd = Simd::kPortable;
        EXPECT_EQ(Train(dataset, options, settings).Serialize(), Train(dataset, options).Serialize());
    }
}

TEST(Method, UnitsOfOneRowAreRows) {
    DataShape shape;
    const Dataset rows = RandomDataset(shape);
    DatasetBuilder builder(rows.features(), rows.target(), true);
    for (size_t row = 0; row < rows.rows(); row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t column = 0; column < rows.columns(); column++)
            builder.SetCode(column, rows.Code(row, column));
        builder.AppendRow(rows.Label(row), UnitKeyOf(static_cast<int64_t>(row)));
    }
    NoInterrupt interrupt;
    const Dataset units = builder.Finish(interrupt);
    for (const char* preset : {"dp_ebm", "dp_rf"})
        EXPECT_EQ(Train(rows, Small(preset)).Serialize(), Train(units, Small(preset)).Serialize());
}

// A unit with a thousand rows moves a leaf no more than the bound, so its model stays close to the one
// without it.
TEST(Method, AUnitOfManyRowsCountsAsOne) {
    for (const char* preset : {"dp_tr", "dp_xgb", "feverless"}) {
        DataShape shape;
        shape.rows = 1000;
        shape.units = 1;
        FrameworkOptions options = Small(preset);
        options.trees = 1;
        ZeroNoise zero;
        const Model model = Train(RandomDataset(shape), options, {}, &zero);
        // Sums of at most one row over Hessian sums with lambda = 1: no leaf can exceed eta g*.
        for (const Tree& tree : model.trees()) {
            for (const int32_t leaf : tree.leaves)
                EXPECT_LE(std::abs(leaf), ToFixed(1.05 * options.learning_rate * options.gradient_clip));
        }
    }
}

// [FEDGBDT] Table 1.
TEST(MethodPlan, CountsTheQueriesOfThePaper) {
    const std::vector<FeatureSpec> features = TestFeatures({});
    const auto count = [&](const FrameworkOptions& options, const char* name) -> uint64_t {
        for (const MechanismRequest& mechanism : BuildFrameworkPlan(options, features, 1, 1e-6).mechanisms) {
            if (mechanism.name == name)
                return mechanism.count;
        }
        return 0;
    };
    const FrameworkOptions random = Small("dp_tr_ih");
    EXPECT_EQ(count(random, kLeavesMechanism), 7U);
    EXPECT_EQ(count(random, kCandidatesMechanism), 2U);
    const FrameworkOptions histograms = Small("feverless");
    EXPECT_EQ(count(histograms, kHistogramsMechanism), 21U);
    EXPECT_EQ(count(histograms, kLeavesMechanism), 0U);
    FrameworkOptions one_feature = histograms;
    one_feature.features = FeaturePart::kCyclic;
    EXPECT_EQ(count(one_feature, kHistogramsMechanism), 7U);
    one_feature.structure = StructurePart::kPartiallyRandom;
    EXPECT_EQ(count(one_feature, kHistogramsMechanism), 21U);
    const FrameworkOptions greedy = Small("dp_xgb");
    for (int level = 0; level < 3; level++)
        EXPECT_EQ(count(greedy, SelectionMechanism(level).c_str()), 7U);
    // Histograms of five features: a row moves them by sqrt(5) times its bound.
    const PlanRequest plan = BuildFrameworkPlan(histograms, features, 1, 1e-6);
    EXPECT_NEAR(plan.mechanisms[0].dimensions[0].sensitivity, std::sqrt(5.0) * kClipSteps, 1e-6);
    EXPECT_GE(plan.mechanisms[0].dimensions[0].sensitivity, std::sqrt(5.0) * kClipSteps);
}

void ExpectRefused(const FrameworkOptions& options, ErrorCode code, const char* part_of_message,
                   double delta = 1e-6) {
    try {
        BuildFrameworkPlan(options, TestFeatures({}), 1, delta);
        ADD_FAILURE() << "accepted: " << part_of_message;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        EXPECT_NE(error.message().find(part_of_message), std::string::npos) << error.message();
        EXPECT_FALSE(error.detail().empty());
    }
}

TEST(MethodPlan, RefusesWhatHasNoProof) {
    FrameworkOptions sampled = Small("dp_xgb");
    sampled.subsample = 0.1;
    ExpectRefused(sampled, ErrorCode::kUnsupported, "Poisson subsampling");
    ExpectRefused(Small("dp_tr"), ErrorCode::kUnsupported, "needs a delta", 0);
    FrameworkOptions shares = Small("dp_xgb");
    shares.selection_share = 0.95;
    ExpectRefused(shares, ErrorCode::kInvalidParameter, "leave nothing for the leaves");
    FrameworkOptions boosted = Small("dp_rf");
    boosted.batch = 1;
    ExpectRefused(boosted, ErrorCode::kInvalidParameter, "\"batch\"");
    FrameworkOptions counted = Small("dp_tr");
    counted.leaf = LeafPart::kGradient;
    ExpectRefused(counted, ErrorCode::kInvalidParameter, "\"hessian_clip\"");
    counted.FitToParts();
    BuildFrameworkPlan(counted, TestFeatures({}), 1, 1e-6);
    EXPECT_THROW(FrameworkOptions::Preset("local_dp", Task::kBinary, 1), Error);
    EXPECT_THROW(FrameworkOptions::Preset("dp_xbg", Task::kBinary, 1), Error);
}

}  // namespace
}  // namespace dpboost
