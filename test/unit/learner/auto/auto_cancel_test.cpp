// A training by `auto` ends when it is asked to, wherever it is.
#include <gtest/gtest.h>

#include "learner/auto/auto.h"
#include "support/cancel_after.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

TEST(Auto, StopsWhenAsked) {
    const Dataset dataset = RandomDataset(DataShape());
    ChaChaSource source = TestSource(1);
    Random random(source);
    ZeroNoise noise;
    NoProgress progress;
    const auto learner = LearnerOf(kAuto, dataset, 1, 1e-6, {});
    for (const int polls : {0, 1, 5, 12}) {
        Plan plan = PlanOf(*learner, 1, 1e-6);
        CancelAfter interrupt(polls);
        EXPECT_THROW(TrainLearner(*learner, dataset, plan, random, noise, {}, progress, interrupt), Error);
    }
}

}  // namespace
}  // namespace dpboost
