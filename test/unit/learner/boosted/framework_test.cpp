// The framework as a whole: every preset trains, takes exactly the charges of its plan, and without noise
// equals a plain computation; threads and SIMD change nothing; what has no proof is refused.
#include "learner/boosted/framework.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "learner/boosted/framework_plan.h"
#include "learner/boosted/presets.h"
#include "learner/objective/objective.h"
#include "learner/tree/exponential_growth.h"
#include "learner/tree/leaf_values.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr const MethodInfo* kPresets[] = {&kDpTr, &kDpTrIh, &kDpTrIhEbm, &kDpTrBatch, &kDpEbm,
                                          &kDpRf, &kDpPr,   &kFeverless, &kDpXgb,     &kDpXgbCyclic};

Model Train(const Dataset& dataset, const FrameworkOptions& options, const TrainingSettings& settings = {}) {
    ChaChaSource source = TestSource(42);
    Random random(source);
    ZeroNoise noise;
    const FrameworkLearner learner(options, dataset.features());
    Plan plan = PlanOf(learner, 1, 1e-6);
    Model model = TrainLearner(learner, dataset, plan, random, noise, settings);
    EXPECT_TRUE(plan.Finished());
    return model;
}

FrameworkOptions Options(const MethodInfo& preset, Task task, const std::vector<GivenOption>& given) {
    const std::vector<FeatureSpec> features = TestFeatures({});
    const TargetSpec target = task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-1, 1);
    const std::unique_ptr<Learner> learner = preset.make(preset, {features, target, 1, 1e-6}, given);
    return dynamic_cast<const FrameworkLearner&>(*learner).options();
}

FrameworkOptions Small(const MethodInfo& preset, Task task = Task::kBinary,
                       const std::vector<GivenOption>& parts = {}) {
    std::vector<GivenOption> given = parts;
    given.push_back(Given("trees", 7));
    given.push_back(Given("depth", 3));
    given.push_back(Given("candidate_count", 8));
    if (&preset == &kDpTrBatch)
        given.push_back(Given("batch", 3));
    FrameworkOptions options = Options(preset, task, given);
    options.hessian_rounds = 2;
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
    const FrameworkLearner learner(options, dataset.features());
    Plan plan = PlanOf(learner, 1, 1e-6);
    const MechanismId id = plan.Find(learner.main_mechanism());
    const double g_unit = options.gradient_clip / kClipSteps, h_unit = options.hessian_clip / kClipSteps;
    LeafValues update({options.leaf,
                       averaging ? 1.0 / options.trees : options.learning_rate / options.batch_size(),
                       options.l2, options.leaf_clip, options.task == Task::kBinary ? 0.5 : 0.0, true});
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
        const std::vector<int32_t> values = update.Next(leaves);
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
        for (const MethodInfo* preset : {&kDpTr, &kDpTrIh, &kDpRf, &kDpXgb}) {
            SCOPED_TRACE(preset->name);
            // Greedy trees soon split on the one informative feature only, and become a table.
            FrameworkOptions options = Small(*preset, task);
            options.trees = 4;
            ExpectPlainLeaves(dataset, options, Train(dataset, options));
            if (options.leaf == LeafPart::kAveraging)
                continue;
            options = Small(*preset, task, {Given("batch", 3), Given("leaf", "gradient")});
            options.trees = 4;
            ExpectPlainLeaves(dataset, options, Train(dataset, options));
        }
    }
}

TEST(Method, EveryPresetTrainsWhateverTheRows) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        for (const MethodInfo* preset : kPresets) {
            const FrameworkOptions options = Small(*preset, task);
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
    for (const MethodInfo* preset : kPresets) {
        FrameworkOptions options = Small(*preset);
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
    for (const MethodInfo* preset : {&kDpEbm, &kDpRf})
        EXPECT_EQ(Train(rows, Small(*preset)).Serialize(), Train(units, Small(*preset)).Serialize());
}

// A unit with a thousand rows moves a leaf no more than the bound, so its model stays close to the one
// without it.
TEST(Method, AUnitOfManyRowsCountsAsOne) {
    for (const MethodInfo* preset : {&kDpTr, &kDpXgb, &kFeverless}) {
        DataShape shape;
        shape.rows = 1000;
        shape.units = 1;
        FrameworkOptions options = Small(*preset);
        options.trees = 1;
        const Model model = Train(RandomDataset(shape), options);
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
    const auto count = [&](const FrameworkOptions& options, const std::string& name) -> uint64_t {
        for (const MechanismRequest& mechanism : FrameworkLearner(options, features).Mechanisms()) {
            if (mechanism.name == name)
                return mechanism.count;
        }
        return 0;
    };
    const FrameworkOptions random = Small(kDpTrIh);
    EXPECT_EQ(count(random, kLeavesMechanism), 7U);
    EXPECT_EQ(count(random, kCandidatesMechanism), 2U);
    const FrameworkOptions histograms = Small(kFeverless);
    EXPECT_EQ(count(histograms, kHistogramsMechanism), 21U);
    EXPECT_EQ(count(histograms, kLeavesMechanism), 0U);
    FrameworkOptions one_feature = histograms;
    one_feature.features = FeaturePart::kCyclic;
    EXPECT_EQ(count(one_feature, kHistogramsMechanism), 7U);
    one_feature.structure = StructurePart::kPartiallyRandom;
    EXPECT_EQ(count(one_feature, kHistogramsMechanism), 21U);
    const FrameworkOptions greedy = Small(kDpXgb);
    for (int level = 0; level < 3; level++)
        EXPECT_EQ(count(greedy, SplitsMechanism(level)), 7U);
    // Histograms of five features: a row moves them by sqrt(5) times its bound.
    const std::vector<MechanismRequest> plan = FrameworkLearner(histograms, features).Mechanisms();
    EXPECT_NEAR(plan[0].dimensions[0].sensitivity, std::sqrt(5.0) * kClipSteps, 1e-6);
    EXPECT_GE(plan[0].dimensions[0].sensitivity, std::sqrt(5.0) * kClipSteps);
}

void ExpectRefused(const MethodInfo& preset, const std::vector<GivenOption>& given, ErrorCode code,
                   const std::string& part_of_message) {
    try {
        Options(preset, Task::kBinary, given);
        ADD_FAILURE() << "accepted: " << part_of_message;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        EXPECT_NE(error.message().find(part_of_message), std::string::npos) << error.message();
    }
}

TEST(MethodPlan, RefusesWhatHasNoEffect) {
    const auto idle = [](const MethodInfo& preset, const std::vector<GivenOption>& given) {
        ExpectRefused(preset, given, ErrorCode::kInvalidParameter, "has no effect here");
    };
    const auto used = [](const MethodInfo& preset, const std::vector<GivenOption>& given) {
        EXPECT_NO_THROW(Options(preset, Task::kBinary, given));
    };
    idle(kDpTr, {Given("features_per_tree", 2)});
    used(kDpTr, {Given("features_per_tree", 2), Given("features", "subset")});
    idle(kDpTr, {Given("hessian_rounds", 2)});
    used(kFeverless, {Given("candidates", "iterative_hessian"), Given("hessian_rounds", 2)});
    idle(kFeverless, {Given("candidates", "iterative_hessian"), Given("sketch_share", 0.2)});
    used(kDpTrIh, {Given("sketch_share", 0.2), Given("hessian_rounds", 2)});
    idle(kDpTrIh, {Given("candidates", "log"), Given("sketch_share", 0.2)});
    idle(kDpTr, {Given("selection_share", 0.2)});
    used(kDpTr, {Given("selection_share", 0.2), Given("structure", "exponential")});
    idle(kDpTr, {Given("candidates", "whole_range"), Given("candidate_count", 8)});
    used(kDpTr, {Given("candidate_count", 8)});
}

TEST(MethodPlan, RefusesWhatHasNoProof) {
    ExpectRefused(kDpXgb, {Given("subsample", 0.1)}, ErrorCode::kUnsupported, "Poisson subsampling");
    ExpectRefused(kDpXgb, {Given("selection_share", 0.95)}, ErrorCode::kInvalidParameter,
                  "leave nothing for the leaves");
    ExpectRefused(kDpRf, {Given("batch", 1)}, ErrorCode::kInvalidParameter, "\"batch\"");
    ExpectRefused(kDpTr, {Given("leaf", "gradient"), Given("hessian_clip", 0.2)},
                  ErrorCode::kInvalidParameter, "\"hessian_clip\"");
    ExpectRefused(kDpTr, {Given("learning_rate", 1.5)}, ErrorCode::kInvalidParameter, "\"learning_rate\"");
    ExpectRefused(kDpTr, {Given("depth", 11)}, ErrorCode::kInvalidParameter, "\"depth\"");
    ExpectRefused(kDpTr, {Given("features", "any")}, ErrorCode::kInvalidParameter, "\"features\"");
    EXPECT_NO_THROW(Options(kDpTr, Task::kBinary, {Given("leaf", "gradient"), Given("features", "subset")}));
    // Gaussian noise satisfies no pure differential privacy.
    EXPECT_THROW(PlanOf(FrameworkLearner(Small(kDpTr), TestFeatures({})), 1, 0), Error);
}

TEST(Method, FeaturesFollowTheSchedule) {
    ChaChaSource source = TestSource(6);
    Random bits(source);
    PublicRandom random(bits);
    EXPECT_EQ(ChooseFeatures(FeaturePart::kAll, 3, 1, 7, random), (std::vector<uint16_t>{0, 1, 2}));
    EXPECT_EQ(ChooseFeatures(FeaturePart::kCyclic, 5, 1, 7, random), (std::vector<uint16_t>{2}));
    EXPECT_EQ(ChooseFeatures(FeaturePart::kCyclic, 5, 2, 2, random), (std::vector<uint16_t>{0, 4}));
    EXPECT_EQ(ChooseFeatures(FeaturePart::kCyclic, 2, 9, 2, random), (std::vector<uint16_t>{0, 1}));
    std::vector<int> seen(6);
    for (int trial = 0; trial < 600; trial++) {
        const std::vector<uint16_t> chosen = ChooseFeatures(FeaturePart::kSubset, 6, 2, 0, random);
        ASSERT_EQ(chosen.size(), 2U);
        EXPECT_LT(chosen[0], chosen[1]);
        for (const uint16_t feature : chosen)
            seen[feature]++;
    }
    for (const int count : seen)
        EXPECT_NEAR(count, 200, 75);  // six deviations
}

// Cuts that histograms move need no draw of their own, and go where the rows are: 20 of 254 bins, which even cuts miss.
TEST(Framework, HistogramsMoveTheCuts) {
    NumericRange range;
    range.scale = Scale::kLinear;
    range.bins = 254;
    DatasetBuilder builder({FeatureSpec::Numeric("x", range)}, TargetSpec::Binary(), false);
    for (uint16_t row = 0; row < 2000; row++) {
        if (builder.Full())
            builder.Grow();
        builder.SetCode(0, row % 20);
        builder.AppendRow(row % 20 < 10 ? 0 : 1);
    }
    NoInterrupt interrupt;
    const Dataset dataset = builder.Finish(interrupt);
    const auto difference = [&](const std::string& candidates) {
        ChaChaSource source = TestSource(42);
        Random random(source);
        ZeroNoise noise;
        std::vector<GivenOption> given = {Given("candidates", candidates.c_str()),
                                          Given("candidate_count", 4), Given("trees", 15)};
        if (candidates == "iterative_hessian")
            given.push_back(Given("hessian_rounds", 8));
        const Model model = TrainWith(kFeverless, dataset, 1, 1e-6, given, random, noise);
        const uint16_t low = 2, high = 17;
        return model.Predict(&high) - model.Predict(&low);
    };
    EXPECT_EQ(difference("uniform"), 0);
    EXPECT_GT(difference("iterative_hessian"), 0.3);
}

}  // namespace
}  // namespace dpboost
