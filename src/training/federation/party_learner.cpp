#include "training/federation/party_learner.h"

#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace dpboost {

namespace {

[[noreturn]] void RefuseOrder(const char* what) {
    throw Error(ErrorCode::kInvalidParameter, "a round of a federated training is out of order", what);
}

[[noreturn]] void ThrowEnded() {
    throw Error(ErrorCode::kCanceled, "the federated training has ended");
}

}  // namespace

std::string PartyAnswer::Serialize() const {
    ByteWriter writer;
    writer.U8(finished ? 1 : 0);
    writer.Raw(View(finished ? result : witness));
    writer.Raw(SumBytes(sums));
    return writer.Take();
}

PartyAnswer PartyAnswer::Parse(std::string_view bytes) {
    constexpr size_t kHead = 1 + std::tuple_size<Hash>::value;
    if (bytes.size() < kHead || static_cast<unsigned char>(bytes[0]) > 1 ||
        (bytes[0] == 1 && bytes.size() > kHead))
        throw Error(ErrorCode::kInvalidParameter, "an answer of a federated training has a wrong shape");
    PartyAnswer answer;
    answer.finished = bytes[0] == 1;
    Hash& hash = answer.finished ? answer.result : answer.witness;
    std::copy(bytes.begin() + 1, bytes.begin() + kHead, hash.begin());
    answer.sums = SumsOf(bytes.substr(kHead), (bytes.size() - kHead) / sizeof(uint64_t));
    return answer;
}

PartyLearner::PartyLearner(SharedWork work, PaidCharge&& paid, const NoiseParties& parties, Session&& session,
                           ChaChaSource::Seed&& own, bool (*interrupted)())
    : work_(std::move(work)),
      paid_(std::move(paid)),
      parties_(parties),
      transcript_(session.session),
      masks_(std::move(session.keys)),
      streams_(session.structure, std::move(own)),
      interrupted_(interrupted),
      fiber_([this] { Work(); }) {}

PartyLearner::~PartyLearner() {
    stop_ = true;
    while (fiber_.begun() && !fiber_.ended()) {
        try {
            fiber_.Resume();
        } catch (...) {  // that it has ended is all that counts
        }
    }
}

void PartyLearner::Begin(uint64_t event, std::string_view total) {
    if (event != event_ + 1)
        RefuseOrder("Each event is answered once, one after the other.");
    if (event == 1) {
        if (!total.empty())
            RefuseOrder("There is no total before the first event.");
    } else {
        if (state_ != State::kTaken)
            RefuseOrder("The last event is not over.");
        total_ = SumsOf(total, expected_);
    }
    state_ = State::kWorking;
    event_ = event;
}

bool PartyLearner::Advance() {
    if (state_ != State::kWorking)
        RefuseOrder("No event has begun.");
    try {
        fiber_.Resume();
    } catch (...) {
        state_ = State::kFailed;
        throw;
    }
    return state_ != State::kWorking;
}

PartyAnswer PartyLearner::Take() {
    if (state_ != State::kAnswered && state_ != State::kFinished)
        RefuseOrder("There is no answer.");
    state_ = state_ == State::kAnswered ? State::kTaken : State::kFailed;
    return std::move(answer_);
}

void PartyLearner::Exchange(const Hash& witness, std::vector<uint64_t>* sums) {
    answer_ = {};
    answer_.witness = witness;
    expected_ = sums->size();
    answer_.sums = std::move(*sums);
    state_ = State::kAnswered;
    fiber_.Pause();
    if (stop_)
        ThrowEnded();
    *sums = std::move(total_);
}

void PartyLearner::Poll() {
    if (!stop_ && interrupted_())
        fiber_.Pause();
    if (stop_)
        ThrowEnded();
}

void PartyLearner::Work() {
    NoProgress progress;
    SharedNoise noise(parties_, transcript_, masks_, *this, streams_.noise);
    const std::string result = work_(std::move(paid_), streams_, noise, *this, progress);
    answer_ = {};
    answer_.finished = true;
    answer_.result = ResultHash(result);
    state_ = State::kFinished;
}

}  // namespace dpboost
