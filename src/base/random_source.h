// Where all randomness enters the core. Production injects ChaCha20 keyed by pg_strong_random
// (mechanism/chacha_source); tests inject a fixed key. Nothing else in the core may produce random bits.
#pragma once

#include <cstddef>

namespace dpboost {

class RandomSource {
  public:
    virtual ~RandomSource() = default;

    // Fills `size` bytes with independent uniform bits.
    virtual void Fill(void* out, std::size_t size) = 0;
};

}  // namespace dpboost
