// Hashes and secrets of a federated training: BLAKE2b of libsodium over little-endian bytes, and keys that are wiped.
#pragma once

#include <array>
#include <string_view>

namespace dpboost {

using Hash = std::array<unsigned char, 32>;

// `purpose` keeps hashes for different ends apart; it is part of what is hashed, with its length.
Hash HashOf(std::string_view purpose, std::string_view bytes);

// The same under a secret key: a pseudo-random function of the bytes.
Hash KeyedHash(const Hash& key, std::string_view purpose, std::string_view bytes);

inline std::string_view View(const Hash& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// Compares in constant time.
bool SameHash(const Hash& a, const Hash& b);

// 32 secret bytes, wiped when they go.
class Secret {
  public:
    Secret() { bytes_.fill(0); }
    explicit Secret(const Hash& bytes) : bytes_(bytes) {}
    ~Secret();
    Secret(Secret&& other) noexcept;
    Secret& operator=(Secret&& other) noexcept;
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;

    const Hash& bytes() const { return bytes_; }
    Hash& bytes() { return bytes_; }

  private:
    Hash bytes_;
};

}  // namespace dpboost
