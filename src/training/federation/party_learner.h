// A party's learner. It is one call that asks for a total again and again, while its session hears of totals in one SQL
// statement after the other: so it runs in a fiber (base/fiber.h), and pauses where the session has to wait. It runs in the
// session's own thread, but on a stack of its own, and touches no PostgreSQL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fiber.h"
#include "mechanism/parties/handshake.h"
#include "mechanism/parties/shared_noise.h"
#include "training/federation/shared_work.h"

namespace dpboost {

// What a party says of one event: its masked sums, or that the work is over.
struct PartyAnswer {
    bool finished = false;
    Hash witness{};              // of the event
    std::vector<uint64_t> sums;  // masked
    Hash result{};               // when finished

    std::string Serialize() const;
    // Throws kInvalidParameter.
    static PartyAnswer Parse(std::string_view bytes);
};

class PartyLearner final : private SumExchange, private Interrupt {
  public:
    // Takes the receipt of the charge. What the work uses must outlive this. `interrupted` is asked where other work polls:
    // as soon as it says yes, Advance comes back.
    PartyLearner(
        SharedWork work, PaidCharge&& paid, const NoiseParties& parties, Session&& session,
        ChaChaSource::Seed&& own, bool (*interrupted)() = [] { return false; });
    // Ends the work wherever it is.
    ~PartyLearner() override;
    PartyLearner(const PartyLearner&) = delete;
    PartyLearner& operator=(const PartyLearner&) = delete;

    // Begins event `event` (1, 2, ...): each once and in order. Of all but the first, `total` is the last event's.
    // Throws kInvalidParameter for another event, or a total of another number of sums; then nothing happens.
    void Begin(uint64_t event, std::string_view total);
    // Works on the event that has begun. True: there is an answer. False: the caller should look why it was interrupted, and
    // then call this again. Throws what the work threw.
    bool Advance();
    // The answer, once.
    PartyAnswer Take();

  private:
    enum class State { kIdle, kWorking, kAnswered, kTaken, kFinished, kFailed };

    void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override;
    void Poll() override;
    void Work();

    SharedWork work_;
    PaidCharge paid_;
    const NoiseParties parties_;
    Transcript transcript_;
    Masks masks_;
    SessionStreams streams_;
    bool (*interrupted_)();

    State state_ = State::kIdle;
    bool stop_ = false;
    uint64_t event_ = 0;
    PartyAnswer answer_;
    std::vector<uint64_t> total_;
    size_t expected_ = 0;  // sums of the total that is waited for
    Fiber fiber_;          // the last member: the work uses the others
};

}  // namespace dpboost
