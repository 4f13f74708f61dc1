#include "base/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace dpboost {

namespace {

constexpr std::size_t kGuard = 64 * 1024;        // pages are no larger
constexpr std::size_t kStack = 8 * 1024 * 1024;  // as a thread has; taken when it is touched

}  // namespace

Fiber::Fiber(std::function<void()> work) : work_(std::move(work)) {
    void* const memory = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(ErrorCode::kOutOfMemory, "out of memory", "There is no room for a stack.");
    stack_ = static_cast<char*>(memory) + kGuard;
    if (mprotect(memory, kGuard, PROT_NONE) != 0 || getcontext(&inside_) != 0) {
        munmap(memory, kGuard + kStack);
        throw Error(ErrorCode::kOutOfMemory, "out of memory", "There is no room for a stack.");
    }
    inside_.uc_stack.ss_sp = stack_;
    inside_.uc_stack.ss_size = kStack;
    inside_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext hands over integers
    makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::Enter), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(static_cast<std::uint64_t>(self) >> 32));
#if defined(__SANITIZE_THREAD__)
    inside_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(inside_fiber_);
#endif
    munmap(stack_ - kGuard, kGuard + kStack);
}

// One way or the other. `last`: nothing comes back.
void Fiber::Switch(bool in, bool last) {
    (void)last;
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(last ? nullptr : &fake, in ? stack_ : outside_stack_,
                                   in ? kStack : outside_size_);
#endif
#if defined(__SANITIZE_THREAD__)
    if (in)
        outside_fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(in ? inside_fiber_ : outside_fiber_, 0);
#endif
    swapcontext(in ? &outside_ : &inside_, in ? &inside_ : &outside_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, in ? nullptr : &outside_stack_, in ? nullptr : &outside_size_);
#endif
}

void Fiber::Enter(unsigned low, unsigned high) {
    auto* fiber =
        reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low));
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &fiber->outside_stack_, &fiber->outside_size_);
#endif
    fiber->Run();
    fiber->Switch(false, true);
}

void Fiber::Run() noexcept {
    try {
        work_();
    } catch (...) {
        failure_ = std::current_exception();
    }
    ended_ = true;
}

void Fiber::Resume() {
    CheckInternal(!ended_, "work that is over does not go on");
    begun_ = true;
    Switch(true, false);
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Fiber::Pause() {
    Switch(false, false);
}

}  // namespace dpboost
