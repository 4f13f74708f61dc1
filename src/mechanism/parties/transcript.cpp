#include "mechanism/parties/transcript.h"

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"

namespace dpboost {

static_assert(std::tuple_size<Hash>::value == crypto_stream_chacha20_KEYBYTES, "size of a stream's key");

Hash Transcript::Witness(const std::vector<SumShape>& blocks) const {
    ByteWriter writer;
    writer.Raw(View(digest_));
    writer.U64(events_);
    writer.U32(static_cast<uint32_t>(blocks.size()));
    for (const SumShape& block : blocks) {
        writer.U64(block.scale_units);
        writer.U64(block.count);
    }
    return HashOf("witness", writer.bytes());
}

void Transcript::Follow(const Hash& witness, const std::vector<uint64_t>& total) {
    ByteWriter writer;
    writer.Raw(View(witness));
    writer.Raw(SumBytes(total));
    digest_ = HashOf("transcript", writer.bytes());
    ++events_;
}

void Masks::AddTo(const Hash& witness, std::vector<uint64_t>* sums) {
    // A key serves one event alone, so its nonce need not change.
    constexpr unsigned char kNonce[crypto_stream_chacha20_NONCEBYTES] = {};
    stream_.resize(sums->size() * sizeof(uint64_t));
    for (const PairKey& pair : keys_) {
        const Secret key(KeyedHash(pair.key.bytes(), "mask", View(witness)));
        crypto_stream_chacha20(stream_.data(), stream_.size(), kNonce, key.bytes().data());
        const auto* words = reinterpret_cast<const char*>(stream_.data());
        for (std::size_t i = 0; i < sums->size(); ++i) {
            const uint64_t word = LittleWord(words + sizeof(uint64_t) * i);
            (*sums)[i] += pair.adds ? word : -word;
        }
    }
    sodium_memzero(stream_.data(), stream_.size());
}

namespace {

// One store, as LittleWord is one load.
void PutLittleWord(uint64_t word, char* bytes) {
    for (int i = 0; i < 8; ++i)
        bytes[i] = static_cast<char>(word >> 8 * i);
}

}  // namespace

std::string SumBytes(const std::vector<uint64_t>& sums) {
    std::string bytes(sizeof(uint64_t) * sums.size(), '\0');
    for (std::size_t i = 0; i < sums.size(); ++i)
        PutLittleWord(sums[i], &bytes[sizeof(uint64_t) * i]);
    return bytes;
}

std::vector<uint64_t> SumsOf(std::string_view bytes, std::size_t count) {
    if (bytes.size() / sizeof(uint64_t) != count || bytes.size() % sizeof(uint64_t) != 0)
        throw Error(ErrorCode::kInvalidParameter, "the total has another number of sums");
    std::vector<uint64_t> sums(count);
    for (std::size_t i = 0; i < count; ++i)
        sums[i] = LittleWord(bytes.data() + sizeof(uint64_t) * i);
    return sums;
}

}  // namespace dpboost
