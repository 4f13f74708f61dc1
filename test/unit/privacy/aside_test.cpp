// The draw aside of a plan: what pays for a hold-out's evaluation, at no further cost.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "privacy/accountant/gdp.h"
#include "privacy/ledger_bytes.h"
#include "privacy/plan.h"
#include "privacy/spent.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

MechanismRequest Gaussian(const char* name, double share) {
    MechanismRequest request;
    request.name = name;
    request.share = share;
    request.dimensions = {{65536, 1, 10}};
    return request;
}

PlanRequest WithAside() {
    PlanRequest request;
    request.epsilon = 1;
    request.delta = 1e-6;
    request.mechanisms = {Gaussian("first", 0.3), Gaussian("second", 0.7)};
    request.aside = Gaussian("aside", 0);
    return request;
}

TEST(Aside, HasTheNoiseOfTheWholeBudgetAndCostsNothingMore) {
    Plan plan = Plan::Calibrate(WithAside());
    PlanRequest without = WithAside();
    without.aside.reset();
    const Plan alone = Plan::Calibrate(without);
    EXPECT_EQ(plan.events(), alone.events());
    EXPECT_EQ(plan.epsilon(), alone.epsilon());
    EXPECT_EQ(plan.curve().rho, alone.curve().rho);
    EXPECT_EQ(GaussianMuSquared(plan.release().events), GaussianMuSquared(alone.release().events));
    const MechanismId id = plan.Find("aside");
    EXPECT_NEAR(plan.NoiseMultiplier(id) * GdpMu(1, 1e-6), 1, 1e-6);
    EXPECT_LE(1 / plan.NoiseMultiplier(id) / plan.NoiseMultiplier(id), GaussianMuSquared(plan.events()));
}

TEST(Aside, IsDrawnOnceAndByNoOtherDoor) {
    Plan plan = Plan::Calibrate(WithAside());
    const MechanismId id = plan.Find("aside");
    EXPECT_THROW(plan.Take(id), Error) << "as if its units were those of the others";
    EXPECT_THROW(plan.TakeAside(plan.Find("first")), Error);
    Charge charge = plan.TakeAside(id);
    EXPECT_THROW(plan.TakeAside(id), Error);
    EXPECT_FALSE(plan.Finished());
    plan.Take(plan.Find("first"));
    plan.Take(plan.Find("second"));
    EXPECT_TRUE(plan.Finished());
}

TEST(Aside, NeedsFullBatchGaussians) {
    PlanRequest sampled = WithAside();
    sampled.mechanisms[1].sampling_rate = 0.5;
    EXPECT_EQ(CodeOf([&] { Plan::Calibrate(sampled); }), ErrorCode::kUnsupported);
    PlanRequest laplace = WithAside();
    laplace.mechanisms[1].kind = EventKind::kLaplace;
    EXPECT_EQ(CodeOf([&] { Plan::Calibrate(laplace); }), ErrorCode::kUnsupported);
    PlanRequest shared = WithAside();
    shared.aside->share = 0.1;
    EXPECT_THROW(Plan::Calibrate(shared), Error);
}

TEST(Aside, IsKeptInTheLedgerAndProvenAgain) {
    const Plan plan = Plan::Calibrate(WithAside());
    const Cost cost = Cost::Replay(plan.Serialize());
    EXPECT_EQ(cost, plan.release());
    ASSERT_TRUE(cost.aside.has_value());
    Cost forged = cost;
    forged.aside->parameter *= 1 - 1e-9;  // less noise than the events cover
    EXPECT_THROW(Cost::Replay(forged.Serialize()), Error);
    forged = cost;
    forged.aside = Event::Laplace(0.001, 1);
    EXPECT_THROW(Cost::Replay(forged.Serialize()), Error);
}

}  // namespace
}  // namespace dpboost
