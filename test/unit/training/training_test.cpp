// The steps of a training: in their order, once; within the memory limit; from a seed that makes two streams; and
// what it tells.
#include "training/training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "privacy/spent.h"
#include "support/thrown.h"
#include "support/training_call.h"
#include "training/call/call.h"

namespace dpboost {
namespace {

TrainingCall Call(const std::string& more = "", const char* method = "sbdt") {
    TrainingCall call("{\"epsilon\": 2, \"method\": \"" + std::string(method) + "\"" +
                      (more.empty() ? "" : ", " + more) + "}");
    call.schema().target.domain = Domain::Range("", 0, 10);
    return call;
}

TrainingCall CallWithX(const std::string& more = "\"trees\": 3", const char* method = "sbdt") {
    TrainingCall call = Call(more, method);
    call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
    return call;
}

void AppendSome(TrainingCore& training, int rows = 300) {
    for (int i = 0; i < rows; i++)
        AppendRow(training, i % 10, {i % 100 / 100.0}, i / 2);
}

std::string TrainBySeed(TrainingCore& training, unsigned char seed) {
    NoInterrupt interrupt;
    NoProgress progress;
    training.FinishRows(interrupt);
    training.Train(Cashier::Receipt(training.plan_bytes()), ChaChaSource::Seed{seed}, interrupt, progress);
    return training.model_bytes();
}

std::string TrainedBySeed(unsigned char seed) {
    const auto training = CallWithX().Begin();
    training->Calibrate({});
    AppendSome(*training);
    return TrainBySeed(*training, seed);
}

// ---- steps ----

TEST(TrainingTest, EveryMethodTrains) {
    for (const MethodInfo* method : AllMethods())
        for (const bool units : {false, true}) {
            TrainingCall call = CallWithX("", method->name);
            call.schema().target.kind = ValueKind::kBoolean;
            call.schema().has_units = units;
            const auto training = call.Begin();
            training->Calibrate({});
            AppendSome(*training);
            const Model model = Model::Parse(TrainBySeed(*training, 1));
            const uint16_t code = 3;
            EXPECT_GE(model.Predict(&code), 0) << method->name;
            EXPECT_LE(model.Predict(&code), 1) << method->name;
            EXPECT_EQ(training->task_name(), std::string("classification"));
            const Evidence& evidence = model.evidence();
            const double mu_squared = GaussianMuSquared(Cost::Parse(training->plan_bytes()).events);
            EXPECT_EQ(evidence.noise == NoiseKind::kGaussian, std::isfinite(mu_squared)) << method->name;
            EXPECT_EQ(evidence.mu, std::isfinite(mu_squared) ? std::sqrt(mu_squared) : 0) << method->name;
        }
}

TEST(TrainingTest, TrainsOnceAndOnlyCalibrated) {
    const std::string refused = "a training is calibrated, has its rows, and trains once |  | ";
    NoInterrupt interrupt;
    NoProgress progress;
    const auto training = CallWithX().Begin();
    const auto train = [&] {
        training->Train(Cashier::Receipt(training->plan_bytes()), ChaChaSource::Seed{1}, interrupt, progress);
    };
    AppendSome(*training);
    EXPECT_EQ(Thrown(train), refused);
    training->Calibrate({});
    EXPECT_EQ(Thrown(train), refused);
    training->FinishRows(interrupt);
    training->buffer()->rows = 1;
    EXPECT_EQ(Thrown([&] { training->AppendRows(); }), "rows come after the last one |  | ");
    EXPECT_EQ(Thrown([&] { training->FinishRows(interrupt); }), "rows come after the last one |  | ");
    train();
    EXPECT_FALSE(training->model_bytes().empty());
    EXPECT_EQ(Thrown(train), refused);
}

TEST(TrainingTest, DrawsOnlyWhatWasPaidFor) {
    const std::string refused = "a training draws what was paid for |  | ";
    NoInterrupt interrupt;
    NoProgress progress;
    const auto training = CallWithX().Begin();
    training->Calibrate({});
    training->FinishRows(interrupt);
    const auto train = [&](PaidCharge&& paid) {
        return Thrown([&] { training->Train(std::move(paid), ChaChaSource::Seed{1}, interrupt, progress); });
    };
    PaidCharge paid = Cashier::Receipt(training->plan_bytes());
    PaidCharge moved = std::move(paid);
    EXPECT_EQ(train(std::move(paid)), refused);  // NOLINT: nothing is left of it
    EXPECT_EQ(train(Cashier::Receipt("")), refused);
    const auto cheaper = CallWithX("\"trees\": 2").Begin();
    cheaper->Calibrate({});
    EXPECT_EQ(train(Cashier::Receipt(cheaper->plan_bytes())), refused);
    EXPECT_TRUE(training->model_bytes().empty());
    EXPECT_EQ(train(std::move(moved)), "no error");
    EXPECT_FALSE(training->model_bytes().empty());
    EXPECT_EQ(train(std::move(moved)),
              "a training is calibrated, has its rows, and trains once |  | ");  // NOLINT
}

// Or it would fail after its charge was paid.
TEST(TrainingTest, NoiseThatNoLatticeHoldsIsRefusedBeforeTheCharge) {
    TrainingCall call("{\"epsilon\": 1e-12, \"delta\": 1e-300}");
    call.schema().target.kind = ValueKind::kBoolean;
    call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1));
    const auto training = call.Begin();
    EXPECT_EQ(Thrown([&] { training->Calibrate({}); }),
              "the noise of a training is out of range |  | Use a larger epsilon or fewer features.");
}

TEST(TrainingTest, AnEmptyTableTrains) {
    const auto training = CallWithX().Begin();
    training->Calibrate({});
    ZeroNoise noise;
    const Model model = TrainWithoutNoise(*training, noise);
    EXPECT_GT(noise.gaussian_draws, 0u);
    EXPECT_EQ(model.features().size(), 1u);
}

TEST(TrainingTest, TheBudgetBindsTheNoise) {
    const Budget budget(0.5, 1e-6);
    const auto training = CallWithX().Begin();
    EXPECT_EQ(CodeOf([&] { training->Calibrate({budget.Constraint("budget")}); }),
              ErrorCode::kBudgetExhausted);
    training->Calibrate({});
    EXPECT_NEAR(Cost::Parse(training->plan_bytes()).epsilon, 2, 1e-3);
}

// ---- randomness ----

TEST(TrainingTest, TheSeedDecides) {
    EXPECT_EQ(TrainedBySeed(1), TrainedBySeed(1));
    EXPECT_NE(TrainedBySeed(1), TrainedBySeed(2));
}

TEST(TrainingTest, TheSeedIsWiped) {
    const auto training = CallWithX().Begin();
    training->Calibrate({});
    ChaChaSource::Seed seed{7};
    NoInterrupt interrupt;
    NoProgress progress;
    training->FinishRows(interrupt);
    training->Train(Cashier::Receipt(training->plan_bytes()), std::move(seed), interrupt, progress);
    EXPECT_EQ(seed, ChaChaSource::Seed{});
}

// A method that tells what it was given to draw from.
struct Draws {
    uint64_t structure = 0, coins = 0;
    int64_t noise = 0;
};
Draws drawn;
uint64_t coins_first = 0;  // how many coins are drawn before the structure

class Spy final : public Learner {
    std::vector<MechanismRequest> Mechanisms() const override {
        MechanismRequest request;
        request.name = "spy";
        request.rest = 1;
        request.dimensions = {{1 << 30, 1, 1}};
        return {request};
    }
    std::string main_mechanism() const override { return "spy"; }
    Footprint footprint(bool) const override { return {}; }
    Link link() const override { return Link::kIdentity; }
    void Train(Run& run) const override {
        for (uint64_t i = 0; i < coins_first; i++)
            run.coins.Next64();
        drawn.structure = run.structure.Next64();
        drawn.coins = run.coins.Next64();
        drawn.noise = run.releaser.Release(0, RawSums({0}, 1)).values[0];
    }
};
constexpr MethodInfo kSpy = {
    "spy",
    "",
    "",
    "",
    false,
    OptionTable(),
    [](const MethodInfo&, const LearnerContext&,
       const std::vector<GivenOption>&) -> std::unique_ptr<Learner> { return std::make_unique<Spy>(); }};

Draws DrawnBySeed(unsigned char seed) {
    const MethodInfo* const methods[] = {&kSpy};
    TrainingCall call = CallWithX("", "spy");
    call.schema().methods = MethodList(methods, 1);
    const auto training = call.Begin();
    training->Calibrate({});
    TrainBySeed(*training, seed);
    return drawn;
}

TEST(TrainingTest, StructureAndSecretsAreDrawnFromTwoStreams) {
    coins_first = 0;
    const Draws a = DrawnBySeed(1), b = DrawnBySeed(2);
    coins_first = 5000;  // more than is drawn from a stream at once
    const Draws later = DrawnBySeed(1);
    coins_first = 0;
    EXPECT_NE(a.structure, a.coins);
    EXPECT_NE(a.structure, b.structure);
    EXPECT_NE(a.coins, b.coins);
    EXPECT_EQ(a.structure, later.structure);  // untouched by what else was drawn
    EXPECT_NE(a.coins, later.coins);
    EXPECT_NE(a.noise, later.noise);  // noise comes after the coins, from their stream
    ChaChaSource root(ChaChaSource::Seed{1});
    Random from_root(root);
    EXPECT_NE(a.structure, from_root.Next64());  // the root keys streams, and serves nothing else
}

// ---- options ----

// What a table takes, its method takes too, unless it does not fit other options: there is no second, narrower range.
TEST(TrainingTest, MethodsTakeWhatTheirTablesTake) {
    int begun = 0, idle = 0, refused = 0;
    for (const MethodInfo* method : AllMethods())
        for (const OptionRow& row : method->options) {
            if (row.form != nullptr)  // it depends on the columns
                continue;
            std::vector<std::string> values;
            for (size_t i = 0; i < row.word_count; i++)
                values.push_back(JsonString(row.words[i]));
            if (row.kind == OptionRow::kTruth)
                values = {"true", "false"};
            else if (row.kind != OptionRow::kWord)
                values = {JsonNumber(row.above_lowest ? row.lowest + 1e-3 : row.lowest),
                          JsonNumber(row.highest)};
            for (const std::string& value : values) {
                TrainingCall call = CallWithX(JsonString(row.key) + ": " + value, method->name);
                call.schema().target.kind = ValueKind::kBoolean;
                const std::string said = Thrown([&] { call.Begin(); });
                const bool without_effect = said.find("has no effect here") != std::string::npos;
                (said == "no error" ? begun : without_effect ? idle : refused)++;
                EXPECT_EQ(said.find("option \"" + std::string(row.key) + "\" must be " + Allowed(row)),
                          std::string::npos)
                    << method->name << " " << value;
                EXPECT_EQ(said.find("out of range"), std::string::npos) << method->name << " " << said;
            }
        }
    EXPECT_GT(begun + idle, 8 * refused);
    EXPECT_LT(idle, begun / 4);
}

// ---- limits ----

TEST(TrainingTest, ModelsThatWouldBeTooLarge) {
    const std::string large =
        "the model would be too large | The number of trees times two to the power of their depth must not "
        "exceed 16777216. "
        "| Lower \"depth\" or the number of trees.";
    const auto checked = [](uint64_t trees, unsigned depth) {
        return Thrown([&] { CheckFootprint({trees, depth, 0, 0}, 0); });
    };
    EXPECT_EQ(checked(0, 0), "no error");
    EXPECT_EQ(checked(16384, 10), "no error");
    EXPECT_EQ(checked(16385, 10), large);
    EXPECT_EQ(checked(1, 24), "no error");
    EXPECT_EQ(checked(1, 25), large);
    EXPECT_EQ(checked(1, 64), large);
    EXPECT_EQ(checked(~uint64_t{0}, 1), large);
    EXPECT_EQ(Thrown([] { CallWithX("\"trees\": 100000, \"depth\": 10, \"learning_rate\": 0.001").Begin(); }),
              large);
    EXPECT_EQ(CodeOf([] { CheckFootprint({1, 25, 0, 0}, 0); }), ErrorCode::kLimitExceeded);
}

TEST(TrainingTest, MemoryWithoutAnyRow) {
    EXPECT_EQ(Thrown([] { CheckFootprint({0, 0, 0, 4096}, 4096); }), "no error");
    EXPECT_EQ(Thrown([] {
                  CheckFootprint({0, 0, 0, 8192}, 4096);
              }),
              "the training needs more than dpboost.max_memory | Without any row it needs 8 kB; the limit is "
              "4 kB. | Ask a superuser to raise "
              "\"dpboost.max_memory\", or train on fewer columns.");
    TrainingCall call = CallWithX();
    call.schema().memory = 1000;
    EXPECT_EQ(CodeOf([&] { call.Begin(); }), ErrorCode::kOutOfMemory);
}

TEST(TrainingTest, RowsBeyondTheMemoryLimit) {
    TrainingCall call = CallWithX();
    call.schema().memory = 4 << 20;
    const auto training = call.Begin();
    EXPECT_EQ(
        Thrown([&] { AppendSome(*training, 1'000'000); }),
        "training data does not fit into the memory limit | The limit is 4096 kB. | Ask a superuser to raise "
        "\"dpboost.max_memory\", or train "
        "on fewer columns or rows.");
}

TEST(TrainingTest, GroupsShareTheMemoryLimit) {
    TrainingCall call = CallWithX();
    call.schema().memory = 4 << 20;
    std::vector<std::unique_ptr<TrainingCore>> groups;
    const std::string refused = Thrown([&] {
        for (int i = 0; i < 1000; i++) {
            groups.push_back(call.Begin());
            AppendSome(*groups.back());
        }
    });
    EXPECT_EQ(refused.substr(0, 61), "the trainings of this query need more than dpboost.max_memory");
    call.schema().unseen = true;
    EXPECT_EQ(Thrown([&] { AppendSome(*call.Begin()); }), "no error");
    groups.clear();
    call.schema().unseen = false;
    EXPECT_EQ(Thrown([&] { AppendSome(*call.Begin()); }), "no error");
}

// ---- what is told ----

TEST(TrainingTest, Describes) {
    TrainingCall call = CallWithX();
    call.Feature("sex", ValueKind::kText).Feature("ill", ValueKind::kBoolean);
    const auto training = call.Begin();
    training->Calibrate({});
    const RemainingBudget remaining[] = {{"visits", "ana", nullptr, 0.75, 0.5, 1e-6, false},
                                         {"a \"b\"", nullptr, nullptr, 0, INFINITY, 0, false}};
    const Json estimate(training->Describe({nullptr, nullptr, 0, 0, remaining, 2}));
    EXPECT_EQ(estimate->Find("model"), nullptr);
    EXPECT_EQ(estimate->Find("version"), nullptr);
    EXPECT_EQ(estimate->Find("task")->view(), "regression");
    EXPECT_EQ(estimate->Find("method")->view(), "sbdt");
    EXPECT_EQ(estimate->Find("epsilon")->view(), "2");
    EXPECT_EQ(estimate->Find("delta")->number, 1e-6);
    EXPECT_EQ(estimate->Find("trees")->number, 3);
    EXPECT_EQ(estimate->Find("features")->number, 3);
    EXPECT_EQ(JsonText(*estimate->Find("remaining")),
              "[{\"part\": 0.75, \"role\": \"ana\", \"delta\": 1e-06, \"table\": \"visits\", \"epsilon\": "
              "0.5}, {\"part\": 0, \"role\": null, "
              "\"delta\": 0, \"table\": \"a \\\"b\\\"\", \"epsilon\": null}]");
    EXPECT_EQ(estimate->Find("noise_multiplier"), nullptr);  // the ledger has it
    const Json result(training->Describe({"a \"name\"", "ana", 7, 12, nullptr, 0}));
    EXPECT_EQ(result->Find("model")->view(), "a \"name\"");
    EXPECT_EQ(result->Find("owner")->view(), "ana");
    EXPECT_EQ(result->Find("version")->number, 7);

    const auto linear = CallWithX("", "adassp").Begin();
    linear->Calibrate({});
    EXPECT_EQ(Json(linear->Describe({}))->Find("trees"), nullptr);
}

}  // namespace
}  // namespace dpboost
