// A coordinator and three parties, from the parties' columns to one model, without PostgreSQL.
#include "training/federation/coordinator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cashier.h"
#include "support/json.h"
#include "support/parties.h"
#include "support/thrown.h"
#include "support/training_call.h"
#include "training/federation/party_learner.h"
#include "training/federation/rehearsal.h"

namespace dpboost {
namespace {

constexpr char kOptions[] = R"({"method": "auto"})";

PartyColumns ColumnsOf(double upper) {
    PublicColumn target, a, ward;
    target.name = "los";
    target.kind = ValueKind::kFloat8;
    target.domain = Domain::Range("los", 0, upper);
    a.name = "age";
    a.kind = ValueKind::kInt4;
    a.domain = Domain::Range("age", 0, 100);
    ward.name = "ward";
    ward.kind = ValueKind::kText;
    ward.domain = Domain::Levels("ward", {"a", upper > 50 ? "b" : "icu"});
    return {target, {a, ward}};
}

// A party as its server has it: all from the announced call.
class Hospital {
  public:
    Hospital(const TestFederation& federation, size_t number, const Coordinator& coordinator)
        : options_(kOptions), call_(FederatedCall::Parse(coordinator.call_bytes())) {
        TrainingSchema schema;
        schema.options = options_.get();
        schema.privacy.given = true;
        schema.privacy.epsilon = call_.epsilon;
        schema.target = call_.columns.target;
        schema.features = call_.columns.features;
        schema.memory = size_t{1} << 30;
        schema.parties = federation.numbers();
        core_ = std::make_unique<TrainingCore>(schema);
        CheckEncodings(call_, core_->features());
        core_->Adopt(coordinator.plan_bytes(), {});
        for (int i = 0; i < 300; ++i)
            AppendRow(*core_, i * 37 % 101 / 2.0,
                      {static_cast<double>(i * 37 % 101), static_cast<double>(i % 2)});
        NoInterrupt interrupt;
        core_->FinishRows(interrupt);
        handshake_ = std::make_unique<Handshake>(
            *federation.roster, TestFederation::Name(number), *federation.keys[number],
            Agreement(Rehearsed("1.0", *core_, nullptr, interrupt), *federation.roster,
                      coordinator.call_bytes(), coordinator.plan_bytes()),
            Secret(FixedHash(static_cast<unsigned char>(number), 7)), FixedHash(8));
        numbers_ = federation.numbers();
    }
    const std::string& opening() const { return handshake_->opening(); }
    void Join(const std::vector<std::string>& openings) {
        learner_ = std::make_unique<PartyLearner>(WorkOf(*core_), Cashier::Receipt(core_->plan_bytes()),
                                                  numbers_, handshake_->Join(openings), FixedHash(9));
    }
    void Begin(uint64_t event, const std::string& total) { learner_->Begin(event, total); }
    std::string Answer() {
        EXPECT_TRUE(learner_->Advance());
        return learner_->Take().Serialize();
    }

  private:
    Json options_;
    FederatedCall call_;
    NoiseParties numbers_;
    std::unique_ptr<TrainingCore> core_;
    std::unique_ptr<Handshake> handshake_;
    std::unique_ptr<PartyLearner> learner_;
};

class Wire final : public SumExchange {
  public:
    Wire(const Roster& roster, std::vector<std::unique_ptr<Hospital>>& hospitals)
        : roster_(roster), hospitals_(hospitals) {}
    std::vector<std::string> Step() {
        ++events;
        for (auto& hospital : hospitals_)
            hospital->Begin(events, total_);
        std::vector<std::string> answers;
        for (auto& hospital : hospitals_)
            answers.push_back(hospital->Answer());
        return answers;
    }
    void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override {
        *sums = AddAnswers(roster_, witness, sums->size(), Step());
        total_ = SumBytes(*sums);
    }
    uint64_t events = 0;

  private:
    const Roster& roster_;
    std::vector<std::unique_ptr<Hospital>>& hospitals_;
    std::string total_;
};

TEST(Coordinator, BringsPartiesToOneModel) {
    const TestFederation federation(3, 1);
    Coordinator coordinator(*federation.roster, "1.0");
    const Json options(kOptions);
    CoordinatedCall called;
    called.model = "los";
    called.options_text = kOptions;
    called.options = options.get();
    called.privacy.given = true;
    called.privacy.epsilon = 1;
    called.memory = size_t{1} << 30;
    coordinator.Plan({ColumnsOf(40).Serialize(), ColumnsOf(60).Serialize(), ColumnsOf(50).Serialize()},
                     called);
    std::vector<std::unique_ptr<Hospital>> hospitals;
    std::vector<std::string> openings;
    for (size_t i = 0; i < 3; ++i) {
        hospitals.push_back(std::make_unique<Hospital>(federation, i, coordinator));
        openings.push_back(hospitals[i]->opening());
    }
    NoInterrupt interrupt;
    coordinator.Rehearse(interrupt);
    coordinator.Follow(openings);
    for (auto& hospital : hospitals)
        hospital->Join(openings);
    Wire wire(coordinator.roster(), hospitals);
    NoProgress progress;
    coordinator.Work(Cashier::Receipt(coordinator.plan_bytes()), wire, FixedHash(4), interrupt, progress);
    const std::vector<std::string> ends = wire.Step();
    CheckSameResult(coordinator.roster(), coordinator.result_hash(), ends);
    EXPECT_GT(wire.events, 10u);
    EXPECT_EQ(Thrown([&] {
                  CheckSameResult(coordinator.roster(), FixedHash(1), ends);
              }).find("the servers disagree about the training | Party \"p00\""),
              0u);
    EXPECT_EQ(
        Thrown([&] { AddAnswers(coordinator.roster(), FixedHash(1), 0, ends); }).find("the servers disagree"),
        0u);
    const Model model = Model::Parse(coordinator.training().model_bytes());
    EXPECT_EQ(model.features()[1].levels(), (std::vector<std::string>{"a", "b", "icu"}));
}

TEST(Coordinator, AnswersMustBeToOneQuestion) {
    const TestFederation federation(2);
    PartyAnswer answer;
    answer.witness = FixedHash(1);
    answer.sums = {1, ~uint64_t{0}};
    const std::string one = answer.Serialize();
    EXPECT_EQ(AddAnswers(*federation.roster, FixedHash(1), 2, {one, one}),
              (std::vector<uint64_t>{2, ~uint64_t{0} - 1}));
    const auto refused = [&](const std::string& other) {
        return Thrown([&] {
                   AddAnswers(*federation.roster, FixedHash(1), 2, {one, other});
               }).find("Party \"p01\" is at another point") != std::string::npos;
    };
    PartyAnswer other = answer;
    other.witness = FixedHash(2);
    EXPECT_TRUE(refused(other.Serialize()));
    other = answer;
    other.sums.push_back(3);
    EXPECT_TRUE(refused(other.Serialize()));
    other = {};
    other.finished = true;
    EXPECT_TRUE(refused(other.Serialize()));
}

TEST(CheckEncodings, AreThoseOfTheCall) {
    const auto feature = [](double upper) {
        NumericRange range;
        range.upper = upper;
        return std::vector<FeatureSpec>{FeatureSpec::Numeric("a", range)};
    };
    FederatedCall call;
    call.encodings = EncodingsHash(feature(1));
    EXPECT_EQ(Thrown([&] { CheckEncodings(call, feature(1)); }), "no error");
    EXPECT_EQ(CodeOf([&] { CheckEncodings(call, feature(std::nextafter(1, 2))); }), ErrorCode::kUnsupported);
    EXPECT_EQ(CodeOf([&] { CheckEncodings(call, {}); }), ErrorCode::kUnsupported);
}

TEST(CheckReadable, ColumnsMustHoldWhatTheirReadersExpect) {
    const auto column = [](const char* name, ValueKind kind, bool levels = false) {
        PublicColumn made;
        made.name = name;
        made.kind = kind;
        if (levels)
            made.domain = Domain::Levels(name, {"1", "2"});
        return made;
    };
    const auto refused = [](const PublicColumn& own, const PublicColumn& announced) {
        return Thrown([&] { CheckReadable(own, announced); }) != "no error";
    };
    EXPECT_FALSE(refused(column("a", ValueKind::kInt4), column("a", ValueKind::kFloat8)));
    EXPECT_FALSE(refused(column("a", ValueKind::kInt2), column("a", ValueKind::kInt8, true)));
    EXPECT_FALSE(refused(column("a", ValueKind::kEnum), column("a", ValueKind::kText, true)));
    EXPECT_TRUE(refused(column("a", ValueKind::kInt4), column("b", ValueKind::kInt4)));
    EXPECT_TRUE(refused(column("a", ValueKind::kText), column("a", ValueKind::kFloat8)));
    EXPECT_TRUE(refused(column("a", ValueKind::kFloat8), column("a", ValueKind::kText, true)));
    EXPECT_TRUE(refused(column("a", ValueKind::kBoolean), column("a", ValueKind::kText, true)));
    EXPECT_TRUE(refused(column("a", ValueKind::kFloat8), column("a", ValueKind::kInt4)));
    EXPECT_TRUE(refused(column("a", ValueKind::kFloat8), column("a", ValueKind::kFloat8, true)));
    EXPECT_TRUE(refused(column("a", ValueKind::kDate), column("a", ValueKind::kFloat8)));
}

}  // namespace
}  // namespace dpboost
