// Optional threads for work on row blocks. Randomness is drawn in one order and all sums are integers, so results do not
// depend on the number of threads. Workers block every signal, touch nothing of PostgreSQL's and are joined before the
// pool goes away. A worker that comes late is not waited for: two threads are no slower than one where work is short.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"

namespace dpboost {

class WorkerPool {
  public:
    // The calling thread is one of the `threads` workers; the others begin when there is work for them. Where the system
    // refuses a thread there are fewer.
    explicit WorkerPool(int threads) : most_(threads > 1 ? threads : 1) {}
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // The numbers of workers are below this.
    int workers() const { return most_; }

    // Calls task(worker, item) once for every item below `items`, in any order and on any worker; worker 0 is
    // the caller, which polls `interrupt` after each of its items. An exception of the task or of the poll
    // stops the work and leaves here, after all workers have come to rest.
    template <typename Task>
    void Run(size_t items, Interrupt& interrupt, Task&& task) {
        if (most_ == 1 || items <= 1) {
            for (size_t item = 0; item < items; item++) {
                task(0, item);
                interrupt.Poll();
            }
            return;
        }
        RunParallel(
            items, interrupt,
            [](void* context, int worker, size_t item) {
                (*static_cast<std::remove_reference_t<Task>*>(context))(worker, item);
            },
            &task);
    }

  private:
    using Call = void (*)(void* context, int worker, size_t item);

    void Start();
    void RunParallel(size_t items, Interrupt& interrupt, Call call, void* context);
    void Work(int worker, Interrupt* interrupt);
    void ThreadMain(int worker);
    // Whether the worker takes part in the work that is under way.
    bool Join(uint64_t* seen);
    void Leave();

    const int most_;
    bool started_ = false;
    std::mutex mutex_;  // of all that is no atomic
    std::condition_variable wake_;
    std::condition_variable done_;
    std::atomic<uint64_t> generation_{0};  // of work
    std::atomic<bool> stopping_{false};
    std::atomic<int> active_{0};  // workers other than the caller that are at it
    std::atomic<size_t> next_{0};
    bool open_ = false;  // workers may still join
    int sleeping_ = 0;
    Call call_ = nullptr;
    void* context_ = nullptr;
    size_t items_ = 0;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace dpboost
