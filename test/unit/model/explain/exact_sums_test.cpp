// What features contribute adds up to the score bit for bit: random models, and what every method makes of every target that
// it has, updates of it, and `auto` with each of its options for other targets.
#include <gtest/gtest.h>

#include <cmath>

#include "learner/methods.h"
#include "model/explain/explain.h"
#include "support/training_call.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

constexpr int kRows = 10000;

std::vector<uint16_t> RandomRow(const Model& model, Xorshift& random) {
    std::vector<uint16_t> codes;
    for (const FeatureSpec& feature : model.features()) {
        const uint32_t dice = random.Below(10);
        codes.push_back(static_cast<uint16_t>(dice == 0   ? feature.missing()
                                              : dice == 1 ? 65535
                                                          : random.Below(feature.cells())));
    }
    return codes;
}

void ExpectExactSums(const Model& model, const std::string& what) {
    NoInterrupt interrupt;
    Explainer explainer(model, interrupt);
    Xorshift random;
    const size_t outputs = model.outputs(), features = model.features().size();
    std::vector<int64_t> contributions(features * outputs);
    std::vector<double> sds(features * outputs);
    for (int row = 0; row < kRows; row++) {
        const std::vector<uint16_t> codes = RandomRow(model, random);
        explainer.Explain(codes.data(), contributions.data(), row % 2 == 0 ? sds.data() : nullptr);
        for (size_t k = 0; k < outputs; k++) {
            double sum = FromFixed(explainer.base_value(k));
            for (size_t f = 0; f < features; f++)
                sum += FromFixed(contributions[f * outputs + k]);
            // In floating point, and yet exact.
            ASSERT_EQ(sum, FromFixed(model.Score(codes.data(), k))) << what << ", row " << row;
        }
        if (row % 1000 == 998) {  // what was said before does not matter
            Explainer fresh(model, interrupt);
            std::vector<int64_t> again(contributions.size());
            std::vector<double> sds_again(sds.size());
            fresh.Explain(codes.data(), again.data(), sds_again.data());
            ASSERT_EQ(again, contributions) << what << ", row " << row;
            for (size_t i = 0; i < sds.size(); i++)
                ASSERT_TRUE(sds[i] == sds_again[i] || (std::isnan(sds[i]) && std::isnan(sds_again[i])));
        }
    }
}

TEST(ExactSums, OfRandomModels) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        Model model = seed % 2 == 0
                          ? RandomModel(SmallFeatures(), 2 * static_cast<unsigned>(seed), 5, seed)
                          : RandomClassModel(SmallFeatures(), 4, static_cast<unsigned>(seed), 4, seed);
        if (seed % 3 != 0)
            model.SetEvidence(RandomEvidence(model, seed));
        ExpectExactSums(model, "seed " + std::to_string(seed));
    }
}

// Numbers, levels, hashed text and a boolean; "w" is a weight where an option says so.
TrainingCall Call(const std::string& options, Task task) {
    TrainingCall call("{" + options + "}");
    PublicColumn& target = call.schema().target;
    if (task == Task::kRegression)
        target.domain = Domain::Range("", 0, 10);
    if (task == Task::kBinary)
        target.kind = ValueKind::kBoolean;
    if (task == Task::kClasses) {
        target.kind = ValueKind::kText;
        target.domain = Domain::Levels("", {"a", "b", "c"});
    }
    call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
    call.Feature("z", ValueKind::kFloat8, Domain::Range("", -5, 100));
    call.Feature("level", ValueKind::kText, Domain::Levels("", {"p", "q", "r", "s"}));
    call.Feature("hash", ValueKind::kText);
    call.Feature("w", ValueKind::kFloat8, Domain::Range("", 0, 4));
    return call;
}

Model TrainOn(TrainingCore& training, Task task, uint64_t seed) {
    training.Calibrate({});
    Xorshift random;
    random.state += seed;
    for (int i = 0; i < 3000; i++) {
        const double x = random.Below(1000) / 1000.0, z = random.Below(105) - 5.0;
        const uint32_t level = random.Below(4), hash = random.Below(9);
        const double y = 4 * x + (level == 2 ? 2 : 0) + (x > 0.5) * (z > 40) * 3 + (hash == 3);
        const double target = task == Task::kRegression ? y
                              : task == Task::kBinary   ? y > 4
                                                        : static_cast<int>(y) % 3;
        AppendRow(
            training, target,
            {i % 31 == 0 ? NAN : x, i % 97 == 0 ? NAN : z, level * 1.0, hash * 1.0, random.Below(5) * 1.0});
    }
    ZeroNoise noise;
    return TrainWithoutNoise(training, noise);
}

Model Updated(const Model& model, const MethodInfo& method, const std::string& options, Task task) {
    const Json stored("{" + options + "}");
    TrainingCall call = Call("", task);
    ContinuedModel continued;
    continued.model = &model;
    continued.name = "m";
    continued.version = 1;
    continued.method = method.name;
    continued.options = stored.get();
    continued.positive = task == Task::kBinary ? "true" : "";
    call.schema().privacy.given = true;
    call.schema().privacy.epsilon = 1;
    call.schema().continued = continued;
    const auto training = call.Begin();
    return TrainOn(*training, task, 2);
}

TEST(ExactSums, OfEveryMethodTargetAndUpdate) {
    for (const MethodInfo* method : AllMethods())
        for (const Task task : {Task::kRegression, Task::kBinary, Task::kClasses}) {
            if (task == Task::kClasses && !method->classes)
                continue;
            const std::string options = "\"epsilon\": 2, \"method\": \"" + std::string(method->name) + "\"" +
                                        (method->options.Find("trees") != nullptr ? ", \"trees\": 8" : "") +
                                        (method->options.Find("loss") != nullptr && task == Task::kRegression
                                             ? ", \"loss\": \"squared\""
                                             : "");
            const auto training = Call(options, task).Begin();
            const Model model = TrainOn(*training, task, 1);
            const std::string what =
                std::string(method->name) + ", task " + std::to_string(static_cast<int>(task));
            ExpectExactSums(model, what);
            if (!method->continues || task == Task::kClasses)  // which cannot be updated
                continue;
            const Model updated = Updated(model, *method, options, task);
            EXPECT_NE(updated.Serialize(), model.Serialize());
            ExpectExactSums(updated, what + ", updated");
        }
}

TEST(ExactSums, OfEveryKindOfTarget) {
    for (const char* options : {"\"target_scale\": \"log\"", "\"objective\": \"quantile\", \"quantile\": 0.9",
                                "\"objective\": \"huber\"", "\"objective\": \"poisson\"",
                                "\"monotone\": {\"x\": 1}", "\"intervals\": true", "\"weight\": \"w\""}) {
        const auto training = Call(std::string("\"epsilon\": 2, ") + options, Task::kRegression).Begin();
        ExpectExactSums(TrainOn(*training, Task::kRegression, 3), options);
    }
    const auto weighted =
        Call("\"epsilon\": 2, \"monotone\": {\"z\": -1}, \"class_weights\": {\"true\": 4}", Task::kBinary)
            .Begin();
    ExpectExactSums(TrainOn(*weighted, Task::kBinary, 4), "class weights");
}

}  // namespace
}  // namespace dpboost
