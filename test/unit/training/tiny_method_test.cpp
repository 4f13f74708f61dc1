// A method is one file and one line: "mean" is in the list below, and everything else knows it.
#include <gtest/gtest.h>

#include "support/thrown.h"
#include "support/training_call.h"
#include "unit/learner/tiny_method.cpp"

namespace dpboost {
namespace {

MethodList WithMean() {
    static const std::vector<const MethodInfo*> methods = [] {
        std::vector<const MethodInfo*> list(AllMethods().begin(), AllMethods().end());
        list.push_back(&kMean);  // the line
        return list;
    }();
    return {methods.data(), methods.size()};
}

TrainingCall Call(const std::string& options) {
    TrainingCall call(options);
    call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
    call.schema().target.domain = Domain::Range("", 0, 10);
    call.schema().methods = WithMean();
    return call;
}

TEST(TinyMethodTest, TrainsLikeAnyOther) {
    const std::unique_ptr<TrainingCore> training =
        Call("{\"epsilon\": 1, \"method\": \"mean\", \"shrink\": 0}").Begin();
    training->Calibrate({});
    for (int i = 0; i < 300; i++)
        AppendRow(*training, i % 2 == 0 ? 2 : 4, {0.5});
    ZeroNoise noise;
    const Model model = TrainWithoutNoise(*training, noise);
    const uint16_t code = 0;
    EXPECT_NEAR(model.Predict(&code), 3, 1e-5);
    EXPECT_EQ(noise.gaussian_draws, 2u);
    EXPECT_EQ(Json(training->Describe({"m", "ana", 1, 1, nullptr, 0}))->Find("method")->view(), "mean");
}

TEST(TinyMethodTest, ItsOptionIsKnown) {
    const auto refused = [](const char* options) { return Thrown([&] { Call(options).Begin(); }); };
    EXPECT_EQ(refused("{\"epsilon\": 1, \"method\": \"mean\", \"shrink\": 1001}"),
              "option \"shrink\" must be a number from 0 to 1000 | It is 1001. | ");
    EXPECT_EQ(
        refused("{\"epsilon\": 1, \"shrink\": 1}"),
        "option \"shrink\" is not used by method \"sbdt\" | Methods that use it: \"mean\". | Name one "
        "of them in the option \"method\"; without it the method is \"auto\", or \"sbdt\" for an option "
        "that \"auto\" does not have.");
    EXPECT_EQ(refused("{\"epsilon\": 1, \"method\": \"mean\", \"trees\": 1}").substr(0, 45),
              "option \"trees\" is not used by method \"mean\" |");
    EXPECT_NE(refused("{\"epsilon\": 1, \"shrin\": 1}").find("Perhaps you meant \"shrink\"."),
              std::string::npos);
    EXPECT_NE(refused("{\"epsilon\": 1, \"method\": \"men\"}").find("Perhaps you meant \"mean\"."),
              std::string::npos);
}

}  // namespace
}  // namespace dpboost
