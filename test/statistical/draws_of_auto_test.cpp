// Every single draw of `auto`, not only all of them together: what one unit changes its sums by is within the part of the pool
// that the draw took, and close enough to it that half the noise would be noticed in that very draw. A training's transcript
// is replayed on the table with one more unit, for many units; nothing here is left to chance but the tables themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "learner/methods.h"
#include "privacy/pool.h"
#include "support/audit/audit.h"
#include "support/continue_with.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
constexpr int kTranscripts = 12;
constexpr int kUnits = 16;  // for each transcript
// Noise that is a twentieth too small, or a bound, uses more than all of it.
constexpr double kLeastUse = 0.95;

// Where a draw stands in a training: histograms, start and linear stage, residual stage, interactions, calibration, what
// follows; and how many sums it has.
using DrawPlace = std::pair<std::size_t, std::size_t>;

struct DrawCase {
    const char* name;
    Task task;
    std::set<DrawPlace> places;  // some that must be seen
    std::vector<GivenOption> options = {};
    std::optional<TargetSpec> target = {};  // the audits' unless told
    bool weighted = false;
    bool update = false;
    bool servers = false;  // several of them train together
    double epsilon = 1;
    double rows = 20000;  // as if there were so many: all stages run
    int columns = 3;      // many of them: several draws of an epoch, with leaves and weights that differ
};

// Of three features: three pairs with four coordinates each, and a triple.
std::vector<DrawCase> DrawCases() {
    const DrawPlace histogram{0, 18}, base{1, 1}, pairs_together{1, 12}, target{1, 254}, query{2, 13},
        smooth{3, 13}, pair_counts{3, 192}, trees{3, 64}, last{4, 1}, by_score{4, 52};
    const std::set<DrawPlace> numbers = {histogram, target, {1, 7}, query, pair_counts, smooth, trees};
    const auto with = [&](std::set<DrawPlace> more) {
        more.insert(numbers.begin(), numbers.end());
        return more;
    };
    const std::set<DrawPlace> binary = {histogram,   base,   {1, 8}, pairs_together, query,
                                        pair_counts, smooth, trees,  last,           by_score};
    return {
        {"classification", Task::kBinary, binary},
        {"regression", Task::kRegression, with({base, last})},
        {"classes", Task::kClasses, {histogram, {1, 3}, {1, 24}, {2, 39}, pair_counts, {3, 39}, {4, 3}}},
        {"weights", Task::kBinary, binary, {}, {}, true},
        {"poisson",
         Task::kRegression,
         {histogram, base, query, pair_counts, smooth, trees, last},
         {Given("objective", "poisson")},
         TargetSpec::Regression(0, 20)},
        {"huber", Task::kRegression, with({{1, 32}}), {Given("objective", "huber")}},
        {"quantile",
         Task::kRegression,
         with({{1, 32}, {4, 32}}),
         {Given("objective", "quantile"), Given("quantile", 0.9)}},
        {"log target", Task::kRegression, with({base, last}), {}, TargetSpec::Logarithmic(0, 1e4)},
        {"intervals", Task::kRegression, with({base, last, {5, 64}}), {GivenTruth("intervals", true)}},
        {"a coarser lattice",
         Task::kBinary,
         {histogram, base, {1, 8}, pairs_together, query, by_score},
         {},
         {},
         false,
         false,
         false,
         1e-4,
         1e9},
        {"a coarser lattice, numbers",
         Task::kRegression,
         {histogram, base, target, {1, 7}, query, last},
         {},
         {},
         false,
         false,
         false,
         1e-4,
         1e9},
        {"many columns",
         Task::kBinary,
         {{0, 232}, base, {1, 150}, {1, 1740}, {2, 1740}, {3, 16}, {3, 48}, {3, 768}, last, by_score},
         {},
         {},
         false,
         false,
         false,
         1,
         1e5,
         30},
        {"servers",
         Task::kBinary,
         {histogram, base, {1, 8}, query, pair_counts, smooth, last, by_score},
         {},
         {},
         false,
         false,
         true},
        {"servers, numbers",
         Task::kRegression,
         {histogram, base, target, {1, 7}, query, pair_counts, smooth, last},
         {},
         {},
         false,
         false,
         true},
        {"update", Task::kBinary, {{0, 1}, base, {1, 52}, query, last}, {}, {}, false, true},
        {"update of numbers", Task::kRegression, {{0, 1}, base, target, query, last}, {}, {}, false, true}};
}

std::vector<FeatureSpec> Features(const DrawCase& one) {
    std::vector<FeatureSpec> features = {AuditColumn("a", 4), FeatureSpec::Levels("b", {"x", "y", "z"}),
                                         AuditColumn("c", 8)};
    for (int k = 3; k < one.columns; k++) {
        const std::string name = "more " + std::to_string(k);
        std::vector<std::string> levels;
        for (int level = 0; level < 24; level++)
            levels.push_back("level " + std::to_string(level));
        features.push_back(k % 6 == 0 ? FeatureSpec::Levels(name, levels)
                                      : AuditColumn(name.c_str(), 1U << k % 4));
    }
    return features;
}

AuditRow RandomRow(Random& random, const DrawCase& one, int64_t unit) {
    AuditRow row{{}, 0, unit};
    if (one.task == Task::kRegression)
        row.label = static_cast<float>(random.Below(3)) - 1;
    else
        row.label = static_cast<float>(random.Below(one.task == Task::kClasses ? 3 : 2));
    if (one.weighted && random.Below(4) == 0)
        row.weight = static_cast<uint16_t>(random.Below(kFullWeight + 1));
    for (const FeatureSpec& feature : Features(one))
        row.codes.push_back(static_cast<uint16_t>(random.Below(feature.cells())));
    return row;
}

// Notes how many draws there were at the end of each stage.
class StageEnds final : public Progress {
  public:
    explicit StageEnds(const std::vector<SeenDraw>& draws) : draws_(draws) {}
    std::vector<std::size_t> ends;

  private:
    void Report(uint64_t done, uint64_t) override {
        if (done > 0)
            ends.push_back(draws_.size());
    }
    const std::vector<SeenDraw>& draws_;
};

// A training whose draws are known, to be repeated with one more unit.
class KnownTraining {
  public:
    // model: null, or the one that is continued.
    KnownTraining(const DrawCase& one, const Model* model, std::vector<AuditRow> rows, bool units,
                  uint64_t number, double factor)
        : one_(one), model_(model), rows_(std::move(rows)), units_(units), number_(number) {
        ChaChaSource source = AuditSource(number, 11);
        Random random(source);
        Tape tape(random, factor);
        StageEnds stages(tape.draws);
        const Plan plan = Train(rows_, tape, &tape, stages);
        multiplier_ = plan.NoiseMultiplier(0);
        draws_ = std::move(tape.draws);
        ends_ = std::move(stages.ends);
    }
    const std::vector<SeenDraw>& draws() const { return draws_; }
    const Model& trained() const { return *trained_; }
    DrawPlace Place(std::size_t draw) const {
        return {static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), draw) - ends_.begin()),
                draws_[draw].raw.size()};
    }
    // What the draw took of the pool.
    double Part(std::size_t draw) const {
        const uint64_t before = draw == 0 ? GaussianPool::kParts : draws_[draw - 1].parts_left;
        return static_cast<double>(before - draws_[draw].parts_left) /
               static_cast<double>(GaussianPool::kParts);
    }
    // What the unit uses of each draw's charge: mu^2 to mu^2.
    std::vector<double> Uses(const std::vector<AuditRow>& unit) {
        std::vector<AuditRow> joined = rows_;
        joined.insert(joined.end(), unit.begin(), unit.end());
        Replay replay(draws_);
        NoProgress progress;
        Train(joined, replay, nullptr, progress);
        EXPECT_TRUE(replay.SawAll());
        std::vector<double> uses;
        for (std::size_t i = 0; i < draws_.size(); i++)
            uses.push_back(Distance(draws_[i], draws_[i].raw, replay.raw[i]) * multiplier_ * multiplier_ /
                           Part(i));
        return uses;
    }

  private:
    Plan Train(const std::vector<AuditRow>& rows, NoiseSource& noise, Tape* tape, Progress& progress) {
        const TargetSpec target = one_.target ? *one_.target : AuditTarget(one_.task);
        const Dataset table = AuditTable(Features(one_), target, units_, rows);
        std::vector<GivenOption> options = one_.options;
        options.push_back(Given("rows_hint", one_.rows));
        const MethodInfo& method = *AllMethods().Find("auto");
        const std::unique_ptr<Learner> learner =
            model_ != nullptr ? ContinuingLearnerOf(method, *model_, one_.epsilon, kDelta, options, {})
                              : LearnerOf(method, table, one_.epsilon, kDelta, options);
        Plan plan = PlanOf(*learner, one_.epsilon, kDelta);
        if (tape != nullptr)
            tape->Watch(plan);
        ChaChaSource source = AuditSource(number_, 3);
        Random random(source);
        NoInterrupt interrupt;
        if (model_ != nullptr)
            trained_.emplace(*model_);
        else
            trained_.emplace(table.features(), table.target(), learner->link());
        Releaser releaser(plan, noise);
        PublicRandom structure(random);
        PrivateRandom coins(random);
        Run run{table, releaser, structure, coins, *trained_, progress, interrupt, {}};
        run.across_servers = one_.servers;
        learner->Train(run);
        return plan;
    }

    const DrawCase& one_;
    const Model* model_;
    std::vector<AuditRow> rows_;
    bool units_;
    uint64_t number_;
    std::optional<Model> trained_;
    double multiplier_ = 0;
    std::vector<SeenDraw> draws_;
    std::vector<std::size_t> ends_;
};

std::vector<AuditRow> RandomUnit(Random& random, const DrawCase& one, bool several) {
    constexpr int64_t kUnit = 1 << 20;
    const uint64_t rows = several ? 1 + random.Below(40) : 1;
    std::vector<AuditRow> unit(rows, RandomRow(random, one, kUnit));
    for (std::size_t k = 0; random.Below(2) == 0 && k < unit.size(); k++)
        unit[k] = RandomRow(random, one, kUnit);
    return unit;
}

// The largest use of a draw's charge at each place. Trainings at a hundredth, once and many times the noise: the last go
// through stages that only follow a clear finding, and updates believe that there are many rows.
std::map<DrawPlace, double> LargestUses(const DrawCase& one, bool units) {
    std::map<DrawPlace, double> largest;
    ChaChaSource source = AuditSource(units ? 7 : 6, 1);
    Random random(source);
    // Of a tiny epsilon there is no more noise than there is.
    const double much = one.epsilon < 1 ? 1 : one.update ? 200 : 20, factors[] = {0.01, 1, much, much};
    for (int t = 0; t < kTranscripts; t++) {
        std::vector<AuditRow> rows;
        for (int i = 0; i < 12; i++)
            rows.push_back(RandomRow(random, one, i / (units ? 2 : 1)));
        const auto number = static_cast<uint64_t>(t);
        std::optional<KnownTraining> before;
        if (one.update)
            before.emplace(one, nullptr, rows, units, number + 100, 1);
        KnownTraining training(one, before ? &before->trained() : nullptr, rows, units, number,
                               factors[t % 4]);
        for (int u = 0; u < kUnits; u++) {
            const std::vector<double> uses = training.Uses(RandomUnit(random, one, units));
            for (std::size_t i = 0; i < uses.size(); i++) {
                double& most = largest[training.Place(i)];
                most = std::max(most, uses[i]);
            }
        }
    }
    return largest;
}

TEST(DrawsOfAuto, EachIsWithinItsOwnCharge) {
    for (const DrawCase& one : DrawCases()) {
        for (const bool units : {false, true}) {
            const std::map<DrawPlace, double> largest = LargestUses(one, units);
            const auto name = [&](const DrawPlace& place) {
                return std::string(one.name) + (units ? ", units" : "") + ": stage " +
                       std::to_string(place.first) + ", sums: " + std::to_string(place.second);
            };
            for (const auto& [place, use] : largest)
                EXPECT_LE(use, 1 + 1e-9) << name(place);
            // Trees have as many leaves as their random cuts make: those draws come up to their charge, too.
            std::size_t trees = 0;
            for (const auto& [place, use] : largest) {
                if (place.first != 2 || one.places.count(place) > 0)
                    continue;
                trees++;
                EXPECT_GT(use, kLeastUse) << name(place);
            }
            const bool quiet = one.epsilon < 1 && one.task == Task::kBinary;  // no trees where all is noise
            EXPECT_TRUE(trees > 1 || quiet) << one.name;
            for (const DrawPlace& place : one.places) {
                ASSERT_EQ(largest.count(place), 1U) << name(place) << " was not drawn";
                EXPECT_GT(largest.at(place), kLeastUse) << name(place);
            }
        }
    }
}

}  // namespace
}  // namespace dpboost
