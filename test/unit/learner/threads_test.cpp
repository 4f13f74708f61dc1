// Threads change nothing: tables of many blocks, so that several workers take part in every pass.
#include <gtest/gtest.h>

#include "learner/methods.h"
#include "mechanism/noise.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct ThreadCase {
    const char* method;
    std::vector<GivenOption> given;
    Task task = Task::kBinary;
};

std::vector<ThreadCase> Cases() {
    return {{"auto", {}},
            {"auto", {}, Task::kRegression},
            {"auto", {}, Task::kClasses},
            {"adassp_logistic", {Given("rounds", 20)}},
            {"adassp", {Given("rounds", 2)}, Task::kRegression},
            {"sbdt", {Given("trees", 20)}},
            {"sbdt", {Given("trees", 20), Given("extra_rounds", 10)}, Task::kRegression},
            {"sbdt", {Given("trees", 12), Given("subsample", 1)}, Task::kClasses}};
}

std::string Train(const ThreadCase& one, const Dataset& dataset, int threads) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    ExactNoise noise(random);
    TrainingSettings settings;
    settings.threads = threads;
    return TrainWith(*AllMethods().Find(one.method), dataset, 2, 1e-6, one.given, random, noise, settings)
        .Serialize();
}

TEST(Threads, ChangeNoModel) {
    for (const bool units : {false, true}) {
        for (const ThreadCase& one : Cases()) {
            DataShape shape;
            shape.task = one.task;
            shape.rows = 6 * kBlockRows + 77;  // one for each of five threads at least
            shape.wide = 1;
            shape.units = units ? shape.rows / 3 : 0;
            shape.product = true;
            const Dataset dataset = RandomDataset(shape);
            const std::string model = Train(one, dataset, 1);
            for (const int threads : {2, 5})
                EXPECT_TRUE(Train(one, dataset, threads) == model)
                    << one.method << (units ? " units, " : " rows, ") << threads << " threads";
        }
    }
}

}  // namespace
}  // namespace dpboost
