// What parties that train together send and release: masks look uniform, the total has the noise that learners are told,
// and an adversary who knows one party's noise (t = 1) tells neighbours apart no better than the plan allows. Fixed seeds;
// false-alarm rate of each test below 1e-9.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "mechanism/gaussian.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/last_row.h"
#include "support/draw_key.h"
#include "support/parties.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

// Keeps what a server sends, and has it end there.
class Intercept final : public SumExchange {
  public:
    void Exchange(const Hash&, std::vector<uint64_t>* sums) override {
        sent = *sums;
        throw Error(ErrorCode::kCanceled, "intercepted");
    }
    std::vector<uint64_t> sent;
};

// A plan of one Gaussian draw with this sensitivity.
Plan OneDraw(double epsilon, double sensitivity, size_t sums) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = 1e-6;
    MechanismRequest draw;
    draw.name = "draw";
    draw.share = 1;
    draw.dimensions = {{sensitivity, 1, sums}};
    request.mechanisms = {draw};
    return Plan::Calibrate(request);
}

// What a party sends for these sums as the first event of a session.
std::vector<uint64_t> Sent(const TestFederation& federation, Session&& session,
                           const std::vector<int64_t>& raw, double sensitivity, NoiseSource& own) {
    Intercept exchange;
    Transcript transcript(session.session);
    Masks masks(std::move(session.keys));
    SharedNoise noise(federation.numbers(), transcript, masks, exchange, own);
    Plan plan = OneDraw(1, sensitivity, raw.size());
    Releaser releaser(plan, noise);
    EXPECT_THROW(releaser.Release(0, RawSums(raw, sensitivity)), Error);
    return exchange.sent;
}

bool LooksUniform(const std::vector<uint64_t>& words) {
    std::vector<uint64_t> counts(256, 0);
    for (const uint64_t word : words)
        for (int byte = 0; byte < 8; ++byte)
            ++counts[word >> (8 * byte) & 255];
    return ChiSquare(counts, std::vector<double>(256, 1.0 / 256)).Passes();
}

TEST(Parties, AllButTheWholeSumIsUniform) {
    constexpr size_t kSums = 20000;
    const TestFederation federation(3, 1);
    std::vector<Session> sessions = federation.Join();
    const std::vector<int64_t> raw(kSums, 12345);
    ZeroNoise none;
    std::vector<std::vector<uint64_t>> sent;
    for (size_t i = 0; i < 3; ++i)
        sent.push_back(Sent(federation, std::move(sessions[i]), raw, 65536, none));
    std::vector<uint64_t> total(kSums, 0);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(LooksUniform(sent[i])) << i;
        std::vector<uint64_t> two(kSums, 0);
        for (size_t s = 0; s < kSums; ++s) {
            total[s] += sent[i][s];
            two[s] = sent[i][s] + sent[(i + 1) % 3][s];
        }
        EXPECT_TRUE(LooksUniform(two)) << i;
    }
    EXPECT_EQ(total, std::vector<uint64_t>(kSums, 3 * 12345));
    EXPECT_FALSE(LooksUniform(total));
    // The same party in another session, or after another history, sends something else.
    std::vector<Session> others = federation.Join(4);
    const std::vector<uint64_t> other = Sent(federation, std::move(others[0]), raw, 65536, none);
    std::vector<uint64_t> difference(kSums);
    for (size_t s = 0; s < kSums; ++s)
        difference[s] = other[s] - sent[0][s];
    EXPECT_TRUE(LooksUniform(difference));
}

// Sums of all k parties, from what they send; each with a source of its own.
std::vector<double> Totals(const TestFederation& federation, size_t sums, double sensitivity) {
    const NoiseShare share = ShareOf(
        GaussianScale::FromSteps(OneDraw(1, sensitivity, sums).ScaleInSteps(0, 0)), federation.numbers());
    std::vector<Session> sessions = federation.Join();
    std::vector<uint64_t> total(sums, 0);
    for (size_t i = 0; i < sessions.size(); ++i) {
        ChaChaSource source = TestSource(static_cast<unsigned char>(40 + i));
        Random random(source);
        ExactNoise own(random);
        const std::vector<uint64_t> sent =
            Sent(federation, std::move(sessions[i]), std::vector<int64_t>(sums, 7), sensitivity, own);
        for (size_t s = 0; s < sums; ++s)
            total[s] += sent[s];
    }
    std::vector<double> values;
    for (const uint64_t sum : total)
        values.push_back(static_cast<double>(FromFiner(sum, share.finer)) -
                         7.0 * static_cast<double>(sessions.size()));
    return values;
}

// The variance of the total is what SetNoiseFactor tells learners: 40,000 draws, relative error of the mean square
// sqrt(2/40000) = 0.7 %, six times that allowed; half the noise would be 75 % off.
TEST(Parties, TotalNoiseIsWhatLearnersAreTold) {
    constexpr size_t kSums = 40000;
    for (const auto& [k, t, m] :
         {std::array<uint32_t, 3>{1, 0, 1}, {2, 1, 1}, {3, 1, 1}, {3, 0, 1}, {5, 4, 2}})
        for (const double sensitivity : {1.0, 65536.0}) {  // the first one needs a finer lattice
            const TestFederation federation(k, t, m);
            Plan plan = OneDraw(1, sensitivity, kSums);
            plan.SetNoiseFactor(federation.numbers().Factor());
            const double told = plan.ScaleInSteps(0, 0);
            double squares = 0;
            for (const double value : Totals(federation, kSums, sensitivity))
                squares += value * value / kSums;
            if (sensitivity == 1)
                squares -= 1.0 / 12;  // of rounding back
            EXPECT_NEAR(squares / (told * told), 1, 6.11 * std::sqrt(2.0 / kSums) + 0.001)
                << k << " parties, t " << t << ", m " << m << ", sensitivity " << sensitivity;
        }
}

// ---- whole trainings ----

constexpr int kTrainings = 1500;
constexpr double kEpsilon = 4;
constexpr double kDelta = 1e-6;

// Runs a learner along totals that are known, and keeps the sums that it would have sent without noise and masks.
class Along final : public SumExchange {
  public:
    explicit Along(const std::vector<std::vector<uint64_t>>& totals) : totals_(totals) {}
    void Exchange(const Hash&, std::vector<uint64_t>* sums) override {
        raw.push_back(*sums);
        *sums = totals_.at(raw.size() - 1);
    }
    std::vector<std::vector<uint64_t>> raw;

  private:
    const std::vector<std::vector<uint64_t>>& totals_;
};

// The shares of two parties, `factor` times as large as they should be; notes how large they should have been.
class TwoShares final : public NoiseSource {
  public:
    TwoShares(Random& random, double factor) : random_(random), factor_(factor) {}
    std::vector<double> scales;

  private:
    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override {
        scales.insert(scales.end(), n, sigma.steps());
        const GaussianScale scale = GaussianScale::FromSteps(sigma.steps() * factor_);
        for (int party = 0; party < 2; ++party)
            GaussianSampler<>(TestDrawKey::Make(), random_, scale).AddTo(values, n);
    }
    void AddLaplace(LaplaceScale, int64_t*, std::size_t) override { FAIL(); }
    std::size_t Select(SelectionScale, const int64_t*, std::size_t) override { return 0; }

    Random& random_;
    double factor_;
};

void RecordAdvantage(const char* method, double allowed, double honest, double half) {
    std::printf("%s: advantage %.3f, allowed %.3f; with half the noise %.3f\n", method, honest, allowed,
                half);
}

std::vector<std::vector<uint64_t>> RawAlong(const TestFederation& federation, const MethodInfo& method,
                                            const Dataset& rows, const std::vector<GivenOption>& given,
                                            const Session& session,
                                            const std::vector<std::vector<uint64_t>>& totals) {
    ChaChaSource structure_source(Hash(session.structure)), coin_source = TestSource(3);
    Random structure(structure_source), coins(coin_source);
    Transcript transcript(session.session);
    Masks masks({});
    Along exchange(totals);
    ZeroNoise zero;
    SharedNoise noise(federation.numbers(), transcript, masks, exchange, zero);
    TrainAsServer(method, rows, kEpsilon, kDelta, given, federation.numbers(), structure, coins, noise);
    return exchange.raw;
}

// Of a training in which every total is what this one server sends.
class Alone final : public SumExchange {
  public:
    void Exchange(const Hash&, std::vector<uint64_t>* sums) override { totals.push_back(*sums); }
    std::vector<std::vector<uint64_t>> totals;
};

// How often the transcript of a training looks more like `first`'s rows at the first party than like `second`'s. Three
// parties, t = 1: the third has no rows and leaves out its noise, so that the total is that of the two honest ones. Sums over
// the rows of both are the sums of both, so one learner plays both, with two shares of noise.
double LooksLikeFirst(const MethodInfo& method, const std::vector<GivenOption>& given, const Dataset& first,
                      const Dataset& second, bool train_on_first, double noise_factor) {
    const TestFederation federation(3, 1);
    ChaChaSource source = TestSource(train_on_first ? 71 : 72);
    Random random(source);
    int hits = 0;
    for (int training = 0; training < kTrainings; ++training) {
        Session session;
        session.session =
            FixedHash(static_cast<unsigned char>(training), static_cast<unsigned char>(training >> 8));
        session.structure = HashOf("structure", View(session.session));
        ChaChaSource structure_source{Hash(session.structure)}, coin_source = TestSource(3);
        Random structure(structure_source), coins(coin_source);
        Transcript transcript(session.session);
        Masks masks({});
        Alone exchange;
        TwoShares own(random, noise_factor);
        SharedNoise noise(federation.numbers(), transcript, masks, exchange, own);
        TrainAsServer(method, train_on_first ? first : second, kEpsilon, kDelta, given, federation.numbers(),
                      structure, coins, noise);
        const auto a = RawAlong(federation, method, first, given, session, exchange.totals);
        const auto b = RawAlong(federation, method, second, given, session, exchange.totals);
        double log_ratio = 0;
        size_t next = 0;
        for (size_t event = 0; event < exchange.totals.size(); ++event)
            for (size_t i = 0; i < exchange.totals[event].size(); ++i) {
                const uint64_t honest = exchange.totals[event][i];
                const auto from_a = static_cast<double>(static_cast<int64_t>(honest - a[event][i]));
                const auto from_b = static_cast<double>(static_cast<int64_t>(honest - b[event][i]));
                const double s = own.scales[next++];
                log_ratio += (from_b * from_b - from_a * from_a) / (4 * s * s);
            }
        hits += log_ratio > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kTrainings;
}

// P(looks like first | first) - P(looks like first | second), which mu-GDP bounds by 2 Phi(mu / 2) - 1. Hoeffding: off by more
// than sqrt(20.8 / 1500) = 0.118 with probability below 1e-9.
double Advantage(const MethodInfo& method, const std::vector<GivenOption>& given, double noise_factor) {
    const Dataset larger = WithLastRow(SmallShape(), 1.0F), smaller = WithLastRow(SmallShape(), {});
    return LooksLikeFirst(method, given, larger, smaller, true, noise_factor) -
           LooksLikeFirst(method, given, larger, smaller, false, noise_factor);
}

void Falsify(const MethodInfo& method, const std::vector<GivenOption>& given) {
    const double mu = GdpMu(kEpsilon, kDelta);
    const double allowed = 1 - 2 * NormalUpperTail(mu / 2);
    const double honest = Advantage(method, given, 1), half = Advantage(method, given, 0.5);
    RecordAdvantage(method.name, allowed, honest, half);
    EXPECT_LE(honest, allowed + 0.118);
    EXPECT_GT(half, allowed + 0.118) << "half the noise must be noticed";
}

TEST(Parties, AutoIsNotFalsifiedWithOnePartysNoiseKnown) {
    Falsify(kAuto, {});
}

TEST(Parties, SbdtIsNotFalsifiedWithOnePartysNoiseKnown) {
    Falsify(kSbdt, {Given("trees", 10), Given("subsample", 1), Given("depth", 2)});
}

}  // namespace
}  // namespace dpboost
