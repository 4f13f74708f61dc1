// Whole trainings with a hold-out, from rows to the evaluation, on tables that differ in one unit. Every transcript is
// replayed on the neighbouring table with the same coins, as if they were known to an attacker: the unit moves either what the
// training draws or what is drawn aside, never both, and neither by more than the training was charged for; the exact
// likelihood ratio shows no more than the claim; and half the noise is found out, on either side.
#include <gtest/gtest.h>

#include <string>

#include "privacy/cost.h"
#include "privacy/spent.h"
#include "support/audit/audit.h"
#include "support/cashier.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

constexpr double kEpsilon = 1;
constexpr double kDelta = 0.001;

struct HoldoutCase {
    std::string name;
    bool classes;
    int unit_rows;  // of the unit in question; several: every unit has some
    std::string options;
};

struct PlainRow {
    double target;
    std::vector<double> values;
    int64_t unit;
};

std::vector<PlainRow> Table(const HoldoutCase& tested, Random& random, bool with_unit) {
    const auto target = [&](uint64_t at) { return tested.classes ? at % 2 : at % 3 * 5.0; };
    std::vector<PlainRow> rows;
    const uint64_t others = 3 + random.Below(10);
    for (uint64_t i = 0; i < others; i++)
        for (uint64_t k = 0; k <= (tested.unit_rows > 1 ? random.Below(4) : 0); k++)
            rows.push_back(
                {target(random.Below(6)),
                 {static_cast<double>(random.Below(100)) / 100, static_cast<double>(random.Below(100)) / 100},
                 static_cast<int64_t>(i)});
    // Alike and extreme, so that it shows most; the coins of the others are drawn before its own.
    const double x = random.Below(2) == 0 ? 0.001 : 0.999;
    for (int k = 0; with_unit && k < tested.unit_rows; k++)
        rows.push_back({tested.classes ? 1.0 : 10.0, {x, 0.999}, int64_t{1} << 20});
    return rows;
}

// Trains with coins and structure by number.
void Train(const HoldoutCase& tested, uint64_t number, bool with_unit, NoiseSource& noise,
           double* mu_squared) {
    TrainingCall call("{\"epsilon\": " + std::to_string(kEpsilon) + ", \"delta\": " + std::to_string(kDelta) +
                      ", \"holdout\": 0.5" + tested.options + "}");
    call.schema().target.kind = tested.classes ? ValueKind::kBoolean : ValueKind::kFloat8;
    call.schema().target.domain = tested.classes ? Domain() : Domain::Range("", 0, 10);
    call.schema().has_units = tested.unit_rows > 1;
    call.Feature("a", ValueKind::kFloat8, Domain::Range("", 0, 1));
    call.Feature("b", ValueKind::kFloat8, Domain::Range("", 0, 1));
    const auto training = call.Begin();
    training->Calibrate({});
    ChaChaSource rows_source = AuditSource(number, 1), structure_source = AuditSource(number, 3),
                 coins_source = AuditSource(number, 5);
    Random rows_random(rows_source), structure_random(structure_source), coins_random(coins_source);
    for (const PlainRow& row : Table(tested, rows_random, with_unit))
        AppendRow(*training, row.target, row.values, row.unit);
    NoInterrupt interrupt;
    NoProgress progress;
    training->FinishRows(interrupt);
    PublicRandom structure(structure_random);
    PrivateRandom coins(coins_random);
    training->TrainWith(Cashier::Receipt(training->plan_bytes()), structure, coins, noise, interrupt,
                        progress);
    *mu_squared = GaussianMuSquared(Cost::Parse(training->plan_bytes()).events);
}

// What the unit does to one transcript: mu^2 of what the training draws and of the draw aside, which is the last, and
// the log likelihood ratio, the table with the unit over the one without.
struct Seen {
    double training = 0;
    double aside = 0;
    double loss = 0;
    double mu_squared = 0;  // as charged
};

Seen Compare(const HoldoutCase& tested, uint64_t number, bool on_with, double factor) {
    ChaChaSource noise_source = AuditSource(number, on_with ? 11 : 12);
    Random noise_random(noise_source);
    Tape tape(noise_random, factor);
    Seen seen;
    Train(tested, number, on_with, tape, &seen.mu_squared);
    Replay replay(tape.draws);
    Train(tested, number, !on_with, replay, &seen.mu_squared);
    EXPECT_TRUE(replay.SawAll());
    for (size_t i = 0; i < tape.draws.size(); i++) {
        const SeenDraw& draw = tape.draws[i];
        EXPECT_EQ(draw.kind, SeenDraw::kGaussian);
        (i + 1 == tape.draws.size() ? seen.aside : seen.training) += Distance(draw, draw.raw, replay.raw[i]);
        seen.loss += (on_with ? 1 : -1) * Loss(draw, draw.raw, replay.raw[i]);
    }
    return seen;
}

const std::vector<HoldoutCase>& Cases() {
    static const std::vector<HoldoutCase> kCases = {
        {"auto, rows", true, 1, ""},
        {"auto, a unit of 30 rows", true, 30, ""},
        {"auto, regression, a unit of 30 rows", false, 30, ""},
        {"auto, intervals, a unit of 30 rows", false, 30, ", \"intervals\": true"},
        {"auto, log, intervals, a unit of 30 rows", false, 30,
         ", \"intervals\": true, \"target_scale\": \"log\""},
        {"auto, a weight, a unit of 30 rows", true, 30, ", \"weight\": \"b\""},
        {"adassp, rows", false, 1, ", \"method\": \"adassp\""},
        {"dp_ebm, rows", true, 1, ", \"method\": \"dp_ebm\", \"trees\": 4, \"subsample\": 1"},
    };
    return kCases;
}

TEST(Holdout, AUnitMovesOneSideOnlyAndNoFurtherThanItsCharge) {
    for (const HoldoutCase& tested : Cases()) {
        double most_training = 0, most_aside = 0;
        for (uint64_t number = 0; number < 40; number++) {
            // From a hundredth of the noise as well: states that honest noise hardly visits.
            const Seen seen = Compare(tested, number, number % 2 == 0, number % 4 < 2 ? 1 : 0.01);
            EXPECT_TRUE(seen.training == 0 || seen.aside == 0) << tested.name << ", training " << number;
            EXPECT_LE(seen.training + seen.aside, seen.mu_squared * (1 + 1e-9)) << tested.name;
            most_training = std::max(most_training, seen.training / seen.mu_squared);
            most_aside = std::max(most_aside, seen.aside / seen.mu_squared);
        }
        // Neither side has more noise than it needs (a row of a regression hardly reaches the bound of its sums).
        EXPECT_GT(most_training, 0.4) << tested.name;
        EXPECT_GT(most_aside, 0.8) << tested.name;
    }
}

// How much of delta is used at the claimed epsilon, by the trainings that have the unit on one side: the estimate minus
// 3.3 standard errors (false alarms: 5e-4 a side; seeds are fixed).
double DeltaOf(const HoldoutCase& tested, double factor, bool aside) {
    std::vector<double> with, without;
    for (uint64_t number = 0; number < 250; number++)
        for (const bool on_with : {true, false}) {
            const Seen seen = Compare(tested, 1000 + number, on_with, factor);
            if ((seen.aside > 0) == aside)
                (on_with ? with : without).push_back(seen.loss);
        }
    return std::max(DeltaAt(with, 1, kEpsilon, 3.3), DeltaAt(without, -1, kEpsilon, 3.3));
}

TEST(Holdout, HalfTheNoiseIsFoundOutOnEitherSide) {
    for (const bool aside : {false, true}) {
        const HoldoutCase& tested = Cases()[1];
        EXPECT_LE(DeltaOf(tested, 1, aside), kDelta) << aside;
        EXPECT_GT(DeltaOf(tested, 0.5, aside), kDelta) << aside;
    }
}

}  // namespace
}  // namespace dpboost
