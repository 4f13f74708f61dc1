// Updates: what is taken over from the model, what a call may change, what is refused, and what is written down.
#include <gtest/gtest.h>

#include <cmath>

#include "privacy/accountant/gdp.h"
#include "privacy/spent.h"
#include "support/thrown.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

TrainingCall Call(const std::string& options, Task task = Task::kBinary) {
    TrainingCall call(options);
    call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
    call.schema().target.kind = task == Task::kBinary ? ValueKind::kBoolean : ValueKind::kFloat8;
    call.schema().target.domain = Domain::Range("", 0, 10);
    if (task == Task::kBinary)
        call.schema().target.domain = Domain();
    return call;
}

void AppendSome(TrainingCore& training, int rows = 400) {
    for (int i = 0; i < rows; i++)
        AppendRow(training, training.target().by_number ? i % 10 : i % 100 >= 50, {i % 100 / 100.0});
}

Model Train(TrainingCore& training) {
    NoInterrupt interrupt;
    NoProgress progress;
    training.Calibrate({});
    AppendSome(training);
    training.FinishRows(interrupt);
    training.Train(Cashier::Receipt(training.plan_bytes()), ChaChaSource::Seed{3}, interrupt, progress);
    return Model::Parse(training.model_bytes());
}

Model FirstModel(const std::string& options, Task task = Task::kBinary) {
    const auto training = Call(options, task).Begin();
    return Train(*training);
}

// An update of the model, version 3 in the catalog.
class Update {
  public:
    Update(Model model, const std::string& stored, const std::string& given, Task task = Task::kBinary)
        : model_(std::move(model)), stored_(stored), call_(Call(given, task)) {
        ContinuedModel continued;
        continued.model = &model_;
        continued.name = "m";
        continued.version = 3;
        continued.method = stored_->Find("method") != nullptr ? stored_->Find("method")->view() : "auto";
        continued.options = stored_.get();
        if (task == Task::kBinary)
            continued.positive = "true";
        call_.schema().privacy.given = true;
        call_.schema().privacy.epsilon = 1;
        call_.schema().continued = continued;
    }

    TrainingSchema& schema() { return call_.schema(); }
    std::unique_ptr<TrainingCore> Begin() const { return call_.Begin(); }
    std::string Refusal() const {
        return Thrown([&] { Begin(); });
    }

  private:
    Model model_;
    Json stored_;
    TrainingCall call_;
};

const std::string kSbdt = R"({"epsilon": 2, "method": "sbdt", "trees": 9, "depth": 2})";

TEST(UpdateTest, TakesOverWhatTheModelIs) {
    for (const Task task : {Task::kBinary, Task::kRegression})
        for (const std::string& stored : {kSbdt, std::string(R"({"epsilon": 2, "method": "auto"})")}) {
            const Model first = FirstModel(stored, task);
            const auto training = Update(first, stored, "{}", task).Begin();
            const Model next = Train(*training);
            EXPECT_EQ(next.features(), first.features()) << stored;
            EXPECT_TRUE(next.target() == first.target()) << stored;
            EXPECT_EQ(next.link(), first.link());
            EXPECT_NE(next.Serialize(), first.Serialize());
        }
}

// Trees: half of the training's unless the call says so, and what the call says is not kept for later.
TEST(UpdateTest, OptionsOfTheTrainingStayThoseOfTheModel) {
    const Model first = FirstModel(kSbdt);
    const auto half = Update(first, kSbdt, "{}").Begin();
    half->Calibrate({});
    EXPECT_NE(half->Describe({}).find("\"trees\": 5"), std::string::npos) << half->Describe({});
    EXPECT_NE(half->Describe({}).find("\"updates\": 3"), std::string::npos);
    const auto given = Update(first, kSbdt, R"({"trees": 2, "old_weight": 0.5, "deploy": false})").Begin();
    given->Calibrate({});
    EXPECT_NE(given->Describe({}).find("\"trees\": 2"), std::string::npos);
    EXPECT_FALSE(given->options().deploy);
    const std::string text = given->options().text;
    EXPECT_EQ(
        text,
        "{\"epsilon\": 1, \"delta\": 1e-06, \"depth\": 2, \"trees\": 9, \"method\": \"sbdt\", \"update\": "
        "{\"version\": 3, \"trees\": 2, \"deploy\": false, \"old_weight\": 0.5}}");
    const auto after = Update(first, text, "{}").Begin();
    after->Calibrate({});
    EXPECT_NE(after->Describe({}).find("\"trees\": 5"), std::string::npos);
    EXPECT_EQ(
        after->options().text,
        "{\"epsilon\": 1, \"delta\": 1e-06, \"depth\": 2, \"trees\": 9, \"method\": \"sbdt\", \"update\": "
        "{\"version\": 3}}");
}

// The chain of full-batch Gaussian releases is mu-GDP with mu^2 added up; others say nothing.
TEST(UpdateTest, NoiseOfAllReleasesIsNoted) {
    const std::string stored = R"({"epsilon": 2, "method": "auto"})";
    const Model first = FirstModel(stored);
    const auto training = Update(first, stored, "{}").Begin();
    const Model next = Train(*training);
    EXPECT_EQ(next.evidence().noise, NoiseKind::kGaussian);
    EXPECT_NEAR(next.evidence().mu, std::hypot(GdpMu(2, 1e-6), GdpMu(1, 1e-6)), 1e-9);
    const Model sampled = FirstModel(kSbdt);
    EXPECT_EQ(sampled.evidence().noise, NoiseKind::kUnstated);
    const auto later = Update(sampled, kSbdt, R"({"subsample": 1})").Begin();
    EXPECT_EQ(Train(*later).evidence().noise, NoiseKind::kUnstated);
}

TEST(UpdateTest, OtherMethodsRefuseAndNameThoseThatCan) {
    for (const MethodInfo* method : AllMethods()) {
        const std::string stored = "{\"epsilon\": 2, \"method\": \"" + std::string(method->name) + "\"}";
        const std::string refusal = Update(FirstModel(kSbdt), stored, "{}").Refusal();
        EXPECT_EQ(refusal,
                  method->continues
                      ? "no error"
                      : "models of method \"" + std::string(method->name) +
                            "\" cannot be updated | Methods whose models can be: \"auto\", \"sbdt\". | "
                            "Train the next version from the start, with dpboost_train_on.");
    }
}

TEST(UpdateTest, WhatTheModelHasFixedIsRefused) {
    const Model first = FirstModel(kSbdt);
    for (const char* given :
         {R"({"method": "auto"})", R"({"bounds": {"x": [0, 1]}})", R"({"task": "regression"})",
          R"({"bins": 9})", R"({"positive": "no"})", R"({"target_range": [0, 1]})",
          R"({"objective": "poisson"})", R"({"hash_buckets": 9})"})
        EXPECT_NE(Update(first, kSbdt, given).Refusal().find("is fixed by the model"), std::string::npos)
            << given;
    EXPECT_NE(Update(first, kSbdt, R"({"rounds": 9})").Refusal().find("unrecognized option"),
              std::string::npos);
    EXPECT_EQ(Thrown([] { Call(R"({"epsilon": 1, "old_weight": 0.5})").Begin(); }),
              "option \"old_weight\" is for dpboost_update only |  | ");
}

// What the owner has declared since holds for encodings, too.
TEST(UpdateTest, EncodingsAreNoWiderThanDeclared) {
    Update update(FirstModel(kSbdt), kSbdt, "{}");
    update.schema().governed = true;
    EXPECT_EQ(update.Refusal(), "no error");
    update.schema().features[0].domain = Domain::Range("", 0, 0.5);
    EXPECT_NE(update.Refusal().find("bounds of column \"x\" are wider than declared"), std::string::npos);
    update.schema().governed = false;
    EXPECT_EQ(update.Refusal(), "no error");
}

TEST(UpdateTest, AModelGrowsOnlySoFar) {
    Footprint footprint;
    footprint.depth = 12;
    footprint.trees = kMaxModelLeaves >> 12;
    EXPECT_EQ(Thrown([&] {
                  CheckGrowth(Model({FeatureSpec::Boolean("b")}, TargetSpec::Binary(), Link::kLogistic),
                              footprint);
              }),
              "no error");
    Tree tree = Tree::OfDepth(2);
    tree.splits[1].feature = 1;
    Model two({FeatureSpec::Boolean("a"), FeatureSpec::Boolean("b")}, TargetSpec::Binary(), Link::kLogistic);
    for (Split& split : tree.splits)
        split.kind = SplitKind::kLevel;
    two.AddTree(tree);
    EXPECT_NE(Thrown([&] { CheckGrowth(two, footprint); }).find("the model would be too large"),
              std::string::npos);
}

}  // namespace
}  // namespace dpboost
