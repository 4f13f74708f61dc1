// The accumulators of a relation's or a population's units as the catalog has them: sorted by key in two runs of buckets
// (unit_rooms.h), keys apart from what was spent, so that giving back leaves the keys alone; and what is only reserved apart
// from both, as a bit for each of those who take part and one figure, so that of millions a release that is settled in the
// end writes what was spent once. A book is opened for one release: it takes the keys of the release's units, then bucket
// after bucket as they are stored, finds every unit's accumulator or makes one, and gives back the buckets that have
// changed. Exact and secret (privacy/filter/unit_filter.h says why); nothing of it reaches an analyst.
//
// Sizes are seen by everybody. So a write changes all buckets, whoever takes part, and the same of each: how many there are, and
// which are written with keys, follows from rooms alone, whose proof is in unit_rooms.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "dataset/units.h"
#include "training/units/unit_rooms.h"

namespace dpboost {

// What the catalog says about the buckets.
struct UnitBuckets {
    uint32_t old_buckets = 0;
    uint32_t new_buckets = 0;  // of newcomers, numbered from kFirstNew
    uint64_t units = 0;        // in all of them: if some are missing, somebody's spending is
    uint64_t opened = 0;       // and those that were removed
    uint64_t moved = 0;        // the bound for all of these when the last newcomers moved to the old ones
    uint64_t writes = 0;       // of them all, ever

    static constexpr uint32_t kFirstNew = uint32_t{1} << 30;
    bool Has(uint32_t bucket) const {
        return bucket < kFirstNew ? bucket < old_buckets : bucket - kFirstNew < new_buckets;
    }
};

class UnitBook {
  public:
    static constexpr size_t kKeySize = 16;
    static constexpr size_t kSpentSize = 4;
    // Of a bucket's keys as they are stored, of which the first bytes are little (unit_bytes.h).
    static constexpr size_t kKeysSize = kBucketUnits * (kKeySize - 1) + (kBucketUnits + 256) / 8;
    // Held at most for each unit of a release, and for each that is stored.
    static constexpr size_t kBytesPerUnit = 24 + 4 + 4;
    static constexpr size_t kBytesPerStored = kSpentSize + kKeySize + 4;

    // Throws kCorrupted for buckets that cannot be.
    UnitBook(std::string_view salt, const UnitBuckets& stored, const UnitLimit& limit);

    // The units of a release, each once, by number. Before the buckets.
    void SetUnits(std::vector<UnitKey> keys, Interrupt& interrupt);
    // A stored bucket, all of them in ascending order; what a release has reserved and never settled (empty: nothing) is
    // spent. Throws kCorrupted for bytes that were not written by a book.
    void Load(uint32_t bucket, std::string_view keys, std::string_view spent, std::string_view reserved);
    // After the last. Throws kCorrupted if some are missing. Every bucket is loaded once, and all keys are held, whether they
    // will be written or not: that follows from a count that nobody has paid for yet, and PostgreSQL shows what is read.
    void FinishLoading(Interrupt& interrupt);

    // What a unit of the release has spent; a new one nothing. Set marks its bucket as changed; SetOneOfAll does not, and
    // TouchAll must follow.
    size_t units() const { return place_.size(); }
    uint32_t spent(size_t unit) const { return spent_[place_[unit]]; }
    // Units are in another order than accounts: brings one that is wanted soon.
    void Prefetch(size_t unit) const {
        if (unit < place_.size())
            __builtin_prefetch(&spent_[place_[unit]], 1);
    }
    void Set(size_t unit, uint32_t spent);
    void SetOneOfAll(size_t unit, uint32_t spent) { spent_[place_[unit]] = spent; }
    // Between the two, a unit that is reserved for has spent `most` more, or all that it has left if that is less, for whoever
    // loads what is written then; spent() stays what it was.
    void BeginReserved(uint32_t most);
    void Reserve(size_t unit) { reserved_[place_[unit]] = true; }
    void EndReserved() { reserving_ = false; }
    // Takes its accumulator away. After the next WriteOut the book is done with.
    void Remove(size_t unit);
    // Has all keys written, as whoever removes somebody must: whether he was there, and where, is nobody's business.
    void RewriteKeys();

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
    // Accounts in the order of their keys.
    struct Run {
        uint32_t buckets = 0;  // that there is room for
        size_t units = 0;
        bool holds_keys = true;  // until they were written out
        bool writes_keys = false;
        std::string keys;           // of all its units, while it holds them
        std::vector<bool> changed;  // by bucket

        void Widen(uint64_t room);
    };

    void SortEntries(const std::vector<UnitKey>& keys, Interrupt& interrupt);
    void Place(Run* run, const UnitKey& key);
    void FinishRun(bool is_old);
    void AddNewcomers();
    void MoveNewcomers(uint64_t bound);
    void TakeRemoved();
    // Of the bucket that an accumulator is in.
    void MarkChanged(size_t place);
    void WriteKeysIfHeld();
    bool MustWrite(const Run& run, size_t bucket) const {
        return run.changed[bucket] || run.writes_keys || reserving_;
    }
    size_t WriteSize(const Run& run) const;
    void WriteRun(Run* run, uint32_t first_bucket, size_t begin, char** out, Interrupt& interrupt) const;
    char* WriteBucket(const Run& run, size_t bucket, size_t begin, char* out) const;
    char* WriteReserved(size_t begin, size_t count, char* out) const;

    UnitRooms rooms_;
    UnitBuckets stored_;
    std::vector<Entry> entries_;  // by key, until all is loaded
    size_t next_entry_ = 0;       // not yet compared with the old ones, or of missed_ with the new ones
    std::vector<uint32_t> missed_,
        newcomers_;  // entries that are not among the old ones; and not among the new ones
    uint32_t next_bucket_ = 0;
    bool run_ends_ = false;  // with an account that fills up
    UnitKey last_key_ = {};
    std::vector<char> loaded_;  // a bucket's keys
    Run old_, new_;
    std::vector<uint32_t> spent_;  // of all units, first the old ones, then the new ones, by key
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
    const char* keys;        // kKeysSize
    const char* spent;       // kBucketUnits * kSpentSize
    const char* reserved;    // what is reserved from now on
    uint32_t reserved_size;  // or 0: nothing
};

// Reads it, also without exceptions: plain data, for the process that writes the catalog.
struct UnitWriteReader {
    static constexpr size_t kHeaderSize = 40;

    const char* at;
    const char* end;
    UnitBuckets buckets;
    uint32_t left;  // buckets still to come

    // False if the bytes are not what WriteOut gives.
    bool Open(const char* bytes, size_t size);
    bool Next(UnitWrite* write);
};

}  // namespace dpboost
