// How long work stays polite: the core polls Interrupt at least every 10 ms of work and reports rounds to
// Progress. PostgreSQL's implementations live in postgres/; tests use the two that do nothing.
#pragma once

#include <cstdint>

namespace dpboost {

// Poll returns normally, or throws Error(kCanceled) when the caller asked to stop. Harmless interrupts are
// served and forgotten by the implementation.
class Interrupt {
  public:
    virtual ~Interrupt() = default;
    virtual void Poll() = 0;
};

// Receives public figures only: rounds done of the rounds planned, never anything counted from rows.
class Progress {
  public:
    virtual ~Progress() = default;
    virtual void Report(uint64_t rounds_done, uint64_t rounds_total) = 0;
};

class NoInterrupt final : public Interrupt {
  public:
    void Poll() override {}
};

class NoProgress final : public Progress {
  public:
    void Report(uint64_t, uint64_t) override {}
};

}  // namespace dpboost
