// Little-endian bytes, the same on every machine, for what is stored with a model. The reader is strict: it
// never reads past its end, and a count is believed only if the bytes it announces are really there, so that
// corrupt input can neither crash nor allocate much.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dpboost {

// Eight bytes, written out so that compilers make one load of it.
inline uint64_t LittleWord(const char* bytes) {
    const auto* b = reinterpret_cast<const unsigned char*>(bytes);
    return uint64_t{b[0]} | uint64_t{b[1]} << 8 | uint64_t{b[2]} << 16 | uint64_t{b[3]} << 24 |
           uint64_t{b[4]} << 32 | uint64_t{b[5]} << 40 | uint64_t{b[6]} << 48 | uint64_t{b[7]} << 56;
}

class ByteWriter {
  public:
    void U8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void U16(uint16_t value) { Little(value, 2); }
    void U32(uint32_t value) { Little(value, 4); }
    void U64(uint64_t value) { Little(value, 8); }
    void I32(int32_t value) { U32(static_cast<uint32_t>(value)); }
    void I64(int64_t value) { U64(static_cast<uint64_t>(value)); }
    void F32(float value) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        U32(bits);
    }
    void F64(double value) {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        U64(bits);
    }
    void Text(std::string_view text) {
        U32(static_cast<uint32_t>(text.size()));
        bytes_.append(text);
    }
    void Raw(std::string_view bytes) { bytes_.append(bytes); }

    const std::string& bytes() const { return bytes_; }
    std::string Take() { return std::move(bytes_); }

  private:
    void Little(uint64_t value, int size) {
        for (int i = 0; i < size; i++)
            U8(static_cast<uint8_t>(value >> (8 * i)));
    }

    std::string bytes_;
};

class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    uint8_t U8() { return static_cast<uint8_t>(Little(1)); }
    uint16_t U16() { return static_cast<uint16_t>(Little(2)); }
    uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
    uint64_t U64() { return LittleWord(Raw(8).data()); }
    int32_t I32() { return static_cast<int32_t>(U32()); }
    int64_t I64() { return static_cast<int64_t>(U64()); }
    float F32() {
        uint32_t bits = U32();
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    double F64() {
        uint64_t bits = U64();
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    std::string_view Text() { return Raw(U32()); }
    std::string_view Raw(size_t size) {
        Require(size <= bytes_.size());
        std::string_view head = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return head;
    }

    // A count of things of at least `size` bytes each; refused unless that many bytes are left.
    uint32_t Count(size_t size) {
        uint32_t count = U32();
        Require(count <= bytes_.size() / size);
        return count;
    }
    size_t left() const { return bytes_.size(); }

    // Every check of stored bytes goes through here.
    static void Require(bool condition) {
        if (!condition)
            ThrowCorrupted();
    }
    [[noreturn]] static void ThrowCorrupted() {
        throw Error(ErrorCode::kCorrupted, "stored model is corrupted", {},
                    "Restore the model from a backup, or train it again.");
    }

  private:
    uint64_t Little(size_t size) {
        Require(size <= bytes_.size());
        uint64_t value = 0;
        for (size_t i = 0; i < size; i++)
            value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
        bytes_.remove_prefix(size);
        return value;
    }

    std::string_view bytes_;
};

}  // namespace dpboost
