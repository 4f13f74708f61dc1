// The bytes, little-endian. keys: 16 bytes each, so that their order as bytes is their order as keys (high word first),
// then bytes 0xff up to the bucket's room; spent: u32 each, then zeros as far. reserved: empty, or u32 what each has reserved,
// then a bit for each, the lowest of a byte first, and zeros up to the room. WriteOut: u32 magic, u8 bits, u8 replaces all, u16 0,
// u64 units, u32 buckets, u32 0; then for each u32 bucket, u32 (1: has keys, 2: has spent), u32 room, u32 size of reserved, then
// keys, spent and reserved as far as it has them, each padded to 8 bytes.
#include "training/units/unit_book.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "privacy/filter/unit_filter.h"
#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

constexpr uint64_t kMeanAfterSplit = 4096;  // units per bucket
constexpr uint64_t kMeanBeforeSplit = 2 * kMeanAfterSplit;
constexpr size_t kPollUnits = 4096;

// Rooms grow by so many units. A single bucket is small enough to be generous.
constexpr uint64_t kRoomStepOfOne = 4096;
constexpr uint64_t kRoomStep = 1024;
// Up to so many buckets keys are written with every charge.
constexpr int kMostBitsWhole = 7;

// What Secret is for. No unit's key has this in its highest byte (dataset/units.h).
constexpr uint64_t kRoomTag = 0xfe, kSplitTag = 0xfd, kSpreadTag = 0xfc;

[[noreturn]] void ThrowDamaged(const char* what) {
    throw Error(ErrorCode::kCorrupted, "what persons have spent is damaged or missing in dpboost's catalog",
                what, "Restore the catalog from a dump of the whole database.");
}

// How many of a bucket's keys are units: the others fill it up.
size_t UnitsIn(std::string_view keys) {
    size_t count = keys.size() / UnitBook::kKeySize;
    const auto is_filler = [&](size_t at) {
        const UnitKey key = ReadKey(keys.data() + at * UnitBook::kKeySize);
        return key.high == UINT64_MAX && key.low == UINT64_MAX;
    };
    while (count > 0 && is_filler(count - 1))
        count--;
    return count;
}

// A u32, then a bit for each unit that there is room for.
size_t ReservedSize(size_t room) {
    return sizeof(uint32_t) + (room + 7) / 8;
}

// What units have spent, once what they had reserved is spent.
std::string SpendReserved(std::string_view spent, std::string_view reserved) {
    std::string after(spent);
    const uint32_t most = ReadU32(reserved.data());
    for (size_t i = 0; i < spent.size() / sizeof(uint32_t); i++)
        if ((reserved[sizeof(uint32_t) + i / 8] >> (i % 8) & 1) != 0) {
            const uint32_t before = ReadU32(&spent[i * sizeof(uint32_t)]);
            WriteU32(before + std::min(most, UnitLeft(before)), &after[i * sizeof(uint32_t)]);
        }
    return after;
}

}  // namespace

UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept {
    static_assert(kUnitSaltSize == crypto_shorthash_siphashx24_KEYBYTES, "the salt is the key");
    char in[16], out[crypto_shorthash_siphashx24_BYTES];
    WriteKey(key, in);
    crypto_shorthash_siphashx24(reinterpret_cast<unsigned char*>(out),
                                reinterpret_cast<const unsigned char*>(in), sizeof in, salt);
    return ReadKey(out);
}

UnitBook::UnitBook(std::string_view salt, const UnitBuckets& stored)
    : salt_(salt), stored_(stored), bits_(stored.bits) {
    if (salt.size() != kUnitSaltSize || stored.bits < 0 || stored.bits > unit_bytes::kMaxBits ||
        stored.units > UINT32_MAX)
        ThrowDamaged("Its header is not one.");
    buckets_.resize(size_t{1} << bits_);
}

uint64_t UnitBook::Secret(uint64_t tag, uint64_t of, uint64_t below) const {
    return SaltedKey(reinterpret_cast<const unsigned char*>(salt_.data()), {of, tag << 56}).low % below;
}

// The first of offset, offset + step, offset + 2 step, ... that is enough, with a secret offset in 1 .. step.
size_t UnitBook::RoomFor(size_t bucket, size_t units) const {
    const uint64_t step = bits_ == 0 ? kRoomStepOfOne : kRoomStep;
    const uint64_t offset = 1 + Secret(kRoomTag, bucket << 8 | static_cast<uint64_t>(bits_), step);
    return offset >= units ? offset : offset + (units - offset + step - 1) / step * step;
}

uint64_t UnitBook::MostWithout(int bits) const {
    return (kMeanBeforeSplit << bits) - Secret(kSplitTag, static_cast<uint64_t>(bits), kRoomStep << bits);
}

int UnitBook::BitsFor(uint64_t units) const {
    const auto most = [&](int bits) {
        return (kMeanAfterSplit << bits) -
               Secret(kSpreadTag, static_cast<uint64_t>(bits), kRoomStep / 2 << bits);
    };
    int bits = 0;
    while (bits < unit_bytes::kMaxBits && units > most(bits))
        bits++;
    return bits;
}

uint32_t UnitBook::BucketOf(const UnitKey& key, int bits) const {
    return bits == 0 ? 0 : static_cast<uint32_t>(key.high >> (64 - bits));
}

// Counting sort by the highest bits, then each piece by itself.
void UnitBook::SetUnits(const std::vector<UnitKey>& keys, Interrupt& interrupt) {
    CheckInternal(place_.empty() && next_bucket_ == 0 && keys.size() < UINT32_MAX,
                  "units come once, and first");
    const int bits = BitsFor(keys.size()) + 4;  // of the sort alone
    const auto* salt = reinterpret_cast<const unsigned char*>(salt_.data());
    std::vector<uint32_t> begin((size_t{1} << bits) + 1);
    place_.resize(keys.size());
    std::vector<UnitKey> salted(keys.size());
    for (size_t i = 0; i < keys.size(); i++) {
        if (i % kPollUnits == 0)
            interrupt.Poll();
        salted[i] = SaltedKey(salt, keys[i]);
        begin[BucketOf(salted[i], bits) + 1]++;
    }
    for (size_t b = 0; b + 1 < begin.size(); b++)
        begin[b + 1] += begin[b];
    entries_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); i++)
        entries_[begin[BucketOf(salted[i], bits)]++] = {salted[i], static_cast<uint32_t>(i)};
    size_t first = 0;
    for (size_t b = 0; b + 1 < begin.size(); b++) {  // each begin has moved to its end
        std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                  entries_.begin() + static_cast<std::ptrdiff_t>(begin[b]),
                  [](const Entry& a, const Entry& z) { return Less(a.key, z.key); });
        first = begin[b];
        if (b % 16 == 0)
            interrupt.Poll();
    }
    for (size_t i = 1; i < entries_.size(); i++)
        CheckInternal(Less(entries_[i - 1].key, entries_[i].key), "two units have one key");
    if (bits_ <= kMostBitsWhole || stored_.units + keys.size() > MostWithout(bits_))
        KeepKeys();  // they are written again, or there may have to be more buckets
    spent_.reserve(stored_.units + keys.size());
}

// Buckets that are not stored are empty.
void UnitBook::LoadUpTo(uint32_t bucket) {
    while (next_bucket_ < bucket)
        Merge(next_bucket_, {}, {});
}

void UnitBook::Load(uint32_t bucket, std::string_view keys, std::string_view spent,
                    std::string_view reserved) {
    const size_t stored_room = keys.size() / kKeySize;
    if (bucket < next_bucket_ || bucket >= buckets_.size() || keys.size() % kKeySize != 0 ||
        stored_room * kSpentSize != spent.size() ||
        (!reserved.empty() && reserved.size() != ReservedSize(stored_room)))
        ThrowDamaged("A bucket has another number of keys than of accumulators.");
    LoadUpTo(bucket);
    const size_t count = UnitsIn(keys);
    const bool other_room = stored_room != RoomFor(bucket, count);
    std::string after;
    if (!reserved.empty())
        spent = after = SpendReserved(spent, reserved);
    Merge(bucket, keys.substr(0, count * kKeySize), spent.substr(0, count * kSpentSize));
    Bucket& here = buckets_[bucket];
    if (other_room && !here.holds_keys) {  // then both are written as they should be
        here.keys = keys.substr(0, count * kKeySize);
        here.holds_keys = true;
    }
    here.has_new_keys = here.has_new_keys || other_room;
    here.changed = here.has_new_keys || !reserved.empty();
}

// Both sides ascend. Stored keys are checked: an accumulator in the wrong place would not be found.
void UnitBook::Merge(uint32_t bucket, std::string_view keys, std::string_view spent) {
    Bucket& here = buckets_[bucket];
    here.begin = spent_.size();
    next_bucket_ = bucket + 1;
    const size_t count = keys.size() / kKeySize;
    size_t first = next_entry_;
    while (next_entry_ < entries_.size() && BucketOf(entries_[next_entry_].key, bits_) == bucket)
        next_entry_++;
    size_t stored = 0;
    UnitKey key, before;
    std::string merged;  // once there is a new key
    while (stored < count || first < next_entry_) {
        if (stored < count) {
            key = ReadKey(keys.data() + stored * kKeySize);
            if (BucketOf(key, bits_) != bucket || (stored > 0 && !Less(before, key)))
                ThrowDamaged("The keys of a bucket are not in order.");
        }
        const bool takes_entry = first < next_entry_ && (stored == count || !Less(key, entries_[first].key));
        const bool takes_stored = stored < count && (!takes_entry || key == entries_[first].key);
        if (takes_entry)
            place_[entries_[first].unit] = static_cast<uint32_t>(spent_.size());
        if (!takes_stored && !here.has_new_keys) {
            merged.reserve(keys.size() + (next_entry_ - first) * kKeySize);
            merged.assign(keys.data(), stored * kKeySize);
            here.has_new_keys = here.changed = true;
        }
        if (here.has_new_keys) {
            char bytes[kKeySize];
            WriteKey(takes_stored ? key : entries_[first].key, bytes);
            merged.append(bytes, kKeySize);
        }
        spent_.push_back(takes_stored ? ReadU32(spent.data() + stored * kSpentSize) : 0);
        before = takes_stored ? key : before;
        stored += takes_stored ? 1 : 0;
        first += takes_entry ? 1 : 0;
    }
    loaded_ += count;
    here.holds_keys = here.has_new_keys || keeps_keys_ || count == 0;
    if (here.has_new_keys)
        here.keys = std::move(merged);
    else if (keeps_keys_)
        here.keys = keys;
}

void UnitBook::FinishLoading(Interrupt& interrupt) {
    interrupt.Poll();
    LoadUpTo(static_cast<uint32_t>(buckets_.size()));
    if (loaded_ != stored_.units)
        ThrowDamaged("Some of it is not there.");
    std::vector<Entry>().swap(entries_);
    if (spent_.size() > MostWithout(bits_))
        Spread(std::max(bits_, BitsFor(spent_.size())));
}

// Makes more buckets of the same units: their order stays.
void UnitBook::Spread(int bits) {
    if (bits == bits_)
        return;
    std::vector<Bucket> spread(size_t{1} << bits);
    const size_t times = spread.size() / buckets_.size();
    for (size_t b = 0; b < buckets_.size(); b++) {
        const std::string keys = std::move(buckets_[b].keys);
        const size_t count = keys.size() / kKeySize;
        size_t at = 0;
        for (size_t k = b * times; k < (b + 1) * times; k++) {
            const size_t first = at;
            while (at < count && BucketOf(ReadKey(keys.data() + at * kKeySize), bits) == k)
                at++;
            spread[k].begin = buckets_[b].begin + first;
            spread[k].keys = keys.substr(first * kKeySize, (at - first) * kKeySize);
            spread[k].changed = spread[k].has_new_keys = spread[k].holds_keys = true;
        }
    }
    buckets_ = std::move(spread);
    bits_ = bits;
    replaces_all_ = true;
}

size_t UnitBook::EndOf(size_t bucket) const {
    return bucket + 1 < buckets_.size() ? buckets_[bucket + 1].begin : spent_.size();
}

// Keys are spread evenly, so the first guess is nearly right.
size_t UnitBook::BucketAt(size_t place) const {
    size_t bucket = static_cast<size_t>(uint64_t{place} * buckets_.size() / spent_.size());
    while (place < buckets_[bucket].begin)
        bucket--;
    while (place >= EndOf(bucket))
        bucket++;
    return bucket;
}

void UnitBook::Set(size_t unit, uint32_t spent) {
    uint32_t& now = spent_[place_[unit]];
    if (now == spent)
        return;
    now = spent;
    buckets_[BucketAt(place_[unit])].changed = true;
}

void UnitBook::Remove(size_t unit) {
    const size_t place = place_[unit];
    Bucket& bucket = buckets_[BucketAt(place)];
    CheckInternal(bucket.holds_keys, "only a book that keeps its keys can take one away");
    bucket.changed = bucket.has_new_keys = true;
    removed_.push_back(place);
}

bool UnitBook::WrittenWhole(const Bucket& bucket) const {
    return bucket.holds_keys &&
           (bits_ <= kMostBitsWhole || bucket.keys.empty());  // an empty one may not be there yet
}

void UnitBook::TouchAll() {
    for (Bucket& bucket : buckets_) {
        bucket.changed = true;
        bucket.has_new_keys = bucket.has_new_keys || WrittenWhole(bucket);
    }
}

// All buckets are written, whoever reserves something.
void UnitBook::BeginReserved(uint32_t most) {
    CheckInternal(!reserving_ && removed_.empty(), "a book reserves for one release");
    reserving_ = true;
    reserved_most_ = most;
    reserved_.assign(spent_.size(), false);
    for (Bucket& bucket : buckets_) {
        bucket.has_new_keys = bucket.has_new_keys || WrittenWhole(bucket);
        bucket.changed = bucket.changed || bucket.has_new_keys;
    }
}

std::string UnitBook::ReservedOf(size_t bucket, size_t room) const {
    std::string bytes(ReservedSize(room), '\0');
    WriteU32(reserved_most_, bytes.data());
    const size_t begin = buckets_[bucket].begin, count = EndOf(bucket) - begin;
    for (size_t i = 0; i < count; i++)
        if (reserved_[begin + i])
            bytes[sizeof(uint32_t) + i / 8] |= static_cast<char>(1 << (i % 8));
    return bytes;
}

size_t UnitBook::SpentSize() const {
    size_t size = UnitWriteReader::kHeaderSize;
    for (size_t b = 0; b < buckets_.size(); b++)
        size += unit_bytes::kBucketHeader +
                unit_bytes::Padded(RoomFor(b, EndOf(b) - buckets_[b].begin) * kSpentSize);
    return size;
}

void UnitBook::WriteBucket(size_t number, std::string* out) const {
    const Bucket& bucket = buckets_[number];
    const auto is_removed = [&](size_t place) {
        return !removed_.empty() && std::binary_search(removed_.begin(), removed_.end(), place);
    };
    const size_t header = out->size(), end = EndOf(number);
    out->append(unit_bytes::kBucketHeader, '\0');
    size_t written = 0;
    for (size_t place = bucket.begin; place < end; place++) {
        if (is_removed(place))
            continue;
        if (bucket.has_new_keys)
            out->append(bucket.keys, (place - bucket.begin) * kKeySize, kKeySize);
        written++;
    }
    const size_t room = RoomFor(number, written);
    if (bucket.has_new_keys)
        out->append((room - written) * kKeySize, '\xff');
    for (size_t place = bucket.begin; bucket.changed && place < end; place++)
        if (!is_removed(place))
            AppendU32(spent_[place], out);
    if (bucket.changed)
        out->append((room - written) * kSpentSize, '\0');
    out->resize(unit_bytes::Padded(out->size()));
    const std::string reserved = reserving_ ? ReservedOf(number, room) : std::string();
    out->append(reserved);
    out->resize(unit_bytes::Padded(out->size()));
    WriteU32(static_cast<uint32_t>(number), &(*out)[header]);
    WriteU32((bucket.has_new_keys ? unit_bytes::kHasKeys : 0) | (bucket.changed ? unit_bytes::kHasSpent : 0),
             &(*out)[header + 4]);
    WriteU32(static_cast<uint32_t>(room), &(*out)[header + 8]);
    WriteU32(static_cast<uint32_t>(reserved.size()), &(*out)[header + 12]);
}

std::string UnitBook::WriteOut(Interrupt& interrupt) {
    std::sort(removed_.begin(), removed_.end());
    std::string out;
    AppendU32(unit_bytes::kMagic, &out);
    AppendU32(static_cast<uint32_t>(bits_) | (replaces_all_ ? 0x100 : 0), &out);
    const uint64_t units = spent_.size() - removed_.size();
    AppendU32(static_cast<uint32_t>(units), &out);
    AppendU32(static_cast<uint32_t>(units >> 32), &out);
    uint32_t count = 0;
    for (size_t b = 0; b < buckets_.size(); b++)
        count += MustWrite(b) ? 1 : 0;
    AppendU32(count, &out);
    AppendU32(0, &out);
    for (size_t b = 0; b < buckets_.size(); b++) {
        if (!MustWrite(b))
            continue;
        interrupt.Poll();
        WriteBucket(b, &out);
        Bucket& bucket = buckets_[b];
        bucket.changed = bucket.has_new_keys = bucket.holds_keys = false;
        std::string().swap(bucket.keys);
    }
    replaces_all_ = false;
    return out;
}

}  // namespace dpboost
