#include "mechanism/parties/hash.h"

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"

namespace dpboost {

static_assert(std::tuple_size<Hash>::value == crypto_generichash_BYTES, "size of a hash");
static_assert(std::tuple_size<Hash>::value == crypto_generichash_KEYBYTES, "size of a key");

namespace {

Hash Generic(const unsigned char* key, size_t key_size, std::string_view purpose, std::string_view bytes) {
    ByteWriter writer;
    writer.Text("dpboost 1");
    writer.Text(purpose);
    const auto* prefix = reinterpret_cast<const unsigned char*>(writer.bytes().data());
    crypto_generichash_state state;
    Hash hash;
    const bool done = crypto_generichash_init(&state, key, key_size, hash.size()) == 0 &&
                      crypto_generichash_update(&state, prefix, writer.bytes().size()) == 0 &&
                      crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()),
                                                bytes.size()) == 0 &&
                      crypto_generichash_final(&state, hash.data(), hash.size()) == 0;
    sodium_memzero(&state, sizeof state);
    CheckInternal(done, "could not hash");
    return hash;
}

}  // namespace

Hash HashOf(std::string_view purpose, std::string_view bytes) {
    return Generic(nullptr, 0, purpose, bytes);
}

Hash KeyedHash(const Hash& key, std::string_view purpose, std::string_view bytes) {
    return Generic(key.data(), key.size(), purpose, bytes);
}

bool SameHash(const Hash& a, const Hash& b) {
    return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Secret::~Secret() {
    sodium_memzero(bytes_.data(), bytes_.size());
}

Secret::Secret(Secret&& other) noexcept : bytes_(other.bytes_) {
    sodium_memzero(other.bytes_.data(), other.bytes_.size());
}

Secret& Secret::operator=(Secret&& other) noexcept {
    if (this != &other) {
        bytes_ = other.bytes_;
        sodium_memzero(other.bytes_.data(), other.bytes_.size());
    }
    return *this;
}

}  // namespace dpboost
