#include "privacy/cost.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "privacy/plan.h"
#include "unit/privacy/reference_table.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

Plan SmallPlan(uint64_t filter_rounds) {
    MechanismRequest start;
    start.name = "start";
    start.kind = EventKind::kLaplace;
    start.share = 0.03;
    start.dimensions = {{65536, 1, 1}};
    MechanismRequest leaves = Leaves(0.25, 40);
    leaves.filter_rounds = filter_rounds;
    return Plan::Calibrate(Request(0.5, 1e-6, {start, leaves}));
}

TEST(Release, SurvivesSerialisation) {
    for (uint64_t filter_rounds : {0, 7}) {
        const Plan plan = SmallPlan(filter_rounds);
        const std::string bytes = plan.Serialize();
        EXPECT_LT(bytes.size(), 650u);
        EXPECT_TRUE(Cost::Parse(bytes) == plan.release());
        EXPECT_TRUE(Cost::Replay(bytes) == plan.release());
        EXPECT_EQ(Cost::Parse(bytes).PldApplies(), filter_rounds == 0);
    }
}

TEST(Release, EveryTruncationIsAnError) {
    const std::string bytes = SmallPlan(0).Serialize();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_ERROR(Cost::Parse(std::string_view(bytes).substr(0, size)), kCorrupted);
    EXPECT_ERROR(Cost::Parse(bytes + '\0'), kCorrupted);
}

TEST(Release, EveryChangedByteIsAnError) {
    const std::string bytes = SmallPlan(0).Serialize();
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (int change : {1, 2, 16, 128, 255}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ change);
            EXPECT_ERROR(Cost::Parse(changed), kCorrupted);
        }
}

// Changes that a forger would make, with a correct checksum: parsed strictly, or caught by the replay.
TEST(Release, ForgedFiguresAreCaught) {
    const Cost honest = SmallPlan(0).release();
    Cost cheaper = honest;
    cheaper.epsilon = 0.25;
    EXPECT_ERROR(Cost::Replay(cheaper.Serialize()), kCorrupted);
    Cost flatter = honest;
    flatter.curve.rho[20] *= 0.5;
    EXPECT_ERROR(Cost::Replay(flatter.Serialize()), kCorrupted);
    Cost pure = honest;
    pure.curve.pure_epsilon = 0.5;
    EXPECT_ERROR(Cost::Replay(pure.Serialize()), kCorrupted);
    Cost negative = honest;
    negative.curve.rho[3] = -1;
    EXPECT_ERROR(Cost::Parse(negative.Serialize()), kCorrupted);
    Cost sampled = honest;
    sampled.events[0].sampling_rate = 0.5;
    EXPECT_ERROR(Cost::Parse(sampled.Serialize()), kCorrupted);
    Cost never = honest;
    never.events[0].count = 0;
    EXPECT_ERROR(Cost::Parse(never.Serialize()), kCorrupted);
    Cost odd = honest;
    odd.delta = 1;
    EXPECT_ERROR(Cost::Parse(odd.Serialize()), kCorrupted);
}

}  // namespace
}  // namespace dpboost
