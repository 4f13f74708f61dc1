// The door between PostgreSQL and the core. PostgreSQL reports errors by longjmp, which skips destructors;
// the core reports them by C++ exceptions, which must never reach PostgreSQL's C frames. Code on the
// PostgreSQL side holds only trivially destructible locals and enters the core through CallCore; the core may
// throw and holds what it likes, and reaches PostgreSQL only through PgInterrupt and CallPostgres. Either
// kind of error crosses with all it carries.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "base/current_interrupt.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "postgres/boundary/pg.h"

namespace dpboost {

// What went wrong inside the core, as plain data that a longjmp may skip. Longer texts are cut at a
// character.
struct CoreFailure {
    static constexpr int kTextSize = 2048;
    int sqlstate;
    char message[kTextSize];
    char detail[kTextSize];
    char hint[kTextSize];
};
static_assert(std::is_trivially_destructible_v<CoreFailure>, "a longjmp must be able to skip it");

namespace boundary_internal {

// A PostgreSQL error (or a request to terminate) that was caught inside the core and waits for the door.
extern bool postgres_error_waits;

// Writes the exception being handled into the record; call from a catch block only.
void RecordException(CoreFailure* failure) noexcept;

// Raises what the record says, or the waiting PostgreSQL error unchanged, which always takes precedence.
[[noreturn]] void RaiseFailure(const CoreFailure& failure);

// Runs body(argument) under PG_TRY; if it raised, keeps the error for the door and returns false.
bool RunPostgres(void (*body)(void*), void* argument) noexcept;

// Unwinds the core because a PostgreSQL error waits at the door.
[[noreturn]] void ThrowWaitingError();

// True when all went well. Nothing escapes: also an exception type that we have never heard of ends in the
// record.
template <class F>
inline bool RunCore(F& body, CoreFailure* failure) noexcept {
    try {
        body();
        if (!postgres_error_waits)
            return true;
        // The core swallowed the exception that announced a PostgreSQL error: the error is raised all the
        // same.
        return false;
    } catch (...) {
        RecordException(failure);
        return false;
    }
}

}  // namespace boundary_internal

// Runs `body` in the core, where it may throw, and raises a PostgreSQL error if it did: dpboost::Error with
// its SQLSTATE, std::bad_alloc as 53200, everything else as XX000, a PostgreSQL error that happened inside
// unchanged. The error is raised after body's frames and destructors are gone. `body` captures by reference
// and calls no PostgreSQL.
template <class F>
inline void CallCore(F&& body) {
    static_assert(std::is_trivially_destructible_v<std::remove_reference_t<F>>,
                  "capture by reference: PostgreSQL's longjmp would skip this lambda's destructor");
    CoreFailure failure;
    if (!boundary_internal::RunCore(body, &failure))
        boundary_internal::RaiseFailure(failure);
}

// Lets core code call PostgreSQL: `body` may raise but not throw, and holds only trivially destructible
// locals. Its error unwinds the core as an exception and leaves the door as it was raised.
template <class F>
inline void CallPostgres(F&& body) {
    static_assert(std::is_nothrow_invocable_v<F>,
                  "write `[&]() noexcept`: an exception must not cross PG_TRY");
    using Body = std::remove_reference_t<F>;
    if (!boundary_internal::RunPostgres([](void* argument) { (*static_cast<Body*>(argument))(); }, &body))
        boundary_internal::ThrowWaitingError();
}

// PostgreSQL's cancellation as the core sees it. Poll serves harmless interrupts (barriers, memory reports,
// parallel messages) and returns; a cancel, a timeout or a terminate throws Error(kCanceled), and the door
// raises the original.
class PgInterrupt final : public Interrupt {
  public:
    void Poll() override {
        if (InterruptPending)
            Serve();
    }

  private:
    static void Serve();
};

// A core object that lives as long as a memory context, for state across calls such as an aggregate's. The
// holder and its callback are palloc'ed and registered before the object is built, so that no failure can
// lose the object; the object itself is on the C++ heap, properly aligned. T's destructor must not throw and
// not call PostgreSQL.
template <class T>
class CoreState {
  public:
    template <class... Args>
    static CoreState* Make(MemoryContext context, Args&&... args) {
        auto* state = static_cast<CoreState*>(MemoryContextAllocZero(context, sizeof(CoreState)));
        state->callback_.func = Free;
        state->callback_.arg = state;
        MemoryContextRegisterResetCallback(context, &state->callback_);
        CallCore([&] {
            PgInterrupt interrupt;
            const InterruptScope scope(interrupt);  // a core object may take its time to be made
            state->object_ = new T(std::forward<Args>(args)...);
        });
        return state;
    }

    // Frees the object now; the context's reset then finds nothing to do.
    void Release() noexcept {
        T* object = object_;
        object_ = nullptr;
        delete object;
    }

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }

  private:
    // At process exit (FATAL may come in the middle of core work) the kernel takes the memory back: running a
    // destructor below frames or threads that still use the object could crash the server.
    static void Free(void* argument) {
        if (!proc_exit_inprogress)
            static_cast<CoreState*>(argument)->Release();
    }

    MemoryContextCallback callback_;
    T* object_;
};

}  // namespace dpboost
