// Parties' learners, as their sessions drive them. Run under ThreadSanitizer by `make unit-tsan`.
#include "training/federation/party_learner.h"

#include <gtest/gtest.h>

#include "support/cashier.h"
#include "support/parties.h"
#include "support/thrown.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

// A party with its rows and its plan.
class Hospital {
  public:
    Hospital(const TestFederation& federation, Session&& session, unsigned char number, int rows,
             bool (*interrupted)())
        : call_(R"({"method": "auto", "task": "classification", "epsilon": 1})") {
        call_.Feature("a", ValueKind::kFloat8, Domain::Range("a", 0, 1));
        call_.Feature("b", ValueKind::kFloat8, Domain::Range("b", 0, 1));
        call_.schema().parties = federation.numbers();
        core_ = call_.Begin();
        for (int i = 0; i < rows; ++i) {
            const double a = (i * 37 + number) % 101 / 101.0, b = i % 7 / 7.0;
            AppendRow(*core_, a + b > 1 ? 1 : 0, {a, b});
        }
        NoInterrupt interrupt;
        core_->FinishRows(interrupt);
        core_->Calibrate({});
        learner_ = std::make_unique<PartyLearner>(WorkOf(*core_), Cashier::Receipt(core_->plan_bytes()),
                                                  federation.numbers(), std::move(session),
                                                  FixedHash(number, 55), interrupted);
    }
    PartyLearner& learner() { return *learner_; }
    void Stop() { learner_.reset(); }
    PartyAnswer Wait() {
        while (!learner_->Advance())
            ++pauses;
        return PartyAnswer::Parse(learner_->Take().Serialize());
    }
    int pauses = 0;

  private:
    TrainingCall call_;
    std::unique_ptr<TrainingCore> core_;
    std::unique_ptr<PartyLearner> learner_;
};

bool Never() {
    return false;
}
bool Always() {
    return true;
}

std::vector<std::unique_ptr<Hospital>> Hospitals(const TestFederation& federation,
                                                 bool (*interrupted)() = Never) {
    std::vector<std::unique_ptr<Hospital>> hospitals;
    std::vector<Session> sessions = federation.Join();
    for (size_t i = 0; i < sessions.size(); ++i)
        hospitals.push_back(std::make_unique<Hospital>(federation, std::move(sessions[i]),
                                                       static_cast<unsigned char>(i), i == 0 ? 0 : 300,
                                                       interrupted));
    return hospitals;
}

// Adds up one event of all; empty at the end, when all must have the same model.
std::string Round(std::vector<std::unique_ptr<Hospital>>& hospitals, uint64_t event,
                  const std::string& total) {
    std::vector<uint64_t> sum;
    std::vector<PartyAnswer> answers;
    for (auto& hospital : hospitals)
        hospital->learner().Begin(event, total);
    for (auto& hospital : hospitals)
        answers.push_back(hospital->Wait());
    for (const PartyAnswer& answer : answers) {
        EXPECT_EQ(answer.finished, answers[0].finished);
        EXPECT_EQ(answer.witness, answers[0].witness);
        EXPECT_EQ(answer.result, answers[0].result);
        sum.resize(answer.sums.size());
        for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += answer.sums[i];
    }
    return SumBytes(sum);
}

TEST(PartyLearner, PartiesInStepBuildOneModel) {
    const TestFederation federation(3, 1);
    auto hospitals = Hospitals(federation);
    std::string total;
    uint64_t event = 0;
    do {
        total = Round(hospitals, ++event, total);
    } while (!total.empty());
    EXPECT_GT(event, 10u);
    EXPECT_EQ(Thrown([&] { hospitals[0]->learner().Begin(event + 1, ""); }),
              "a round of a federated training is out of order | The last event is not over. | ");
}

TEST(PartyLearner, EachEventIsAnsweredOnceAndInOrder) {
    const TestFederation federation(2, 1);
    auto hospitals = Hospitals(federation);
    PartyLearner& learner = hospitals[1]->learner();
    const std::string out_of_order = "a round of a federated training is out of order | ";
    EXPECT_EQ(Thrown([&] { learner.Begin(2, ""); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { learner.Begin(1, "12345678"); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { learner.Take(); }).find(out_of_order), 0u);
    const std::string total = Round(hospitals, 1, "");
    EXPECT_EQ(Thrown([&] { learner.Begin(1, ""); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { learner.Begin(3, total); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { learner.Begin(2, total + "12345678"); }),
              "the total has another number of sums |  | ");
    EXPECT_EQ(Thrown([&] { learner.Begin(2, ""); }), "the total has another number of sums |  | ");
    EXPECT_FALSE(Round(hospitals, 2, total).empty());
}

TEST(PartyLearner, EndsWhereverItIs) {
    const TestFederation federation(2, 1);
    Hospitals(federation);  // never begun
    auto waiting = Hospitals(federation);
    Round(waiting, 1, "");
    waiting[0]->Stop();  // while it waits for a total
    auto working = Hospitals(federation);
    working[1]->learner().Begin(1, "");
    working[1]->Stop();  // before it works
    auto paused = Hospitals(federation, Always);
    paused[1]->learner().Begin(1, "");
    EXPECT_FALSE(paused[1]->learner().Advance());
    paused[1]->Stop();  // in the middle of its work
}

TEST(PartyLearner, PausesWhereItIsInterrupted) {
    const TestFederation federation(2, 1);
    auto free = Hospitals(federation), interrupted = Hospitals(federation, Always);
    std::string total, again;
    uint64_t event = 0;
    do {
        ++event;
        const std::string before = total;
        total = Round(free, event, before);
        again = Round(interrupted, event, before);
        EXPECT_EQ(total, again) << event;
    } while (!total.empty());
    EXPECT_EQ(free[1]->pauses, 0);
    EXPECT_GT(interrupted[1]->pauses, 0);
}

TEST(PartyLearner, WhatTheWorkThrowsEndsIt) {
    const TestFederation federation(2, 1);
    std::vector<Session> sessions = federation.Join();
    const SharedWork work = [](PaidCharge&&, SessionStreams&, NoiseSource&, Interrupt&,
                               Progress&) -> std::string { throw Error(ErrorCode::kInternal, "broken"); };
    PartyLearner learner(work, Cashier::Receipt("plan"), federation.numbers(), std::move(sessions[0]),
                         FixedHash(1));
    learner.Begin(1, "");
    EXPECT_EQ(Thrown([&] { learner.Advance(); }), "broken |  | ");
    EXPECT_EQ(CodeOf([&] { learner.Advance(); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { learner.Begin(2, ""); }), ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { learner.Take(); }), ErrorCode::kInvalidParameter);
}

TEST(PartyAnswer, OtherBytesAreRefused) {
    for (const std::string& bytes :
         {std::string(), std::string(32, 'x'), std::string(40, '\0'),
          std::string(1, '\2') + std::string(32, 'x'), std::string(1, '\1') + std::string(40, 'x')})
        EXPECT_EQ(CodeOf([&] { PartyAnswer::Parse(bytes); }), ErrorCode::kInvalidParameter) << bytes.size();
    EXPECT_EQ(PartyAnswer::Parse(std::string(33, '\0')).sums.size(), 0u);
    EXPECT_EQ(PartyAnswer::Parse(std::string(41, '\0')).sums.size(), 1u);
}

}  // namespace
}  // namespace dpboost
