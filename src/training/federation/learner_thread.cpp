#include "training/federation/learner_thread.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "mechanism/parties/shared_noise.h"

namespace dpboost {

namespace {

ChaChaSource::Seed SeedOf(const Hash& hash) {
    return hash;
}

[[noreturn]] void RefuseOrder(const char* what) {
    throw Error(ErrorCode::kInvalidParameter, "a round of a federated training is out of order", what);
}

}  // namespace

SessionStreams::SessionStreams(const Hash& structure_seed, ChaChaSource::Seed&& own)
    : public_source_(SeedOf(structure_seed)), private_source_(std::move(own)) {}

Hash ModelHash(std::string_view model_bytes) {
    return HashOf("model", model_bytes);
}

std::string PartyAnswer::Serialize() const {
    ByteWriter writer;
    writer.U8(finished ? 1 : 0);
    writer.Raw(View(finished ? model : witness));
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
    Hash& hash = answer.finished ? answer.model : answer.witness;
    std::copy(bytes.begin() + 1, bytes.begin() + kHead, hash.begin());
    answer.sums = SumsOf(bytes.substr(kHead), (bytes.size() - kHead) / sizeof(uint64_t));
    return answer;
}

LearnerThread::LearnerThread(TrainingCore& training, PaidCharge&& paid, const NoiseParties& parties,
                             Session&& session, ChaChaSource::Seed&& own)
    : training_(training),
      paid_(std::move(paid)),
      parties_(parties),
      transcript_(session.session),
      masks_(std::move(session.keys)),
      streams_(session.structure, std::move(own)),
      ready_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (ready_fd_ < 0)
        throw Error(ErrorCode::kLimitExceeded, "could not open an event descriptor for a federated training");
}

LearnerThread::~LearnerThread() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        told_.notify_all();
    }
    if (thread_.joinable())
        thread_.join();
    close(ready_fd_);
}

// The thread inherits the mask under which it is created: no signal handler of the server ever runs in it.
void LearnerThread::Start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { Run(); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw Error(ErrorCode::kOutOfMemory, "could not start a thread for a federated training");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LearnerThread::Begin(uint64_t event, std::string_view total) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (event != event_ + 1)
        RefuseOrder("Each event is answered once, one after the other.");
    if (event == 1) {
        if (!total.empty())
            RefuseOrder("There is no total before the first event.");
        state_ = State::kWorking;
        event_ = 1;
        Start();
        return;
    }
    if (state_ != State::kTaken)
        RefuseOrder("The last event is not over.");
    total_ = SumsOf(total, expected_);
    state_ = State::kWorking;
    event_ = event;
    told_.notify_all();
}

bool LearnerThread::Ready() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return state_ == State::kAnswered || state_ == State::kFinished || state_ == State::kFailed;
}

PartyAnswer LearnerThread::Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t count;
    if (read(ready_fd_, &count, sizeof count) != static_cast<ssize_t>(sizeof count))
        RefuseOrder("There is no answer.");
    if (state_ == State::kFailed)
        std::rethrow_exception(failure_);
    if (state_ == State::kAnswered)
        state_ = State::kTaken;
    return std::move(answer_);
}

void LearnerThread::Announce(State state) {
    state_ = state;
    const uint64_t one = 1;
    if (write(ready_fd_, &one, sizeof one) != static_cast<ssize_t>(sizeof one))
        stop_ = true;  // cannot be: the counter is far from full
}

void LearnerThread::Exchange(const Hash& witness, std::vector<uint64_t>* sums) {
    std::unique_lock<std::mutex> lock(mutex_);
    answer_ = {};
    answer_.witness = witness;
    expected_ = sums->size();
    answer_.sums = std::move(*sums);
    Announce(State::kAnswered);
    told_.wait(lock, [this] { return stop_ || state_ == State::kWorking; });
    if (stop_)
        throw Error(ErrorCode::kCanceled, "the federated training has ended");
    *sums = std::move(total_);
}

void LearnerThread::Poll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_)
        throw Error(ErrorCode::kCanceled, "the federated training has ended");
}

void LearnerThread::Run() noexcept {
    std::exception_ptr failure;
    Hash model{};
    try {
        NoProgress progress;
        SharedNoise noise(parties_, transcript_, masks_, *this, streams_.noise);
        training_.TrainWith(std::move(*paid_), streams_.structure, streams_.coins, noise, *this, progress);
        model = ModelHash(training_.model_bytes());
    } catch (...) {
        failure = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_ = failure;
    answer_ = {};
    answer_.finished = true;
    answer_.model = model;
    Announce(failure ? State::kFailed : State::kFinished);
}

}  // namespace dpboost
