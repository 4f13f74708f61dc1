// Every item is worked on once, exceptions of tasks and polls leave the pool in order, and workers take no
// signals.
#include "base/worker_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "base/error.h"

namespace dpboost {
namespace {

TEST(WorkerPool, EachItemOnce) {
    for (const int threads : {1, 2, 4}) {
        WorkerPool pool(threads);
        NoInterrupt interrupt;
        for (const size_t items : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
            std::vector<std::atomic<int>> seen(items);
            pool.Run(items, interrupt, [&](int worker, size_t item) {
                EXPECT_LT(worker, pool.workers());
                seen[item]++;
            });
            for (const std::atomic<int>& count : seen)
                EXPECT_EQ(count, 1);
        }
    }
}

TEST(WorkerPool, AFailureStopsTheWorkAndThePoolStaysUsable) {
    for (const int threads : {1, 3}) {
        WorkerPool pool(threads);
        NoInterrupt interrupt;
        std::atomic<int> calls{0};
        EXPECT_THROW(pool.Run(100000, interrupt,
                              [&](int, size_t item) {
                                  calls++;
                                  if (item == 10)
                                      throw Error(ErrorCode::kInternal, "broken");
                              }),
                     Error);
        EXPECT_LT(calls, 100000);
        calls = 0;
        pool.Run(50, interrupt, [&](int, size_t) { calls++; });
        EXPECT_EQ(calls, 50);
    }
}

// Work that is done when a worker comes is done: nobody waits for one that has not begun. Many short runs in a row,
// which a pool that lets every worker pass through would make as slow as its slowest wake-up.
TEST(WorkerPool, RunsMayFollowEachOtherAtOnce) {
    WorkerPool pool(3);
    NoInterrupt interrupt;
    std::atomic<size_t> calls{0};
    size_t expected = 0;
    for (size_t run = 0; run < 20000; run++) {
        const size_t items = 2 + run % 7;
        expected += items;
        pool.Run(items, interrupt, [&](int, size_t) { calls++; });
        ASSERT_EQ(calls, expected);
    }
}

TEST(WorkerPool, SleepersAreWokenForMuchWork) {
    WorkerPool pool(2);
    NoInterrupt interrupt;
    for (int round = 0; round < 3; round++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // by now they sleep
        std::atomic<int> others{0};
        pool.Run(64, interrupt, [&](int worker, size_t) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            others += worker != 0;
        });
        EXPECT_GT(others, 0);
    }
}

TEST(WorkerPool, WorkersBlockSignals) {
    WorkerPool pool(3);
    NoInterrupt interrupt;
    std::atomic<int> unblocked{0};
    std::atomic<int> others{0};
    pool.Run(64, interrupt, [&](int worker, size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (worker == 0)
            return;
        others++;
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGHUP})
            unblocked += !sigismember(&mask, signal);
    });
    EXPECT_GT(others, 0);
    EXPECT_EQ(unblocked, 0);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_FALSE(sigismember(&mask, SIGINT));
}

}  // namespace
}  // namespace dpboost
