// Servers that train together, as threads of one process: an exchange in memory, keys of fixed seeds, and trainings of any
// method over rows that are spread over parties.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "mechanism/chacha_source.h"
#include "mechanism/parties/handshake.h"
#include "mechanism/parties/shared_noise.h"
#include "support/copy_rows.h"
#include "support/train_with.h"
#include "support/zero_noise.h"

namespace dpboost {

// Adds up what all its seats give. Seats with different witnesses are an error for all of them.
class MemoryExchange {
  public:
    explicit MemoryExchange(size_t seats) : seats_(seats) {
        for (size_t i = 0; i < seats; ++i)
            places_.push_back(std::make_unique<Seat>(*this, i));
    }

    SumExchange& seat(size_t i) { return *places_[i]; }
    // Whoever waits, and whoever comes, gets an error.
    void Leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        left_ = true;
        turned_.notify_all();
    }

    std::vector<std::vector<uint64_t>> totals;  // of all events
    int delay_ms = 0;                           // that an exchange takes
    // What a seat is told instead of the total of an event (from 0).
    std::function<void(size_t event, size_t seat, std::vector<uint64_t>*)> tell;

  private:
    class Seat final : public SumExchange {
      public:
        Seat(MemoryExchange& exchange, size_t number) : exchange_(exchange), number_(number) {}
        void Exchange(const Hash& witness, std::vector<uint64_t>* sums) override {
            exchange_.Add(number_, witness, sums);
        }

      private:
        MemoryExchange& exchange_;
        size_t number_;
    };

    void Add(size_t seat, const Hash& witness, std::vector<uint64_t>* sums) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (arrived_ == 0) {
            sum_.assign(sums->size(), 0);
            witness_ = witness;
        }
        if (sum_.size() != sums->size() || (witness_ != witness && !tell)) {
            left_ = true;
            turned_.notify_all();
            throw Error(ErrorCode::kInternal, "the servers disagree");
        }
        for (size_t i = 0; i < sums->size(); ++i)
            sum_[i] += (*sums)[i];
        const size_t turn = totals.size();
        if (++arrived_ == seats_) {
            if (delay_ms > 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
            arrived_ = 0;
            totals.push_back(sum_);
            turned_.notify_all();
        }
        turned_.wait(lock, [&] { return left_ || totals.size() > turn; });
        if (left_)
            throw Error(ErrorCode::kCanceled, "a server has left");
        *sums = totals[turn];
        if (tell)
            tell(turn, seat, sums);
    }

    size_t seats_;
    std::vector<std::unique_ptr<Seat>> places_;
    std::mutex mutex_;
    std::condition_variable turned_;
    size_t arrived_ = 0;
    bool left_ = false;
    std::vector<uint64_t> sum_;
    Hash witness_{};
};

inline Hash FixedHash(unsigned char a, unsigned char b = 0, unsigned char c = 0) {
    Hash hash{};
    hash[0] = a;
    hash[1] = b;
    hash[2] = c;
    return hash;
}

// A federation of so many parties "p00", "p01", ... with fixed keys.
class TestFederation {
  public:
    explicit TestFederation(size_t parties, uint32_t colluding = 0, uint32_t per_unit = 1) {
        std::vector<Party> list;
        for (size_t i = 0; i < parties; ++i) {
            keys.push_back(std::make_unique<SigningKey>(Secret(FixedHash(static_cast<unsigned char>(i), 1))));
            list.push_back({Name(i), keys[i]->public_key()});
        }
        roster = std::make_unique<Roster>("test", std::move(list), colluding, per_unit);
        agreement = Agreement("1.0", *roster, "call", "plan");
    }

    static std::string Name(size_t i) { return (i < 10 ? "p0" : "p") + std::to_string(i); }
    const NoiseParties& numbers() const { return roster->numbers(); }

    std::unique_ptr<Handshake> Open(size_t i, unsigned char nonce = 3) const {
        return std::make_unique<Handshake>(*roster, Name(i), *keys[i], agreement,
                                           Secret(FixedHash(static_cast<unsigned char>(i), 2, nonce)),
                                           FixedHash(static_cast<unsigned char>(i), nonce));
    }
    // One session of all parties.
    std::vector<Session> Join(unsigned char nonce = 3) const {
        std::vector<std::unique_ptr<Handshake>> opened;
        std::vector<std::string> openings;
        for (size_t i = 0; i < keys.size(); ++i) {
            opened.push_back(Open(i, nonce));
            openings.push_back(opened[i]->opening());
        }
        std::vector<Session> sessions;
        for (const auto& handshake : opened)
            sessions.push_back(handshake->Join(openings));
        return sessions;
    }

    std::vector<std::unique_ptr<SigningKey>> keys;
    std::unique_ptr<Roster> roster;
    Hash agreement;
};

// One server's training: the structure comes from `structure`, all else from `coins`.
inline Model TrainAsServer(const MethodInfo& method, const Dataset& rows, double epsilon, double delta,
                           const std::vector<GivenOption>& given, const NoiseParties& parties,
                           Random& structure, Random& coins, NoiseSource& noise) {
    const std::unique_ptr<Learner> learner = LearnerOf(method, rows, epsilon, delta, given);
    Plan plan = PlanOf(*learner, epsilon, delta);
    CheckSharedPlan(plan, parties);
    plan.SetNoiseFactor(parties.Factor());
    Releaser releaser(plan, noise);
    PublicRandom public_random(structure);
    PrivateRandom private_random(coins);
    Model model(rows.features(), rows.target(), learner->link());
    NoProgress progress;
    NoInterrupt interrupt;
    Run run{rows, releaser, public_random, private_random, model, progress, interrupt, {}};
    run.across_servers = true;
    learner->Train(run);
    return model;
}

// A model as a short text.
inline std::string ShortHash(const Model& model) {
    PartyKey printed;
    printed.bytes = HashOf("model", model.Serialize());
    return printed.Text().substr(6, 16);
}

struct TogetherOptions {
    bool noise = true;
    unsigned char seed = 1;
    bool coordinator = true;
    // Where a party's shares come from; exact or no noise if it is not given.
    std::function<std::unique_ptr<NoiseSource>(size_t party, Random& random)> own = {};
    std::function<void(size_t server, const Model& model)> keep = {};
};

// A training by all parties at once, and by a coordinator without rows. Hashes of the models, the coordinator's last; an
// error's text instead where there was one.
inline std::vector<std::string> TrainTogether(const TestFederation& federation, const MethodInfo& method,
                                              const std::vector<Dataset>& rows, double epsilon, double delta,
                                              const std::vector<GivenOption>& given, MemoryExchange& exchange,
                                              const TogetherOptions& options = {}) {
    const size_t parties = rows.size();
    std::vector<Session> sessions = federation.Join(options.seed);
    const size_t servers = parties + (options.coordinator ? 1 : 0);
    std::vector<std::string> results(servers);
    std::vector<std::thread> threads;
    const Dataset none = ChosenRows(rows[0], false, [](size_t) { return false; });
    for (size_t i = 0; i < servers; ++i)
        threads.emplace_back([&, i] {
            const bool is_party = i < parties;
            Session& session = sessions[is_party ? i : 0];
            ChaChaSource structure_source(Hash(session.structure));
            ChaChaSource coin_source(FixedHash(static_cast<unsigned char>(i), options.seed, 99));
            Random structure(structure_source), coins(coin_source);
            Transcript transcript(session.session);
            std::unique_ptr<NoiseSource> own = std::make_unique<ZeroNoise>();
            if (options.own)
                own = options.own(i, coins);
            else if (options.noise)
                own = std::make_unique<ExactNoise>(coins);
            Masks masks(is_party ? std::move(session.keys) : std::vector<PairKey>());
            SharedNoise shared(federation.numbers(), transcript, masks, exchange.seat(i), *own);
            FollowedNoise followed(federation.numbers(), transcript, exchange.seat(i));
            NoiseSource& noise = is_party ? static_cast<NoiseSource&>(shared) : followed;
            try {
                const Model model = TrainAsServer(method, is_party ? rows[i] : none, epsilon, delta, given,
                                                  federation.numbers(), structure, coins, noise);
                results[i] = ShortHash(model);
                if (options.keep)
                    options.keep(i, model);
            } catch (const Error& error) {
                results[i] = "error: " + error.message();
                exchange.Leave();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    return results;
}

}  // namespace dpboost
