// What servers compute before they charge anybody.
#include "training/federation/rehearsal.h"

#include <gtest/gtest.h>

#include "learner/boosted/sbdt.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

std::string RehearsedBy(const std::string& options, const MethodList& methods = AllMethods(),
                        double upper = 100) {
    TrainingCall call(options);
    call.schema().target.domain = Domain::Range("y", 0, upper);
    call.schema().methods = methods;
    call.Feature("a", ValueKind::kFloat8, Domain::Range("a", 0, 1))
        .Feature("b", ValueKind::kText, Domain::Levels("b", {"x", "y", "z"}));
    NoInterrupt interrupt;
    return Rehearsed("1.0", *call.Begin(), nullptr, interrupt);
}

TEST(Rehearsal, TheSameCallIsRehearsedOnce) {
    int rehearsals = 0;
    const auto rehearsed = [&](const char* call) {
        return RehearsedOnce(call, [&] { return call + std::to_string(++rehearsals); });
    };
    EXPECT_EQ(rehearsed("a"), "a1");
    EXPECT_EQ(rehearsed("a"), "a1");
    EXPECT_EQ(rehearsed("b"), "b2");
    EXPECT_EQ(rehearsed("a"), "a3");
    const auto fail = []() -> std::string { throw Error(ErrorCode::kCanceled, "canceled"); };
    EXPECT_THROW(RehearsedOnce("c", fail), Error);
    EXPECT_EQ(rehearsed("a"), "a3");
    EXPECT_EQ(rehearsed("c"), "c4");
}

TEST(Rehearsal, SaysTheSameOfTheSameTraining) {
    for (const char* method : {"auto", "sbdt", "adassp", "dp_tr", "dp_rf", "feverless"}) {
        const std::string options =
            std::string(R"({"epsilon": 1, "task": "regression", "method": ")") + method + R"("})";
        EXPECT_EQ(RehearsedBy(options), RehearsedBy(options)) << method;
    }
    const std::string options = R"({"epsilon": 1, "method": "sbdt", "trees": 20})";
    EXPECT_NE(RehearsedBy(options),
              RehearsedBy(R"({"epsilon": 1, "method": "sbdt", "trees": 20, "l2": 11})"));
    EXPECT_NE(RehearsedBy(options), RehearsedBy(R"({"epsilon": 1.01, "method": "sbdt", "trees": 20})"));
    EXPECT_NE(RehearsedBy(options), RehearsedBy(options, AllMethods(), 101));
}

// Another build, which computes a little otherwise.
TEST(Rehearsal, TellsBuildsApart) {
    MethodInfo other = kSbdt;
    other.make = [](const MethodInfo&, const LearnerContext& context, const std::vector<GivenOption>&) {
        SbdtOptions options(context.target.task(), context.epsilon);
        options.l2 += 1e-5;
        return std::unique_ptr<Learner>(std::make_unique<SbdtLearner>(options));
    };
    const MethodInfo* const list[] = {&other};
    const std::string options = R"({"epsilon": 1, "method": "sbdt"})";
    EXPECT_NE(RehearsedBy(options), RehearsedBy(options, MethodList(list, 1)));
}

}  // namespace
}  // namespace dpboost
