// What all servers of a federated training know of it so far, as one digest, and the masks that follow from it.
//
// Each pair of parties has a secret key of this session. For every event the party with the smaller name adds a stream of
// 64-bit words to its sums and the other subtracts the same stream, modulo 2^64, so that the streams vanish in the total
// of all parties and in nothing less. A stream is keyed by the pair's key and by the event's witness, which covers the
// session, all totals so far, and the shape of the event: streams vanish only among parties that were told the same
// history and answer the same question. To everybody else, streams of two honest parties are uniform bits (ChaCha20 keyed
// by keyed BLAKE2b): a vector that lacks one honest party's answer is uniform, whatever else is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mechanism/parties/hash.h"

namespace dpboost {

// A block of sums with one scale, as all servers must agree on it.
struct SumShape {
    uint64_t scale_units;
    std::size_t count;
};

class Transcript {
  public:
    explicit Transcript(const Hash& session) : digest_(HashOf("transcript", View(session))) {}

    // What the next event is, in a hash: history, its number, its blocks.
    Hash Witness(const std::vector<SumShape>& blocks) const;
    // The event is over: its total belongs to the history.
    void Follow(const Hash& witness, const std::vector<uint64_t>& total);

    uint64_t events() const { return events_; }

  private:
    Hash digest_;
    uint64_t events_ = 0;
};

// A party's key with one other party.
struct PairKey {
    Secret key;
    bool adds;  // this party has the smaller name
};

class Masks {
  public:
    explicit Masks(std::vector<PairKey> keys) : keys_(std::move(keys)) {}

    // Adds the streams of an event to the sums, modulo 2^64. Called once for each witness.
    void AddTo(const Hash& witness, std::vector<uint64_t>* sums);

  private:
    std::vector<PairKey> keys_;
    std::vector<unsigned char> stream_;
};

// Sums as they travel: eight bytes each, little-endian.
std::string SumBytes(const std::vector<uint64_t>& sums);
// Throws kInvalidParameter if the bytes are not `count` sums.
std::vector<uint64_t> SumsOf(std::string_view bytes, std::size_t count);

}  // namespace dpboost
