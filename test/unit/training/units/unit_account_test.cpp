// Trainings and evaluations under accounting by unit, without PostgreSQL: a shelf stands for the catalog.
#include "training/units/unit_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/training_call.h"
#include "support/units/unit_shelf.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
NoInterrupt interrupt;

UnitLimit LimitOf(double epsilon) {
    return UnitLimit(epsilon, kDelta, Budget(epsilon, kDelta).order());
}

struct Outcome {
    std::string model;
    std::string result;
    size_t charge_bytes = 0;
};

// One training on units first .. first + count - 1, of `rows_each` rows, from load to settlement.
class Clinic {
  public:
    explicit Clinic(double epsilon) : limit(LimitOf(epsilon)) {}

    Outcome Train(const std::string& options, int64_t first, int64_t count, bool settle = true,
                  int rows_each = 2) {
        TrainingCall call(options);
        const Domain range = Domain::Range("", 0, 1);
        call.Feature("a", ValueKind::kFloat8, range).Feature("b", ValueKind::kFloat8, range);
        const bool classes = options.find("classes") != std::string::npos;
        if (classes)
            call.schema().target.kind = ValueKind::kInt4;
        call.schema().has_units = true;
        call.schema().unit_limit = limit;
        std::unique_ptr<TrainingCore> core = call.Begin();
        core->Calibrate({limit.PerRelease().Constraint("table \"t\"")});
        for (int64_t unit = first; unit < first + count; unit++)
            for (int row = 0; row < rows_each; row++)
                AppendRow(*core, classes ? static_cast<double>(unit % 3) : (unit % 7) / 7.0,
                          {(unit % 5) / 5.0, (unit + row) % 3 / 3.0}, unit);
        core->FinishRows(interrupt);
        UnitBook& book = core->account()->Open(shelf.salt, shelf.header, size_t{1} << 30, interrupt);
        shelf.LoadInto(&book);
        Outcome outcome;
        const std::string reserved = core->ReserveUnits(interrupt);
        outcome.charge_bytes = reserved.size();
        EXPECT_TRUE(shelf.Write(reserved));
        ChaChaSource source(ChaChaSource::Seed{1});
        Random random(source);
        PublicRandom structure(random);
        PrivateRandom coins(random);
        ExactNoise noise(random);
        NoProgress progress;
        core->TrainWith(Cashier::Receipt(core->plan_bytes()), structure, coins, noise, interrupt, progress);
        EXPECT_LE(core->SettledUnits().size(), core->account()->SettleSize());
        if (settle && !core->SettledUnits().empty()) {
            EXPECT_TRUE(shelf.Write(core->SettledUnits()));
        }
        outcome.model = core->model_bytes();
        TrainingResult result = {"m", "o", 1, 1, nullptr, 0};
        outcome.result = core->Describe(result);
        return outcome;
    }

    UnitLimit limit;
    UnitShelf shelf;
};

constexpr char kAuto[] = R"({"epsilon": 0.4, "target_range": [0, 1]})";
constexpr char kSbdt[] =
    R"({"epsilon": 0.4, "method": "sbdt", "trees": 20, "depth": 2, "target_range": [0, 1]})";
constexpr char kSbdtClasses[] =
    R"({"epsilon": 0.4, "method": "sbdt", "trees": 20, "depth": 2, "classes": [1, 2, 3]})";

TEST(UnitAccount, AWholeChargeIsTakenFromThoseWhoTakePart) {
    Clinic clinic(1);
    clinic.Train(kAuto, 0, 50);
    const std::vector<uint32_t> spent = clinic.shelf.Spent(UnitKeys(0, 51));
    EXPECT_GT(spent[0], kUnitWhole / 20);
    EXPECT_LT(spent[0], kUnitWhole / 2);
    for (int i = 0; i < 50; i++)
        EXPECT_EQ(spent[static_cast<size_t>(i)], spent[0]);
    EXPECT_EQ(spent[50], 0u);
}

// sbdt is charged by rounds: what is reserved first is the most, and what was not lost is given back. Here
// labels are spread over [-1, 1] with a mean square of a third, so that a round costs about 0.2 + 0.8 / 3 of the most, and
// the first guess, a tenth of the whole, is paid in any case: 0.1 + 0.9 * 0.47 = 0.52 together.
TEST(UnitAccount, RoundsAreSettled) {
    const std::string gentle =
        R"({"epsilon": 0.4, "method": "sbdt", "trees": 20, "depth": 2, "target_range": [0, 1], "gradient_clip": 1})";
    Clinic reserved(1);
    reserved.Train(gentle, 0, 500, false, 1);
    Clinic settled(1);
    settled.Train(gentle, 0, 500, true, 1);  // one row each: of several the sum is clipped, and costs all
    const std::vector<uint32_t> most = reserved.shelf.Spent(UnitKeys(0, 50));
    const std::vector<uint32_t> used = settled.shelf.Spent(UnitKeys(0, 50));
    uint64_t sum = 0;
    for (size_t unit = 0; unit < 50; unit++) {
        EXPECT_EQ(most[unit], most[0]);
        EXPECT_GT(used[unit], 0u);
        EXPECT_LE(used[unit], most[unit]);
        sum += used[unit];
    }
    EXPECT_NEAR(static_cast<double>(sum) / 50 / most[0], 0.52, 0.05);
    settled.Train(gentle, 0, 500, false, 1);  // what is not settled stays reserved, on top of what was spent
    const std::vector<uint32_t> twice = settled.shelf.Spent(UnitKeys(0, 50));
    for (size_t unit = 0; unit < 50; unit++)
        EXPECT_EQ(twice[unit], used[unit] + std::min(most[0], kUnitWhole - used[unit]));
}

// Of classes the whole vector of gradients is charged. Scores stay near zero: of three classes p = 1/3, so the vector has
// the squared length (2/3)^2 + 2 / 9 = 2/3 of the 2 that a clip of 1 allows, the Hessian is 2/9 of 1/4, and a round costs
// 0.9 / 3 + 0.1 (8/9)^2 = 0.379 of the most.
TEST(UnitAccount, RoundsOfClassesAreSettled) {
    const std::string gentle =
        R"({"epsilon": 0.4, "method": "sbdt", "trees": 20, "depth": 2, "classes": [1, 2, 3], "gradient_clip": 1,
            "hessian_clip": 0.25, "hessian_share": 0.1, "initial_share": 0, "learning_rate": 0.001})";
    Clinic reserved(1);
    reserved.Train(gentle, 0, 300, false, 1);
    Clinic settled(1);
    settled.Train(gentle, 0, 300, true, 1);
    const uint32_t most = reserved.shelf.Spent(UnitKeys(0, 1))[0];
    for (const uint32_t used : settled.shelf.Spent(UnitKeys(0, 300)))
        EXPECT_NEAR(static_cast<double>(used) / most, 0.379, 0.01);
}

// Trainings never end. Nobody exceeds his limit, and whoever joins later has all of his.
TEST(UnitAccount, TrainingsGoOnPastTheLimit) {
    for (const char* options : {kAuto, kSbdt, kSbdtClasses}) {
        Clinic clinic(1);
        for (int64_t month = 0; month < 20; month++) {
            clinic.Train(options, 0, 40 + month);
            for (uint32_t spent : clinic.shelf.Spent(UnitKeys(0, 60)))
                EXPECT_LE(spent, kUnitWhole);
        }
        const std::vector<uint32_t> spent = clinic.shelf.Spent(UnitKeys(0, 60));
        EXPECT_GT(spent[0], kUnitWhole / 10 * 7);
        EXPECT_LT(spent[58], spent[0]);
        EXPECT_GT(spent[58], 0u);
        EXPECT_EQ(spent[59], 0u);
    }
}

// Used-up units are as if they had no rows: the same model, bit by bit, from the same randomness, and the same answer.
TEST(UnitAccount, WhoIsLeftOutLeavesNoTrace) {
    for (const char* options :
         {kAuto, kSbdt, kSbdtClasses, R"({"epsilon": 0.4, "method": "dp_ebm", "target_range": [0, 1]})",
          R"({"epsilon": 0.4, "method": "adassp", "target_range": [0, 1]})",
          R"({"epsilon": 0.4, "bounds": {"a": "private"}, "target_range": [0, 1]})",
          R"({"epsilon": 0.4, "holdout": 0.2, "target_range": [0, 1]})",
          R"({"epsilon": 0.4, "active_share": 0.05, "target_range": [0, 1]})"}) {
        Clinic fresh(1);
        Clinic used(1);
        {
            UnitBook book(used.shelf.salt, used.shelf.header, used.limit);
            book.SetUnits(UnitKeys(0, 30), interrupt);
            used.shelf.LoadInto(&book);
            for (size_t unit = 0; unit < 30; unit++)
                book.Set(unit, unit % 2 == 0 ? kUnitForgotten : kUnitWhole);
            ASSERT_TRUE(used.shelf.Write(book.WriteOut(interrupt)));
        }
        const Outcome without = fresh.Train(options, 30, 70);
        const Outcome with = used.Train(options, 0, 100);
        EXPECT_EQ(without.model, with.model) << options;
        EXPECT_EQ(without.result, with.result) << options;
        EXPECT_EQ(fresh.shelf.Spent(UnitKeys(30, 70)), used.shelf.Spent(UnitKeys(30, 70))) << options;
        EXPECT_EQ(used.shelf.Spent(UnitKeys(0, 1))[0], kUnitForgotten);
    }
}

// Nobody left: a model of noise, and not a word about it.
TEST(UnitAccount, NobodyLeftTrainsOnNoise) {
    Clinic clinic(0.4);
    const Outcome first = clinic.Train(kAuto, 0, 60);
    const Outcome second = clinic.Train(kAuto, 0, 60);
    Clinic empty(0.4);
    const Outcome nobody = empty.Train(kAuto, 0, 0);
    EXPECT_EQ(second.model, nobody.model);
    EXPECT_NE(first.model, nobody.model);
    EXPECT_EQ(first.result, second.result);
    // What is written is of one size, whoever takes part: PostgreSQL counts the rows of its tables for everybody to see.
    EXPECT_EQ(second.charge_bytes, clinic.Train(kAuto, 0, 60).charge_bytes);
    Clinic rich(0.4);
    const char* const cheap = R"({"epsilon": 0.1, "target_range": [0, 1]})";
    rich.Train(cheap, 0, 60);
    EXPECT_EQ(second.charge_bytes, rich.Train(cheap, 0, 60).charge_bytes);
    EXPECT_LT(rich.shelf.Spent(UnitKeys(0, 1))[0], clinic.shelf.Spent(UnitKeys(0, 1))[0]);
}

TEST(UnitAccount, ActiveShareCountsThoseWhoTakePart) {
    const auto persons = [](const std::string& result) {
        const size_t at = result.find("\"persons\": ");
        return at == std::string::npos ? -1 : std::stod(result.substr(at + 11));
    };
    const char* const options = R"({"epsilon": 0.9, "active_share": 0.2, "target_range": [0, 1]})";
    Clinic clinic(1);
    const double first = persons(clinic.Train(options, 0, 4000, true, 1).result);
    const double second = persons(clinic.Train(options, 0, 4000, true, 1).result);
    EXPECT_NEAR(first, 4000, 200);
    EXPECT_LT(second, 200);
    EXPECT_EQ(persons(clinic.Train(kAuto, 0, 10).result), -1);
}

// A charge that was not reserved cannot train.
TEST(UnitAccount, NothingIsDrawnWithoutAReservation) {
    TrainingCall call(kAuto);
    call.Feature("a", ValueKind::kFloat8, Domain::Range("", 0, 1));
    call.schema().has_units = true;
    call.schema().unit_limit = LimitOf(1);
    std::unique_ptr<TrainingCore> core = call.Begin();
    core->Calibrate({});
    ZeroNoise noise;
    EXPECT_THROW(TrainWithoutNoise(*core, noise), Error);
}

}  // namespace
}  // namespace dpboost
