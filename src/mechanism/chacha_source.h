// The production source of all randomness: one ChaCha20 stream per training, keyed by 32 bytes that the
// PostgreSQL layer takes from pg_strong_random. The key stays in this object and is wiped with it; a fork
// does not share a stream, because a training begins and ends in one process and never forks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random_source.h"

namespace dpboost {

class ChaChaSource final : public RandomSource {
  public:
    using Seed = std::array<unsigned char, 32>;

    // Takes the seed over and wipes the caller's copy, so that no second stream can be keyed by it.
    explicit ChaChaSource(Seed&& seed);
    ~ChaChaSource() override;

    ChaChaSource(const ChaChaSource&) = delete;
    ChaChaSource& operator=(const ChaChaSource&) = delete;

    // Fresh bytes of the key stream. Every call has a nonce of its own, so no byte is ever given twice;
    // callers that want speed ask for some kilobytes at a time (Random does).
    void Fill(void* out, std::size_t size) override;

  private:
    Seed key_;
    uint64_t next_nonce_ = 0;
};

}  // namespace dpboost
