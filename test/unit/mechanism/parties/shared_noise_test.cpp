// Trainings that parties do together, over an exchange in memory.
#include "mechanism/parties/shared_noise.h"

#include <gtest/gtest.h>

#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "support/parties.h"
#include "support/thrown.h"
#include "unit/learner/golden_cases.h"

namespace dpboost {
namespace {

bool Federates(const MethodInfo& method) {
    return !method.pure && std::string(method.name).substr(0, 6) != "dp_xgb";
}

DataShape Shape(Task task, bool counts) {
    DataShape shape;
    shape.task = task;
    shape.counts = counts;
    shape.rows = 700;
    shape.wide = 1;
    shape.key = 9;
    return shape;
}

// Rows go round the parties, and party `empty`, if there is one, has none.
std::vector<Dataset> Spread(const Dataset& all, size_t parties, size_t empty) {
    std::vector<Dataset> rows;
    for (size_t i = 0; i < parties; ++i)
        rows.push_back(ChosenRows(all, false, [&](size_t row) {
            size_t at = row % parties;
            if (at == empty)
                at = (at + 1) % parties;
            return at == i;
        }));
    return rows;
}

// What one server with all rows builds, with the structure that the session's parties draw.
std::string Central(const TestFederation& federation, const MethodInfo& method, const Dataset& all,
                    double epsilon, const std::vector<GivenOption>& given) {
    const std::vector<Session> sessions = federation.Join(1);
    ChaChaSource structure_source(Hash(sessions[0].structure)), coin_source(FixedHash(200));
    Random structure(structure_source), coins(coin_source);
    ZeroNoise noise;
    return ShortHash(
        TrainAsServer(method, all, epsilon, 1e-6, given, federation.numbers(), structure, coins, noise));
}

// Without noise, parties build the very model of one server with all their rows: every row reaches a model through sums
// alone. Of methods that sample rows, each party draws its own coins, so that only the parties' models are compared.
TEST(SharedNoise, PartiesBuildTheModelOfAllTheirRows) {
    int exact = 0;
    for (const GoldenCase& golden : GoldenCases()) {
        const MethodInfo& method = *AllMethods().Find(golden.method);
        if (golden.units || !Federates(method) || golden.epsilon > 1)
            continue;
        const DataShape shape = Shape(golden.task, golden.variant == "poisson");
        const Dataset all =
            golden.variant == "weights" ? WithWeights(RandomDataset(shape)) : RandomDataset(shape);
        const std::vector<GivenOption> given = GoldenOptions(golden, method);
        for (const size_t parties : {1, 3, 7}) {
            const TestFederation federation(parties);
            const std::string central = Central(federation, method, all, golden.epsilon, given);
            for (const size_t empty : {parties, parties - 1}) {
                if (empty == 0)
                    continue;
                MemoryExchange exchange(parties + 1);
                TogetherOptions options;
                options.noise = false;
                const std::vector<std::string> models =
                    TrainTogether(federation, method, Spread(all, parties, empty), golden.epsilon, 1e-6,
                                  given, exchange, options);
                for (const std::string& model : models)
                    EXPECT_EQ(model, models[0]) << golden.Name() << ", " << parties << " parties";
                EXPECT_NE(models[0].substr(0, 6), "error:") << models[0];
                const bool samples =
                    golden.method == "sbdt" || golden.variant == "subsample" || golden.method == "dp_rf";
                if (samples)
                    continue;
                EXPECT_EQ(models[0], central) << golden.Name() << ", " << parties << " parties";
                ++exact;
            }
        }
    }
    EXPECT_GT(exact, 30);
}

// With noise, and with the parties' numbers in it: still one model.
TEST(SharedNoise, PartiesBuildOneModelWithNoise) {
    const Dataset all = RandomDataset(Shape(Task::kBinary, false));
    for (const auto& [t, m] : {std::pair<uint32_t, uint32_t>{0, 1}, {1, 1}, {2, 3}}) {
        const TestFederation federation(3, t, m);
        MemoryExchange exchange(4), again(4);
        TogetherOptions options, other;
        other.seed = 2;
        const std::vector<std::string> models =
            TrainTogether(federation, kAuto, Spread(all, 3, 3), 1, 1e-6, {}, exchange, options);
        for (const std::string& model : models)
            EXPECT_EQ(model, models[0]);
        EXPECT_NE(models[0].substr(0, 6), "error:") << models[0];
        EXPECT_NE(models[0],
                  TrainTogether(federation, kAuto, Spread(all, 3, 3), 1, 1e-6, {}, again, other)[0]);
    }
}

// Every draw is an exchange: where rounds cost, a training has few of them.
TEST(SharedNoise, TrainingsHaveFewExchanges) {
    const TestFederation federation(3, 1);
    const auto exchanges = [&](const MethodInfo& method, const Dataset& all, double epsilon,
                               const std::vector<GivenOption>& given) {
        MemoryExchange exchange(4);
        for (const std::string& model :
             TrainTogether(federation, method, Spread(all, 3, 3), epsilon, 1e-6, given, exchange))
            EXPECT_NE(model.substr(0, 6), "error:") << model;
        return exchange.totals.size();
    };
    for (const bool product : {false, true}) {
        DataShape shape = Shape(Task::kBinary, false);
        shape.rows = 5000;
        shape.numeric = 10;
        shape.product = product;
        const size_t count = exchanges(kAuto, RandomDataset(shape), 8, {});
        EXPECT_GT(count, product ? 30u : 20u);  // there are interactions
        EXPECT_LE(count, 40u) << product;
    }
    const Dataset all = RandomDataset(Shape(Task::kBinary, false));
    EXPECT_EQ(exchanges(kSbdt, all, 1, {Given("trees", 100), Given("batch", 10)}), 11u);
    EXPECT_EQ(exchanges(*AllMethods().Find("dp_rf"), all, 1, {Given("trees", 30)}), 1u);
    EXPECT_EQ(exchanges(*AllMethods().Find("dp_tr"), all, 1, {Given("trees", 30), Given("batch", 7)}), 5u);
    EXPECT_EQ(exchanges(kSbdt, all, 1, {Given("trees", 95), Given("batch", 10), Given("extra_rounds", 7)}),
              12u);
}

TEST(SharedNoise, OtherNoiseIsRefused) {
    const Dataset all = RandomDataset(Shape(Task::kBinary, false));
    const TestFederation federation(2);
    for (const char* name : {"dp_xgb", "dp_xgb_cyclic", "pure_trees"}) {
        const MethodInfo& method = *AllMethods().Find(name);
        MemoryExchange exchange(3);
        const std::vector<std::string> results =
            TrainTogether(federation, method, Spread(all, 2, 2), 1, method.pure ? 0 : 1e-6, {}, exchange);
        for (const std::string& result : results)
            EXPECT_EQ(result, "error: only Gaussian noise can be shared by several servers") << name;
    }
}

// One party is told a total that is off by one: from then on, masks do not cancel, and what the coordinator adds up are 64
// random bits, in every sum.
TEST(SharedNoise, ALieAboutATotalEndsInNoise) {
    const Dataset all = RandomDataset(Shape(Task::kBinary, false));
    const TestFederation federation(3, 1);
    MemoryExchange exchange(3);
    exchange.tell = [](size_t event, size_t seat, std::vector<uint64_t>* total) {
        if (event == 2 && seat == 1)
            (*total)[0] += 1;
    };
    TogetherOptions options;
    options.coordinator = false;
    TrainTogether(federation, *AllMethods().Find("adassp"), Spread(all, 3, 3), 1, 1e-6, {Given("rounds", 20)},
                  exchange, options);
    ASSERT_GT(exchange.totals.size(), 4u);
    size_t large = 0, sums = 0;
    for (size_t event = 0; event < exchange.totals.size(); ++event)
        for (const uint64_t sum : exchange.totals[event]) {
            const bool is_large = std::abs(static_cast<double>(static_cast<int64_t>(sum))) > 0x1.0p55;
            EXPECT_FALSE(is_large && event <= 2);
            if (event > 2) {
                large += is_large ? 1 : 0;
                ++sums;
            }
        }
    EXPECT_GT(sums, 200u);
    EXPECT_GT(large, sums * 98 / 100);  // 255 of 256 are
}

// Whatever the totals are, a party neither crashes nor goes on for ever: all its answers are charged for.
TEST(SharedNoise, AnyTotalsAreSurvived) {
    const Dataset all = RandomDataset(Shape(Task::kBinary, false));
    const TestFederation federation(2, 1);
    for (const GoldenCase& golden : GoldenCases()) {
        const MethodInfo& method = *AllMethods().Find(golden.method);
        if (golden.units || !Federates(method) || golden.task != Task::kBinary || golden.epsilon > 1)
            continue;
        for (unsigned char kind = 0; kind < 4; ++kind) {
            MemoryExchange exchange(2);
            ChaChaSource source = TestSource(kind);
            Random random(source);
            exchange.tell = [&](size_t event, size_t, std::vector<uint64_t>* total) {
                for (uint64_t& sum : *total)  // the same for both: they answer the same questions
                    sum = kind == 0   ? uint64_t{1} << 63
                          : kind == 1 ? (uint64_t{1} << 63) - 1
                          : kind == 2 ? 0
                                      : 0x9e3779b97f4a7c15 * (event + 1) *
                                            static_cast<uint64_t>(&sum - total->data() + 1);
            };
            TogetherOptions options;
            options.coordinator = false;
            const std::vector<std::string> results =
                TrainTogether(federation, method, Spread(all, 2, 2), golden.epsilon, 1e-6,
                              GoldenOptions(golden, method), exchange, options);
            EXPECT_EQ(results[0], results[1]) << golden.Name() << " " << int{kind};
        }
    }
}

// Servers that are asked different questions do not add up.
TEST(Transcript, WitnessCoversHistoryAndShape) {
    const Transcript first(FixedHash(1)), second(FixedHash(2));
    const std::vector<SumShape> shape = {{5, 3}};
    EXPECT_NE(first.Witness(shape), second.Witness(shape));
    EXPECT_NE(first.Witness(shape), first.Witness({{5, 4}}));
    EXPECT_NE(first.Witness(shape), first.Witness({{6, 3}}));
    EXPECT_NE(first.Witness(shape), first.Witness({{5, 3}, {5, 3}}));
    Transcript a(FixedHash(1)), b(FixedHash(1));
    a.Follow(a.Witness(shape), {1, 2, 3});
    b.Follow(b.Witness(shape), {1, 2, 4});
    EXPECT_NE(a.Witness(shape), b.Witness(shape));
    EXPECT_EQ(a.events(), 1u);
    EXPECT_EQ(SumsOf(SumBytes({1, ~uint64_t{0}}), 2), (std::vector<uint64_t>{1, ~uint64_t{0}}));
    EXPECT_EQ(Thrown([] { SumsOf("1234567", 1); }), "the total has another number of sums |  | ");
}

}  // namespace
}  // namespace dpboost
