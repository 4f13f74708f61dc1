// ChaCha20 of libsodium as a stream of random bytes.
#include "mechanism/chacha_source.h"

#include <sodium.h>

#include "base/error.h"

namespace dpboost {

static_assert(std::tuple_size<ChaChaSource::Seed>::value == crypto_stream_chacha20_KEYBYTES, "key size");
static_assert(sizeof(uint64_t) == crypto_stream_chacha20_NONCEBYTES, "nonce size");

ChaChaSource::ChaChaSource(Seed&& seed) : key_(seed) {
    sodium_memzero(seed.data(), seed.size());
    // Also selects the vectorised implementation; calling it again does nothing.
    if (sodium_init() < 0) {
        sodium_memzero(key_.data(), key_.size());
        throw Error(ErrorCode::kInternal, "could not initialize libsodium");
    }
}

ChaChaSource::~ChaChaSource() {
    sodium_memzero(key_.data(), key_.size());
}

void ChaChaSource::Fill(void* out, std::size_t size) {
    // (nonce, block counter) never repeats under the key: the nonce counts the calls, and a call starts at
    // block 0.
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    for (unsigned char& byte : nonce) {
        byte = static_cast<unsigned char>(next_nonce_ >> (8 * (&byte - nonce)));
    }
    ++next_nonce_;
    crypto_stream_chacha20(static_cast<unsigned char*>(out), size, nonce, key_.data());
}

}  // namespace dpboost
