#include "mechanism/selection.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "privacy/plan.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

Plan SelectionPlan(std::size_t candidates) {
    MechanismRequest request;
    request.name = "splits";
    request.kind = EventKind::kExponential;
    request.count = 10;
    request.rest = 1;
    request.dimensions = {{65536, 1, candidates}};
    return Plan::Calibrate({1.0, 1e-6, {request}, {}});
}

TEST(Selection, ZeroNoiseTakesTheBest) {
    Plan plan = SelectionPlan(4);
    ZeroNoise noise;
    const std::vector<int64_t> utilities = {3, 9, 9, -1};
    EXPECT_EQ(SelectPrivately(plan.Take(0), noise, utilities.data(), 4), 1u);
    EXPECT_EQ(noise.selections, 1u);
}

TEST(Selection, AChargeIsSpentOnce) {
    Plan plan = SelectionPlan(4);
    ChaChaSource source(ChaChaSource::Seed{5});
    Random random(source);
    ExactNoise noise(random);
    const std::vector<int64_t> utilities(5);
    Charge charge = plan.Take(0);
    EXPECT_LT(SelectPrivately(std::move(charge), noise, utilities.data(), 4), 4u);
    EXPECT_THROW(SelectPrivately(std::move(charge), noise, utilities.data(), 4), Error);
    EXPECT_THROW(SelectPrivately(plan.Take(0), noise, utilities.data(), 5), Error);
}

TEST(Selection, NothingToSelectFromSpendsNothing) {
    Plan plan = SelectionPlan(4);
    ZeroNoise noise;
    const int64_t utility = 0;
    Charge charge = plan.Take(0);
    EXPECT_THROW(SelectPrivately(std::move(charge), noise, &utility, 0), Error);
    EXPECT_EQ(SelectPrivately(std::move(charge), noise, &utility, 1), 0u);
}

}  // namespace
}  // namespace dpboost
