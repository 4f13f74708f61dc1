#include "base/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <type_traits>

namespace dpboost {

WorkerPool::WorkerPool(int threads) {
    if (threads <= 1)
        return;
    threads_.reserve(static_cast<size_t>(threads) - 1);
    // A thread inherits the mask of its creator: signals stay with the calling thread.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    try {
        for (int worker = 1; worker < threads; worker++)
            threads_.emplace_back([this, worker] { ThreadMain(worker); });
    } catch (const std::system_error&) {
        // Fewer workers give the same result.
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

WorkerPool::~WorkerPool() {
    Stop();
}

void WorkerPool::Stop() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    threads_.clear();
}

void WorkerPool::RunParallel(size_t items, Interrupt& interrupt, Call call, void* context) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        call_ = call;
        context_ = context;
        items_ = items;
        next_ = 0;
        failure_ = nullptr;
        busy_ = static_cast<int>(threads_.size());
        generation_++;
    }
    wake_.notify_all();
    Work(0, &interrupt);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_ != nullptr)
        std::rethrow_exception(failure_);
}

// Takes items until none is left; the first exception takes the rest away.
void WorkerPool::Work(int worker, Interrupt* interrupt) {
    for (;;) {
        size_t item;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            if (next_ >= items_)
                return;
            item = next_++;
        }
        try {
            call_(context_, worker, item);
            if (interrupt != nullptr)
                interrupt->Poll();
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex_);
            if (failure_ == nullptr)
                failure_ = std::current_exception();
            next_ = items_;
            return;
        }
    }
}

void WorkerPool::ThreadMain(int worker) {
    uint64_t seen = 0;
    for (;;) {
        {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
            if (stopping_)
                return;
            seen = generation_;
        }
        Work(worker, nullptr);
        bool last;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            last = --busy_ == 0;
        }
        if (last)
            done_.notify_one();
    }
}

}  // namespace dpboost
