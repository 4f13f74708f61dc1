// Updates and evaluations that several servers do together: without noise they are those of one server, to the last bit. Run
// under ThreadSanitizer by `make unit-tsan`.
#include <gtest/gtest.h>

#include "support/cashier.h"
#include "support/parties.h"
#include "support/thrown.h"
#include "support/training_call.h"
#include "training/federation/rehearsal.h"
#include "training/federation/shared_work.h"

namespace dpboost {
namespace {

constexpr int kRows = 900;

TrainingCall Call(const char* options, const NoiseParties& parties) {
    TrainingCall call(options);
    call.schema().target.domain = Domain::Range("y", 0, 1);
    call.Feature("a", ValueKind::kFloat8, Domain::Range("a", 0, 1));
    call.Feature("b", ValueKind::kFloat8, Domain::Range("b", 0, 1));
    call.schema().parties = parties;
    return call;
}

// The rows of one of `parties`; the first of several has none.
template <class Core>
void Fill(Core& core, size_t party, size_t parties) {
    const size_t holders = parties > 1 ? parties - 1 : 1;
    for (size_t i = 0; i < kRows; ++i) {
        const double a = static_cast<double>(i * 37 % 101) / 101, b = static_cast<double>(i % 7) / 7;
        if (parties == 1 || i % holders + 1 == party)
            AppendRow(core, a + b > 1 ? 1 : 0, {a, b});
    }
    NoInterrupt interrupt;
    core.FinishRows(interrupt);
    core.Calibrate({});
}

std::string Printed(const std::string& result) {
    PartyKey printed;
    printed.bytes = ResultHash(result);
    return printed.Text();
}

// The hash of what all of them end with, which must be the same; or an error.
template <class Core>
std::string Together(const TestFederation& federation, std::vector<std::unique_ptr<Core>>& cores,
                     MemoryExchange& exchange) {
    std::vector<Session> sessions = federation.Join();
    std::vector<std::string> results(cores.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < cores.size(); ++i)
        threads.emplace_back([&, i] {
            SessionStreams streams(FixedHash(77), FixedHash(static_cast<unsigned char>(i)));  // one structure
            Transcript transcript(sessions[i].session);
            Masks masks(std::move(sessions[i].keys));
            ZeroNoise none;
            SharedNoise noise(federation.numbers(), transcript, masks, exchange.seat(i), none);
            NoInterrupt interrupt;
            NoProgress progress;
            try {
                results[i] = Printed(WorkOf(*cores[i])(Cashier::Receipt(cores[i]->plan_bytes()), streams,
                                                       noise, interrupt, progress));
            } catch (const Error& error) {
                results[i] = "error: " + error.message();
                exchange.Leave();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const std::string& result : results)
        EXPECT_EQ(result, results[0]);
    return results[0];
}

// A model to go on from, and to evaluate.
Model FirstModel(const char* options) {
    TrainingCall call = Call(options, {});
    call.schema().parties.reset();
    auto core = call.Begin();
    core->Calibrate({});
    for (int i = 0; i < kRows; ++i)
        AppendRow(*core, i % 2, {i * 37 % 101 / 101.0, i % 7 / 7.0});
    ZeroNoise none;
    return TrainWithoutNoise(*core, none);
}

const Json kNone("{}");

EvaluationSchema Evaluated(const std::string& content, const Json& trained, const NoiseParties& parties) {
    EvaluationSchema schema;
    schema.models.push_back({"m", content, trained.get()});
    schema.options = kNone.get();
    schema.privacy.given = true;
    schema.privacy.epsilon = 1;
    schema.target.name = "y";
    schema.target.kind = ValueKind::kFloat8;
    schema.relation = "t";
    schema.memory = size_t{1} << 30;
    schema.parties = parties;
    return schema;
}

TEST(Together, AnUpdateIsThatOfOneServer) {
    constexpr char kTrained[] = R"({"epsilon": 1, "task": "regression"})";
    const Json trained(kTrained);
    const Model first = FirstModel(kTrained);
    std::vector<std::string> results;
    for (const size_t parties : {1, 3, 7}) {
        const TestFederation federation(parties);
        std::vector<std::unique_ptr<TrainingCore>> cores;
        TrainingCall call = Call(R"({"epsilon": 1})", federation.numbers());
        ContinuedModel continued;
        continued.model = &first;
        continued.name = "m";
        continued.version = 1;
        continued.method = "auto";
        continued.options = trained.get();
        call.schema().continued = continued;
        for (size_t i = 0; i < parties; ++i) {
            cores.push_back(call.Begin());
            Fill(*cores[i], i, parties);
        }
        MemoryExchange exchange(parties);
        results.push_back(Together(federation, cores, exchange));
        EXPECT_GT(exchange.totals.size(), 3u);
        EXPECT_EQ(results.back(), results[0]) << parties;
        EXPECT_NE(results.back(), Printed(first.Serialize()));
    }
    EXPECT_NE(results[0].substr(0, 6), "error:") << results[0];
}

TEST(Together, AnEvaluationIsThatOfOneServer) {
    for (const bool classifier : {false, true}) {
        const char* const options = classifier ? R"({"epsilon": 1, "task": "classification", "positive": 1})"
                                               : R"({"epsilon": 1, "task": "regression"})";
        const Json trained(options);
        const std::string content = FirstModel(options).Serialize();
        std::vector<std::string> results;
        for (const size_t parties : {1, 3, 7}) {
            const TestFederation federation(parties);
            const EvaluationSchema schema = Evaluated(content, trained, federation.numbers());
            std::vector<std::unique_ptr<EvaluationCore>> cores;
            for (size_t i = 0; i < parties; ++i) {
                cores.push_back(std::make_unique<EvaluationCore>(schema));
                Fill(*cores[i], i, parties);
            }
            MemoryExchange exchange(parties);
            results.push_back(Together(federation, cores, exchange));
            EXPECT_EQ(exchange.totals.size(), 1u);
            EXPECT_EQ(results.back(), results[0]) << parties;
        }
        EXPECT_NE(results[0].substr(0, 6), "error:") << results[0];
    }
}

// What figures say of their errors is of the noise that all draw together.
TEST(Together, AnEvaluationKnowsTheTotalNoise) {
    const Json trained(R"({"epsilon": 1, "task": "regression"})");
    const std::string content = FirstModel(R"({"epsilon": 1, "task": "regression"})").Serialize();
    const auto multiplier = [&](uint32_t colluding) {
        EvaluationCore core(Evaluated(content, trained, NoiseParties{3, colluding, 1}));
        core.Calibrate({});
        return core.noise_multiplier();
    };
    EXPECT_NEAR(multiplier(2) / multiplier(0), std::sqrt(3), 1e-12);
    EXPECT_NEAR(multiplier(1) / multiplier(0), std::sqrt(1.5), 1e-12);
}

TEST(Together, AChoiceIsRefused) {
    const Json trained(R"({"epsilon": 1, "task": "regression"})");
    const std::string content = FirstModel(R"({"epsilon": 1, "task": "regression"})").Serialize();
    EvaluationSchema schema = Evaluated(content, trained, NoiseParties{3, 1, 1});
    schema.models.push_back({"n", content, trained.get()});
    schema.choice = true;
    EvaluationCore core(schema);
    EXPECT_EQ(CodeOf([&] { core.Calibrate({}); }), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace dpboost
