#include "training/call/partial_call.h"

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace dpboost {
namespace {

// The last character is the version; another version of the extension encodes rows in its own way.
constexpr std::string_view kMark = "dpboost rows 1";
constexpr uint64_t kRowsMost = uint64_t{1} << 40;

void Require(bool holds) {
    if (!holds)
        throw Error(ErrorCode::kCorrupted, "a partial state of a training is damaged");
}

std::string_view Take(std::string_view* bytes, size_t size) {
    Require(size <= bytes->size());
    const std::string_view head = bytes->substr(0, size);
    bytes->remove_prefix(size);
    return head;
}

uint64_t TakeNumber(std::string_view* bytes) {
    return LittleWord(Take(bytes, 8).data());
}

std::string_view TakeText(std::string_view* bytes) {
    const std::string_view text = Take(bytes, TakeNumber(bytes));
    Require(text.find('\0') == std::string_view::npos);
    return text;
}

// ---- printable ----

// Z85 of ZeroMQ's RFC 32.
constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr uint32_t kBase = 85;
static_assert(kDigits.size() == kBase, "as many digits as the base");
constexpr uint8_t kNoDigit = 255;

std::array<uint8_t, 256> MakeValues() {
    std::array<uint8_t, 256> values;
    values.fill(kNoDigit);
    for (size_t i = 0; i < kDigits.size(); i++)
        values[static_cast<unsigned char>(kDigits[i])] = static_cast<uint8_t>(i);
    return values;
}

uint32_t BigWord(const char* bytes, size_t count) {
    uint32_t word = 0;
    for (size_t i = 0; i < 4; i++)
        word = word << 8 | (i < count ? static_cast<unsigned char>(bytes[i]) : 0U);
    return word;
}

// The first `digits` of the five of a word.
void WriteDigits(uint32_t word, size_t digits, char* out) {
    char all[5];
    for (size_t i = 5; i-- > 0; word /= kBase)
        all[i] = kDigits[word % kBase];
    std::memcpy(out, all, digits);
}

// Of fewer than five digits the others are the largest there are, which rounds to the bytes that were written.
uint32_t ReadDigits(const std::array<uint8_t, 256>& values, const char* text, size_t digits) {
    uint64_t word = 0;
    for (size_t i = 0; i < 5; i++) {
        const uint8_t value = i < digits ? values[static_cast<unsigned char>(text[i])] : kBase - 1;
        Require(value != kNoDigit);
        word = word * kBase + value;
    }
    Require(word <= UINT32_MAX || digits < 5);
    return static_cast<uint32_t>(word < UINT32_MAX ? word : UINT32_MAX);
}

}  // namespace

std::string WritePartialHead(const PartialCall& call, size_t rows_size) {
    ByteWriter out;
    out.Raw(kMark);
    out.U8(call.has_units ? 1 : 0);
    out.U64(call.model.size());
    out.Raw(call.model);
    out.U64(call.options.size());
    out.Raw(call.options);
    CheckInternal(call.fingerprint.size() == kChecksumBytes, "a fingerprint has sixteen bytes");
    out.Raw(call.fingerprint);
    out.U64(rows_size);
    return out.Take();
}

PartialCall ReadPartialCall(std::string_view bytes) {
    PartialCall call;
    const std::string_view mark = Take(&bytes, kMark.size());
    Require(mark.substr(0, kMark.size() - 1) == kMark.substr(0, kMark.size() - 1));
    if (mark != kMark)
        throw Error(ErrorCode::kUnsupported, "a partial state of a training comes from another version", {},
                    "Install the same version of dpboost on all servers.");
    const char units = Take(&bytes, 1)[0];
    Require(units == 0 || units == 1);
    call.has_units = units == 1;
    call.model = TakeText(&bytes);
    call.options = TakeText(&bytes);
    call.fingerprint = Take(&bytes, kChecksumBytes);
    const uint64_t rows = TakeNumber(&bytes);
    Require(rows < kRowsMost && rows == bytes.size());
    call.rows = bytes;
    return call;
}

size_t PrintableSize(size_t bytes) {
    return bytes / 4 * 5 + (bytes % 4 == 0 ? 0 : bytes % 4 + 1);
}

void WritePrintable(std::string_view bytes, char* out) {
    for (; bytes.size() >= 4; bytes.remove_prefix(4), out += 5)
        WriteDigits(BigWord(bytes.data(), 4), 5, out);
    if (!bytes.empty())
        WriteDigits(BigWord(bytes.data(), bytes.size()), bytes.size() + 1, out);
}

size_t PrintedSize(std::string_view text) {
    Require(text.size() % 5 != 1);
    return text.size() / 5 * 4 + (text.size() % 5 == 0 ? 0 : text.size() % 5 - 1);
}

void ReadPrintable(std::string_view text, char* out) {
    const std::array<uint8_t, 256> values = MakeValues();
    const auto write = [&out](uint32_t word, size_t count) {
        for (size_t i = 0; i < count; i++)
            *out++ = static_cast<char>(word >> (24 - 8 * i));
    };
    for (; text.size() >= 5; text.remove_prefix(5))
        write(ReadDigits(values, text.data(), 5), 4);
    if (!text.empty())
        write(ReadDigits(values, text.data(), text.size()), text.size() - 1);
}

}  // namespace dpboost
