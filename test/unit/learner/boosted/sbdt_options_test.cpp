// What sbdt takes as options, what it reports while it trains, and that it stops when asked.
#include <gtest/gtest.h>

#include <cmath>

#include "learner/boosted/sbdt.h"
#include "support/cancel_after.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

void Make(const std::vector<GivenOption>& given, Task task = Task::kBinary, double epsilon = 1) {
    const std::vector<FeatureSpec> features = TestFeatures({});
    const TargetSpec target = task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-1, 1);
    kSbdt.make(kSbdt, {features, target, epsilon, 1e-6}, given);
}

TEST(Sbdt, OptionsAreChecked) {
    EXPECT_NO_THROW(Make({}));
    EXPECT_NO_THROW(
        Make({Given("trees", 1), Given("depth", 10), Given("features", "any"), Given("l2", 0.0)}));
    EXPECT_THROW(Make({Given("trees", 0.0)}), Error);
    EXPECT_THROW(Make({Given("trees", 2.5)}), Error);
    EXPECT_THROW(Make({Given("depth", 0.0)}), Error);
    EXPECT_THROW(Make({Given("depth", 11)}), Error);
    EXPECT_THROW(Make({Given("learning_rate", std::nan(""))}), Error);
    EXPECT_THROW(Make({Given("learning_rate", 1.5)}), Error);
    EXPECT_THROW(Make({Given("subsample", 0.0)}), Error);
    EXPECT_THROW(Make({Given("subsample", 1.01)}), Error);
    EXPECT_THROW(Make({Given("gradient_clip", 0.0)}), Error);
    EXPECT_THROW(Make({Given("hessian_clip", 0.3)}), Error);
    EXPECT_THROW(Make({Given("hessian_clip", 0.25)}, Task::kRegression), Error);
    EXPECT_THROW(Make({Given("hessian_share", 1)}), Error);
    EXPECT_THROW(Make({Given("initial_share", -0.1)}), Error);
    EXPECT_THROW(Make({Given("l2", -1)}), Error);
    EXPECT_THROW(Make({Given("leaf_clip", 0.0)}), Error);
    EXPECT_THROW(Make({Given("extra_rounds", -1)}), Error);
    EXPECT_THROW(Make({Given("features", "all")}), Error);
    EXPECT_THROW(Make({Given("trees", 100000)}), Error);  // scores would leave 32 bits
}

TEST(Sbdt, DefaultsAreValidAtAnyEpsilon) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        for (const double epsilon : {1e-3, 0.05, 0.1, 1.0, 10.0, 50.0})
            EXPECT_NO_THROW(Make({}, task, epsilon)) << epsilon;
    }
}

class CountingProgress final : public Progress {
  public:
    void Report(uint64_t done, uint64_t total) override {
        EXPECT_GE(done, last);
        EXPECT_LE(done, total);
        last = done;
        rounds = total;
    }
    uint64_t last = 0;
    uint64_t rounds = 0;
};

TEST(Sbdt, ReportsRoundsAndStopsWhenAsked) {
    DataShape shape;
    shape.rows = 2 * kBlockRows;
    const Dataset dataset = RandomDataset(shape);
    SbdtOptions options(Task::kBinary, 1);
    options.trees = 21;
    options.depth = 3;
    options.subsample = 0.3;
    options.extra_rounds = 3;
    const SbdtLearner learner(options);
    for (const int threads : {1, 3}) {
        ChaChaSource source = TestSource(1);
        Random random(source);
        const auto train = [&](Progress& progress, Interrupt& interrupt) {
            Plan plan = PlanOf(learner, 1, 1e-6);
            ZeroNoise noise;
            TrainingSettings settings;
            settings.threads = threads;
            TrainLearner(learner, dataset, plan, random, noise, settings, progress, interrupt);
        };
        CountingProgress progress;
        NoInterrupt never;
        train(progress, never);
        EXPECT_EQ(progress.last, options.rounds());
        EXPECT_EQ(progress.rounds, options.rounds());
        for (const int polls : {0, 1, 2, 7, 40}) {
            CancelAfter cancel(polls);
            NoProgress silent;
            EXPECT_THROW(train(silent, cancel), Error);
        }
    }
}

}  // namespace
}  // namespace dpboost
