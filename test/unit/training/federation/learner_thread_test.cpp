// Parties' learners in threads, as their sessions drive them. Run under ThreadSanitizer by `make unit-tsan`.
#include "training/federation/learner_thread.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "support/parties.h"
#include "support/thrown.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

// A party with its rows and its plan.
class Hospital {
  public:
    Hospital(const TestFederation& federation, Session&& session, unsigned char number, int rows)
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
        thread_ =
            std::make_unique<LearnerThread>(*core_, Cashier::Receipt(core_->plan_bytes()),
                                            federation.numbers(), std::move(session), FixedHash(number, 55));
    }
    LearnerThread& thread() { return *thread_; }
    void Stop() { thread_.reset(); }
    PartyAnswer Wait() {
        pollfd poll_for{thread_->ready_fd(), POLLIN, 0};
        EXPECT_EQ(poll(&poll_for, 1, 60000), 1);
        EXPECT_TRUE(thread_->Ready());
        return PartyAnswer::Parse(thread_->Take().Serialize());
    }

  private:
    TrainingCall call_;
    std::unique_ptr<TrainingCore> core_;
    std::unique_ptr<LearnerThread> thread_;
};

std::vector<std::unique_ptr<Hospital>> Hospitals(const TestFederation& federation) {
    std::vector<std::unique_ptr<Hospital>> hospitals;
    std::vector<Session> sessions = federation.Join();
    for (size_t i = 0; i < sessions.size(); ++i)
        hospitals.push_back(std::make_unique<Hospital>(federation, std::move(sessions[i]),
                                                       static_cast<unsigned char>(i), i == 0 ? 0 : 300));
    return hospitals;
}

// Adds up one event of all; empty at the end, when all must have the same model.
std::string Round(std::vector<std::unique_ptr<Hospital>>& hospitals, uint64_t event,
                  const std::string& total) {
    std::vector<uint64_t> sum;
    std::vector<PartyAnswer> answers;
    for (auto& hospital : hospitals)
        hospital->thread().Begin(event, total);
    for (auto& hospital : hospitals)
        answers.push_back(hospital->Wait());
    for (const PartyAnswer& answer : answers) {
        EXPECT_EQ(answer.finished, answers[0].finished);
        EXPECT_EQ(answer.witness, answers[0].witness);
        EXPECT_EQ(answer.model, answers[0].model);
        sum.resize(answer.sums.size());
        for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += answer.sums[i];
    }
    return SumBytes(sum);
}

TEST(LearnerThread, PartiesInStepBuildOneModel) {
    const TestFederation federation(3, 1);
    auto hospitals = Hospitals(federation);
    std::string total;
    uint64_t event = 0;
    do {
        total = Round(hospitals, ++event, total);
    } while (!total.empty());
    EXPECT_GT(event, 10u);
    EXPECT_EQ(Thrown([&] { hospitals[0]->thread().Begin(event + 1, ""); }),
              "a round of a federated training is out of order | The last event is not over. | ");
}

TEST(LearnerThread, EachEventIsAnsweredOnceAndInOrder) {
    const TestFederation federation(2, 1);
    auto hospitals = Hospitals(federation);
    LearnerThread& thread = hospitals[1]->thread();
    const std::string out_of_order = "a round of a federated training is out of order | ";
    EXPECT_EQ(Thrown([&] { thread.Begin(2, ""); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { thread.Begin(1, "12345678"); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { thread.Take(); }).find(out_of_order), 0u);
    const std::string total = Round(hospitals, 1, "");
    EXPECT_EQ(Thrown([&] { thread.Begin(1, ""); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { thread.Begin(3, total); }).find(out_of_order), 0u);
    EXPECT_EQ(Thrown([&] { thread.Begin(2, total + "12345678"); }),
              "the total has another number of sums |  | ");
    EXPECT_EQ(Thrown([&] { thread.Begin(2, ""); }), "the total has another number of sums |  | ");
    EXPECT_FALSE(Round(hospitals, 2, total).empty());
}

TEST(LearnerThread, EndsWhereverItIs) {
    const TestFederation federation(2, 1);
    Hospitals(federation);  // never begun
    auto waiting = Hospitals(federation);
    Round(waiting, 1, "");
    waiting[0]->Stop();  // while it waits for a total
    auto working = Hospitals(federation);
    working[1]->thread().Begin(1, "");
    working[1]->Stop();  // while it works, or has just answered
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
