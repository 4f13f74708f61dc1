// The draws of the residual stage: how a stage is shared out among them, and what weights do to their sums.
#include "learner/auto/residual_stage.h"

#include <gtest/gtest.h>

#include "learner/auto/auto.h"
#include "support/audit/transcript.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// Five features move in draws of three and of two, and some have 24 leaves where others have 3: what a draw costs differs,
// what its noise is does not.
TEST(ResidualStage, NoiseIsTheSameInEveryDraw) {
    DataShape shape;
    shape.rows = 4000;
    shape.task = Task::kRegression;
    const Dataset dataset = RandomDataset(shape);
    const size_t epochs = 7;
    const auto learner = LearnerOf(kAuto, dataset, 1, 1e-6, {Given("trees", 7), Given("depth", 1)});
    Plan plan = PlanOf(*learner, 1, 1e-6);
    ChaChaSource source = TestSource(5);
    Random random(source);
    Tape noise(random);
    TrainLearner(*learner, dataset, plan, random, noise);
    std::vector<SeenDraw> draws = noise.draws;
    while (!draws.empty() && draws.back().raw.size() == 1)
        draws.pop_back();  // that of the base
    ASSERT_GT(draws.size(), 2 * epochs);
    const size_t first = draws.size() - 2 * epochs;
    size_t least = SIZE_MAX, most = 0;
    for (size_t k = first; k < draws.size(); k++) {
        EXPECT_NEAR(draws[k].drawn / draws[first].drawn, 1, 0.02) << k - first;
        least = std::min(least, draws[k].raw.size());
        most = std::max(most, draws[k].raw.size());
    }
    EXPECT_LT(least, most / 2);  // draws do differ in what they hold
}

TEST(BasisPartition, CentredIndicatorsHaveTheirWeight) {
    for (const double weight : {0.3, 1.0, 1.7, 3.0}) {
        for (uint32_t leaves = 2; leaves < 40; leaves++) {
            BasisPartition partition;
            partition.leaves = leaves;
            partition.Centre(weight);
            EXPECT_NEAR(partition.Weight(), weight, 1.01 / kBasisOne);
            const double on = static_cast<double>(partition.on) / kBasisOne;
            const double off = static_cast<double>(partition.off) / kBasisOne;
            EXPECT_NEAR(on, (leaves - 1) * off, 0.51 * leaves / kBasisOne);
            EXPECT_NEAR(on * on + (leaves - 1) * off * off, weight * weight * (1 - 1.0 / leaves),
                        0.01 * weight * leaves);
        }
    }
}

}  // namespace
}  // namespace dpboost
