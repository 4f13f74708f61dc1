// Work that stops in the middle and goes on later: a call stack of its own, in the thread of whoever resumes it. So a learner
// that asks for something as if by a function call can be answered one SQL statement later, without a second thread and
// without waiting for one to wake up.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>

namespace dpboost {

class Fiber {
  public:
    // Nothing runs before the first Resume. Throws kOutOfMemory if there is no room for a stack.
    explicit Fiber(std::function<void()> work);
    // The work must be over, or have never begun: destructors of what is on its stack do not run here.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Runs the work until it pauses or ends. Throws what the work has thrown. Not after the end, nor from inside.
    void Resume();
    // Inside the work alone: goes back to whoever has resumed it. While an exception is handled or a lock is held it must not
    // be called, because both belong to the thread.
    void Pause();

    bool begun() const { return begun_; }
    bool ended() const { return ended_; }

  private:
    static void Enter(unsigned low, unsigned high);
    void Run() noexcept;
    void Switch(bool in, bool last);

    std::function<void()> work_;
    std::exception_ptr failure_;
    bool begun_ = false;
    bool ended_ = false;
    char* stack_;  // with a page below that nobody may touch
    ucontext_t inside_;
    ucontext_t outside_;
    // What sanitizers must be told of the stack outside.
    const void* outside_stack_ = nullptr;
    std::size_t outside_size_ = 0;
    void* inside_fiber_ = nullptr;
    void* outside_fiber_ = nullptr;
};

}  // namespace dpboost
