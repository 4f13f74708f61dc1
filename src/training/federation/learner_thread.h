// A party's learner. It is one call that asks for a total again and again, while its session hears of totals in one SQL
// statement after the other: so it runs in a thread, and hands its masked sums over where the session waits for them. The
// thread blocks all signals, touches no PostgreSQL, and ends with this object.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mechanism/chacha_source.h"
#include "mechanism/parties/handshake.h"
#include "mechanism/parties/sum_exchange.h"
#include "training/paid_charge.h"
#include "training/training.h"

namespace dpboost {

// The randomness of one server that trains with others: the structure, which all draw alike from the session, and coins of
// its own, which key noise shares and samples.
class SessionStreams {
  public:
    SessionStreams(const Hash& structure_seed, ChaChaSource::Seed&& own);

  private:
    ChaChaSource public_source_;
    ChaChaSource private_source_;
    Random public_random_{public_source_};
    Random private_random_{private_source_};

  public:
    PublicRandom structure{public_random_};
    PrivateRandom coins{private_random_};
    ExactNoise noise{private_random_};
};

// The hash by which servers see that they have built the same model.
Hash ModelHash(std::string_view model_bytes);

// What a party says of one event: its masked sums, or that the training is over.
struct PartyAnswer {
    bool finished = false;
    Hash witness{};              // of the event
    std::vector<uint64_t> sums;  // masked
    Hash model{};                // when finished

    std::string Serialize() const;
    // Throws kInvalidParameter.
    static PartyAnswer Parse(std::string_view bytes);
};

class LearnerThread final : private SumExchange, private Interrupt {
  public:
    // Takes the receipt of the charge. The training has its plan and its rows, and must outlive this.
    LearnerThread(TrainingCore& training, PaidCharge&& paid, const NoiseParties& parties, Session&& session,
                  ChaChaSource::Seed&& own);
    ~LearnerThread() override;
    LearnerThread(const LearnerThread&) = delete;
    LearnerThread& operator=(const LearnerThread&) = delete;

    // Readable as soon as there is an answer; Take makes it unreadable.
    int ready_fd() const { return ready_fd_; }

    // Begins event `event` (1, 2, ...): each once and in order. Of all but the first, `total` is the last event's.
    // Throws kInvalidParameter for another event, or a total of another number of sums; then nothing happens.
    void Begin(uint64_t event, std::string_view total);

    // Whether there is an answer.
    bool Ready() noexcept;
    // The answer, once. Throws what the learner threw.
    PartyAnswer Take();

  private:
    enum class State { kIdle, kWorking, kAnswered, kTaken, kFinished, kFailed };

    void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override;
    void Poll() override;
    void Start();
    void Run() noexcept;
    void Announce(State state);  // with the lock held

    TrainingCore& training_;
    std::optional<PaidCharge> paid_;
    const NoiseParties parties_;
    Transcript transcript_;
    Masks masks_;
    SessionStreams streams_;
    int ready_fd_;

    std::mutex mutex_;
    std::condition_variable told_;
    State state_ = State::kIdle;
    bool stop_ = false;
    uint64_t event_ = 0;
    PartyAnswer answer_;
    std::vector<uint64_t> total_;
    size_t expected_ = 0;  // sums of the total that is waited for
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace dpboost
