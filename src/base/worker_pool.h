// Optional threads for work on row blocks. All randomness is drawn by the calling thread and all sums are
// integers, so results do not depend on the number of threads. Workers block every signal, touch nothing of
// PostgreSQL's and are joined before the pool goes away.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/interrupt.h"

namespace dpboost {

class WorkerPool {
  public:
    // The calling thread is one of the `threads` workers. Where the system refuses a thread the pool has
    // fewer.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int workers() const { return static_cast<int>(threads_.size()) + 1; }

    // Calls task(worker, item) once for every item below `items`, in any order and on any worker; worker 0 is
    // the caller, which polls `interrupt` after each of its items. An exception of the task or of the poll
    // stops the work and leaves here, after all workers have come to rest.
    template <typename Task>
    void Run(size_t items, Interrupt& interrupt, Task&& task) {
        if (threads_.empty() || items <= 1) {
            for (size_t item = 0; item < items; item++) {
                task(0, item);
                interrupt.Poll();
            }
            return;
        }
        RunParallel(
            items, interrupt,
            [](void* context, int worker, size_t item) { (*static_cast<Task*>(context))(worker, item); },
            &task);
    }

  private:
    using Call = void (*)(void* context, int worker, size_t item);

    void RunParallel(size_t items, Interrupt& interrupt, Call call, void* context);
    void Work(int worker, Interrupt* interrupt);
    void ThreadMain(int worker);
    void Stop();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    uint64_t generation_ = 0;
    int busy_ = 0;
    bool stopping_ = false;
    Call call_ = nullptr;
    void* context_ = nullptr;
    size_t items_ = 0;
    size_t next_ = 0;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace dpboost
