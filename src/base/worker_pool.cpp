#include "base/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>

namespace dpboost {
namespace {

// Waking a thread that sleeps takes the caller some microseconds, and the thread tens of them. So a worker looks out for
// the next piece of work this long before it sleeps, and sleeping ones are woken for this many items only.
constexpr std::chrono::microseconds kLookOut{50};
constexpr size_t kWorthWaking = 4;

void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

// Until done() or a little while has passed.
template <typename Done>
void LookOut(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + kLookOut;
    do {
        for (int i = 0; i < 64; i++) {
            if (done())
                return;
            Pause();
        }
    } while (std::chrono::steady_clock::now() < end);
}

}  // namespace

void WorkerPool::Start() {
    started_ = true;
    threads_.reserve(static_cast<size_t>(most_) - 1);
    // A thread inherits the mask of its creator: signals stay with the calling thread.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    try {
        for (int worker = 1; worker < most_; worker++)
            threads_.emplace_back([this, worker] { ThreadMain(worker); });
    } catch (...) {
        // Fewer workers give the same result.
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

WorkerPool::~WorkerPool() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void WorkerPool::RunParallel(size_t items, Interrupt& interrupt, Call call, void* context) {
    if (!started_ && items >= kWorthWaking)
        Start();
    bool wake;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        call_ = call;
        context_ = context;
        items_ = items;
        next_ = 0;
        failure_ = nullptr;
        open_ = true;
        generation_++;
        wake = sleeping_ > 0 && items >= kWorthWaking;
    }
    if (wake)
        wake_.notify_all();
    Work(0, &interrupt);
    {
        std::lock_guard<std::mutex> lock(mutex_);
        open_ = false;
    }
    LookOut([this] { return active_ == 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return active_ == 0; });
    if (failure_ != nullptr)
        std::rethrow_exception(failure_);
}

// Takes items until none is left; the first exception takes the rest away.
void WorkerPool::Work(int worker, Interrupt* interrupt) {
    try {
        for (size_t item = next_++; item < items_; item = next_++) {
            call_(context_, worker, item);
            if (interrupt != nullptr)
                interrupt->Poll();
        }
    } catch (...) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (failure_ == nullptr)
            failure_ = std::current_exception();
        next_ = items_;
    }
}

bool WorkerPool::Join(uint64_t* seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_++;
    wake_.wait(lock, [&] { return stopping_ || generation_ != *seen; });
    sleeping_--;
    *seen = generation_;
    if (stopping_ || !open_ || next_ >= items_)
        return false;
    active_++;
    return true;
}

void WorkerPool::Leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--active_ == 0)
        done_.notify_one();
}

void WorkerPool::ThreadMain(int worker) {
    uint64_t seen = 0;
    while (!stopping_) {
        LookOut([&] { return stopping_ || generation_ != seen; });
        if (Join(&seen)) {
            Work(worker, nullptr);
            Leave();
        }
    }
}

}  // namespace dpboost
