// The accumulators of a relation's or a population's units as the catalog has them: in buckets, keys apart from what was
// spent, so that giving back leaves the keys alone; and what is only reserved apart from both, as a bit for each of those
// who take part and one figure, so that of millions a release that is settled in the end writes what was spent once. A
// book is opened for one release: it takes the keys of the release's
// units, then bucket after bucket as they are stored, finds every unit's accumulator or makes one, and gives back the
// buckets that have changed. Exact and secret (privacy/filter/unit_filter.h says why); nothing of it reaches an analyst.
//
// Sizes are seen by everybody: PostgreSQL shows those of tables, the rows that were written and the position of the WAL. So
// a bucket has room for more units than it holds, filled up, and is there when it is empty; a charge writes all of them,
// with their keys, whether somebody is new or not. How much room follows from how many units there are and a secret of
// the salt: rooms end every 1024 or 4096 units, from an offset that nobody knows, and so do buckets. One person more or
// less changes what is seen at a moment with probability 1/1024 at most. Above a million units keys are
// written only where somebody is new: that some are, one can see (doc/units.md says so).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "dataset/units.h"

namespace dpboost {

constexpr size_t kUnitSaltSize = 16;

// A unit's key as it is stored: SipHash-2-4 of 128 bits, keyed by the state's salt. Two units of 10 million share one with
// probability 2^-82, whatever their values: the salt is drawn when the state is made, and shown to nobody.
UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept;

// What the catalog says about the buckets. Keys ascend through all of them; bucket b of 2^bits holds those whose highest
// bits are b. An empty one may be missing.
struct UnitBuckets {
    int bits = 0;
    uint64_t units = 0;  // in all of them: if some are missing, somebody's spending is
};

class UnitBook {
  public:
    static constexpr size_t kKeySize = 16;
    static constexpr size_t kSpentSize = 4;
    // Held at most for each unit of a release, and for each that is stored.
    static constexpr size_t kBytesPerUnit = 24 + 4 + 4;
    static constexpr size_t kBytesPerStored = kSpentSize + kKeySize;

    // Throws kCorrupted for buckets that cannot be.
    UnitBook(std::string_view salt, const UnitBuckets& stored);

    // For a book from which a unit is to be removed; before the buckets.
    void KeepKeys() { keeps_keys_ = true; }
    // The units of a release, each once, by number. Before the buckets.
    void SetUnits(const std::vector<UnitKey>& keys, Interrupt& interrupt);
    // A stored bucket, in ascending order; what a release has reserved and never settled (empty: nothing) is spent. Throws
    // kCorrupted for bytes that were not written by a book.
    void Load(uint32_t bucket, std::string_view keys, std::string_view spent, std::string_view reserved);
    // After the last. Throws kCorrupted if units are missing.
    void FinishLoading(Interrupt& interrupt);

    // What a unit of the release has spent; a new one nothing. Set marks its bucket as changed; SetOneOfAll does not, and
    // TouchAll must follow.
    size_t units() const { return place_.size(); }
    uint32_t spent(size_t unit) const { return spent_[place_[unit]]; }
    void Set(size_t unit, uint32_t spent);
    void SetOneOfAll(size_t unit, uint32_t spent) { spent_[place_[unit]] = spent; }
    // Between the two, a unit that is reserved for has spent `most` more, or all that it has left if that is less, for whoever
    // loads what is written then; spent() stays what it was.
    void BeginReserved(uint32_t most);
    void Reserve(size_t unit) { reserved_[place_[unit]] = true; }
    void EndReserved() { reserving_ = false; }
    // Takes its accumulator away.
    void Remove(size_t unit);

    // Has all buckets written: what is written must not tell whether somebody took part, or is new.
    void TouchAll();

    // Of what WriteOut gives when all has changed but keys, and nothing is reserved.
    size_t SpentSize() const;

    // What has to be written: a header (buckets and units as they are then), and the buckets that have changed since they
    // were loaded or written out last. See UnitWrite for the bytes.
    std::string WriteOut(Interrupt& interrupt);

  private:
    struct Entry {
        UnitKey key;
        uint32_t unit;
    };
    struct Bucket {
        size_t begin = 0;  // of its units in spent_
        bool changed = false;
        bool has_new_keys = false;
        bool holds_keys = false;
        std::string keys;  // if they may have to be written
    };

    // A number below `below` that nobody knows, and that stays the same.
    uint64_t Secret(uint64_t tag, uint64_t of, uint64_t below) const;
    // Units that a bucket with so many has room for.
    size_t RoomFor(size_t bucket, size_t units) const;
    // With how many units in all there are still no more buckets than 2^bits, and how many there are after that.
    uint64_t MostWithout(int bits) const;
    int BitsFor(uint64_t units) const;

    uint32_t BucketOf(const UnitKey& key, int bits) const;
    void Merge(uint32_t bucket, std::string_view keys, std::string_view spent);
    // Whether a charge writes a bucket with its keys.
    bool WrittenWhole(const Bucket& bucket) const;
    std::string ReservedOf(size_t bucket, size_t room) const;
    bool MustWrite(size_t bucket) const { return buckets_[bucket].changed || reserving_; }
    void WriteBucket(size_t number, std::string* out) const;
    void LoadUpTo(uint32_t bucket);
    void Spread(int bits);
    size_t EndOf(size_t bucket) const;
    size_t BucketAt(size_t place) const;

    std::string salt_;
    UnitBuckets stored_;
    int bits_;
    bool keeps_keys_ = false;
    bool replaces_all_ = false;
    uint64_t loaded_ = 0;
    uint32_t next_bucket_ = 0;
    size_t next_entry_ = 0;
    std::vector<Entry> entries_;  // by key, until all is loaded
    std::vector<Bucket> buckets_;
    std::vector<uint32_t> spent_;  // of all units, by key
    std::vector<uint32_t> place_;  // of each unit of the release in spent_
    bool reserving_ = false;
    uint32_t reserved_most_ = 0;
    std::vector<bool> reserved_;   // by place
    std::vector<size_t> removed_;  // places
};

// One bucket of what WriteOut gives.
struct UnitWrite {
    uint32_t bucket;
    bool has_keys;           // else they stay as they are
    bool has_spent;          // likewise; always with keys
    uint32_t units;          // with what fills it up
    const char* keys;        // units * kKeySize
    const char* spent;       // units * kSpentSize
    const char* reserved;    // what is reserved from now on
    uint32_t reserved_size;  // or 0: nothing
};

// Reads it, also without exceptions: plain data, for the process that writes the catalog.
struct UnitWriteReader {
    static constexpr size_t kHeaderSize = 24;

    const char* at;
    const char* end;
    int bits;
    bool replaces_all;  // buckets that are stored and not written are gone
    uint64_t units;
    uint32_t left;  // buckets still to come

    // False if the bytes are not what WriteOut gives.
    bool Open(const char* bytes, size_t size);
    bool Next(UnitWrite* write);
};

}  // namespace dpboost
