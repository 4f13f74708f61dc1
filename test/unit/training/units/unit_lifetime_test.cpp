// What a person really loses over a lifetime, whatever is released: random sequences of trainings, updates and evaluations,
// of methods that are charged whole and by rounds, on tables with and without the person, along the same path. A Gaussian
// draw without sampling whose sums differ by d loses alpha d^2 / (2 sigma^2) at the order alpha, exactly; so the sum of
// losses is known, and must stay within the limit, while the account is never below it. Nothing here knows how a charge
// was computed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/audit/transcript.h"
#include "support/units/unit_history.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
constexpr int64_t kPerson = 1000;
constexpr int kReleases = 14;

constexpr const char* kMethods[] = {
    R"("method": "auto", )",
    R"("method": "sbdt", "trees": 6, "depth": 1, "subsample": 1, )",
    R"("method": "sbdt", "trees": 5, "depth": 2, "subsample": 1, "extra_rounds": 9, "gradient_clip": 0.5, )",
    R"("method": "sbdt", "trees": 4, "depth": 1, "subsample": 1, "initial_share": 0, "hessian_share": 0.02, )",
    R"("method": "adassp", "rounds": 3, )",
    R"("active_share": 0.1, )",
};

// The same release in a world: which one follows from the script alone.
struct Script {
    int kind;
    const char* method;
    double epsilon;
    unsigned char seed;
    std::vector<PersonRow> rows;  // without the person
    std::vector<PersonRow> own;

    void Release(UnitHistory* world, bool with_person, NoiseSource& noise) const {
        std::vector<PersonRow> all = rows;
        if (with_person)
            all.insert(all.end(), own.begin(), own.end());
        if (kind == 0 || world->model.empty())
            world->Train("{\"delta\": 1e-6, " + std::string(method) +
                             "\"target_range\": [0, 1], \"epsilon\": " + std::to_string(epsilon) + "}",
                         all, seed, noise);
        else if (kind == 1)
            world->Update(epsilon, all, seed, noise);
        else
            world->Evaluate(epsilon, all, noise);
    }
};

double Uniform(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

Script Next(std::mt19937_64& random, double limit, bool can_update) {
    Script script;
    script.kind = static_cast<int>(random() % 3);
    if (script.kind == 1 && !can_update)
        script.kind = 0;
    script.method = kMethods[random() % std::size(kMethods)];
    script.epsilon = limit * (0.15 + 0.8 * Uniform(random));
    script.seed = static_cast<unsigned char>(random());
    for (int64_t unit = 0; unit < 25; unit++)
        if (random() % 4 != 0)
            script.rows.push_back({unit, Uniform(random), Uniform(random), Uniform(random)});
    for (size_t own = random() % 4; own > 0; own--)  // none: the person is not in this one
        script.own.push_back({kPerson, Uniform(random) < 0.5 ? 0.0 : 1.0, Uniform(random),
                              random() % 3 == 0 ? Uniform(random) : 1.0});
    return script;
}

// Of all draws together.
double LossOf(const std::vector<SeenDraw>& draws, const Replay& other, uint32_t order) {
    double loss = 0;
    for (size_t i = 0; i < draws.size(); i++)
        loss += order / 2.0 * Distance(draws[i], draws[i].raw, other.raw[i]);
    return loss;
}

TEST(UnitLifetime, NobodyLosesMoreThanTheLimitWhateverIsReleased) {
    std::mt19937_64 random(5);
    double most_part = 0;
    int left_out = 0;
    for (int life = 0; life < 40; life++) {
        const double epsilon = 0.3 + 4 * Uniform(random);
        UnitHistory with(epsilon, kDelta), without(epsilon, kDelta);
        std::vector<UnitKey> others = UnitKeys(0, 25);
        double lost = 0;
        bool can_update = false;
        for (int release = 0; release < kReleases; release++) {
            const Script script = Next(random, epsilon, can_update);
            if (script.kind == 0 || with.model.empty())
                can_update = std::string(script.method).find("adassp") == std::string::npos;
            ChaChaSource source(ChaChaSource::Seed{script.seed, 7});
            Random noise(source);
            Tape tape(noise);
            script.Release(&with, true, tape);
            Replay replay(tape.draws);
            script.Release(&without, false, replay);
            ASSERT_TRUE(replay.SawAll());
            ASSERT_EQ(with.answers, without.answers) << "the paths are one";
            const double loss = LossOf(tape.draws, replay, with.limit.order());
            left_out += !script.own.empty() && loss == 0 ? 1 : 0;
            lost += loss;
            const uint32_t spent = with.shelf.Spent({UnitKeyOf(kPerson)})[0];
            ASSERT_LE(spent, kUnitWhole);
            ASSERT_LE(lost, std::ldexp(spent, -31) * with.limit.rho() * (1 + 1e-9))
                << "life " << life << ", release " << release;
            ASSERT_EQ(with.shelf.Spent(others), without.shelf.Spent(others)) << "nobody decides about others";
        }
        most_part = std::max(most_part, lost / with.limit.rho());
    }
    EXPECT_GT(most_part, 0.8) << "somebody lost a good part";
    EXPECT_GT(left_out, 50) << "and some could not pay any more";
}

}  // namespace
}  // namespace dpboost
