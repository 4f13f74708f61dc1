#include "training/units/unit_book.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "privacy/filter/unit_filter.h"
#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

constexpr size_t kPollUnits = 4096;
constexpr size_t kAhead = 16;  // entries whose places are wanted soon
constexpr uint32_t kMostBuckets = UINT32_MAX / kBucketUnits;

[[noreturn]] void ThrowDamaged(const char* what) {
    throw Error(ErrorCode::kCorrupted, "what persons have spent is damaged or missing in dpboost's catalog",
                what, "Restore the catalog from a dump of the whole database.");
}

// How many of a bucket's keys are units: the others fill it up.
size_t UnitsIn(const char* keys) {
    size_t count = kBucketUnits;
    const auto is_filler = [&](size_t at) {
        const UnitKey key = ReadKey(keys + at * UnitBook::kKeySize);
        return key.high == UINT64_MAX && key.low == UINT64_MAX;
    };
    while (count > 0 && is_filler(count - 1))
        count--;
    return count;
}

// What a unit has spent, once what it had reserved is spent.
uint32_t WithReserved(uint32_t spent, std::string_view reserved, size_t number) {
    if (reserved.empty() || (reserved[sizeof(uint32_t) + number / 8] >> (number % 8) & 1) == 0)
        return spent;
    return spent + std::min(ReadU32(reserved.data()), UnitLeft(spent));
}

// How many bits tell so many pieces apart.
int BitsOf(size_t pieces) {
    int bits = 0;
    while (bits < 24 && pieces >> bits != 0)
        bits++;
    return bits;
}

uint64_t HighBits(uint64_t high, int bits) {
    return bits == 0 ? 0 : high >> (64 - bits);
}

// Where each piece begins, and the last one ends.
template <class HighOf>
std::vector<size_t> Begins(size_t count, int bits, HighOf high_of) {
    std::vector<size_t> begin((size_t{1} << bits) + 1);
    for (size_t i = 0; i < count; i++)
        begin[HighBits(high_of(i), bits) + 1]++;
    for (size_t b = 0; b + 1 < begin.size(); b++)
        begin[b + 1] += begin[b];
    return begin;
}

}  // namespace

UnitBook::UnitBook(std::string_view salt, const UnitBuckets& stored, const UnitLimit& limit)
    : rooms_(salt, limit), stored_(stored) {
    const uint64_t room = uint64_t{stored.old_buckets} * kBucketUnits;
    if (salt.size() != kUnitSaltSize || stored.old_buckets > kMostBuckets ||
        stored.new_buckets != rooms_.RoomForNew(room) / kBucketUnits || stored.opened < stored.units ||
        stored.units > (uint64_t{stored.old_buckets} + stored.new_buckets) * kBucketUnits)
        ThrowDamaged("Its header is not one.");
    old_.Widen(room);
    new_.Widen(uint64_t{stored_.new_buckets} * kBucketUnits);
    old_.keys.reserve(stored_.units * kKeySize);
}

void UnitBook::Run::Widen(uint64_t room) {
    buckets = std::max(buckets, static_cast<uint32_t>(room / kBucketUnits));
    changed.resize(buckets);
}

void UnitBook::SetUnits(std::vector<UnitKey> keys, Interrupt& interrupt) {
    CheckInternal(place_.empty() && next_bucket_ == 0 && keys.size() < UINT32_MAX,
                  "units come once, and first");
    place_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); i++) {
        if (i % kPollUnits == 0)
            interrupt.Poll();
        keys[i] = SaltedKey(rooms_.salt(), keys[i]);
    }
    SortEntries(keys, interrupt);
    for (size_t i = 1; i < entries_.size(); i++)
        CheckInternal(Less(entries_[i - 1].key, entries_[i].key), "two units have one key");
    spent_.reserve(stored_.units + keys.size());
}

// Twice by counting, by the highest bits and within each of those pieces, which a cache holds, by the next ones; then few are
// left to compare. Keys are hashes, so all pieces have about the same size.
void UnitBook::SortEntries(const std::vector<UnitKey>& keys, Interrupt& interrupt) {
    const int bits = BitsOf(keys.size() >> 13);
    const std::vector<size_t> begin = Begins(keys.size(), bits, [&](size_t i) { return keys[i].high; });
    std::vector<size_t> at(begin.begin(), begin.end() - 1);
    entries_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); i++)
        entries_[at[HighBits(keys[i].high, bits)]++] = {keys[i], static_cast<uint32_t>(i)};
    std::vector<Entry> piece;
    for (size_t b = 0; b + 1 < begin.size(); b++) {
        interrupt.Poll();
        Entry* const first = entries_.data() + begin[b];
        const size_t count = begin[b + 1] - begin[b];
        piece.assign(first, first + count);
        const auto next_bits = [&](size_t i) { return piece[i].key.high << bits; };
        const int finer = BitsOf(count >> 3);
        std::vector<size_t> to = Begins(count, finer, next_bits);
        for (size_t i = 0; i < count; i++)
            first[to[HighBits(next_bits(i), finer)]++] = piece[i];
        for (size_t p = 0, from = 0; p + 1 < to.size(); from = to[p++])  // each has moved to its end
            std::sort(first + from, first + to[p],
                      [](const Entry& a, const Entry& z) { return Less(a.key, z.key); });
    }
}

// A stored key of a run is compared with the entries that may be in it: of the old ones all, of the newcomers those that were
// not found among the old ones. Both sides ascend.
void UnitBook::Place(Run* run, const UnitKey& key) {
    const bool is_old = run == &old_;
    if (next_entry_ + kAhead < entries_.size())
        __builtin_prefetch(&place_[entries_[next_entry_ + kAhead].unit], 1);
    std::vector<uint32_t>* missed = is_old ? &missed_ : &newcomers_;
    const size_t candidates = is_old ? entries_.size() : missed_.size();
    while (next_entry_ < candidates) {
        const uint32_t number = is_old ? static_cast<uint32_t>(next_entry_) : missed_[next_entry_];
        const Entry& entry = entries_[number];
        if (Less(key, entry.key))
            return;
        next_entry_++;
        if (key == entry.key) {
            place_[entry.unit] = static_cast<uint32_t>(spent_.size());
            return;
        }
        missed->push_back(number);
    }
}

// Those that are left are behind all stored keys of the run.
void UnitBook::FinishRun(bool is_old) {
    const size_t candidates = is_old ? entries_.size() : missed_.size();
    for (; next_entry_ < candidates; next_entry_++)
        if (is_old)
            missed_.push_back(static_cast<uint32_t>(next_entry_));
        else
            newcomers_.push_back(missed_[next_entry_]);
    next_entry_ = 0;
    run_ends_ = false;
}

// Stored keys are checked: an accumulator in the wrong place would not be found.
void UnitBook::Load(uint32_t bucket, std::string_view keys, std::string_view spent,
                    std::string_view reserved) {
    if (next_bucket_ == stored_.old_buckets) {
        FinishRun(true);
        next_bucket_ = UnitBuckets::kFirstNew;
    }
    if (bucket != next_bucket_ || !stored_.Has(bucket))
        ThrowDamaged("Some of it is not there.");
    loaded_.resize(kBucketUnits * kKeySize);
    if (keys.size() != kKeysSize || spent.size() != kBucketUnits * kSpentSize ||
        (!reserved.empty() && reserved.size() != unit_bytes::kReservedSize) ||
        !unit_bytes::UnpackKeys(keys.data(), loaded_.data()))
        ThrowDamaged("A bucket has another number of keys or accumulators than there is room for.");
    next_bucket_++;
    Run* run = bucket < UnitBuckets::kFirstNew ? &old_ : &new_;
    const size_t count = UnitsIn(loaded_.data());
    if (run_ends_ && count > 0)
        ThrowDamaged("A bucket is not full, and others follow.");
    run_ends_ = count < kBucketUnits;
    for (size_t i = 0; i < count; i++) {
        const UnitKey key = ReadKey(loaded_.data() + i * kKeySize);
        if (run->units + i > 0 && !Less(last_key_, key))
            ThrowDamaged("The keys of a bucket are not in order.");
        last_key_ = key;
        Place(run, key);
        spent_.push_back(WithReserved(ReadU32(spent.data() + i * kSpentSize), reserved, i));
    }
    run->units += count;
    run->keys.append(loaded_.data(), count * kKeySize);
    if (!reserved.empty())
        run->changed[bucket < UnitBuckets::kFirstNew ? bucket : bucket - UnitBuckets::kFirstNew] = true;
}

void UnitBook::FinishLoading(Interrupt& interrupt) {
    interrupt.Poll();
    const bool read_new = next_bucket_ >= UnitBuckets::kFirstNew;
    if (!read_new)
        FinishRun(true);
    FinishRun(false);
    const uint32_t last =
        stored_.new_buckets > 0 ? UnitBuckets::kFirstNew + stored_.new_buckets : stored_.old_buckets;
    if (next_bucket_ != last || spent_.size() != stored_.units)
        ThrowDamaged("Some of it is not there.");
    const uint64_t room = uint64_t{old_.buckets} * kBucketUnits;
    const uint64_t opened = stored_.opened + newcomers_.size();
    const uint64_t write = stored_.writes + 1, bound = rooms_.Bound(write, opened);
    const bool moves = new_.buckets == 0 || !rooms_.Stays(write, room, bound, stored_.moved);
    AddNewcomers();
    if (moves)
        MoveNewcomers(bound);
    stored_.opened = opened;
    CheckInternal(old_.units <= uint64_t{old_.buckets} * kBucketUnits &&
                      new_.units <= uint64_t{new_.buckets} * kBucketUnits,
                  "a bound is never below the truth");
    std::vector<Entry>().swap(entries_);
    std::vector<uint32_t>().swap(missed_);
    std::vector<uint32_t>().swap(newcomers_);
}

// From the back, so that every accumulator moves once.
void UnitBook::AddNewcomers() {
    if (newcomers_.empty())
        return;
    const size_t begin = old_.units;
    size_t stored = new_.units, added = newcomers_.size(), to = stored + added;
    std::vector<uint32_t> moved(stored);
    new_.keys.resize(to * kKeySize);
    spent_.resize(begin + to);
    new_.units = to;
    new_.writes_keys = true;
    while (stored > 0 || added > 0) {
        to--;
        const Entry* entry = added > 0 ? &entries_[newcomers_[added - 1]] : nullptr;
        if (entry == nullptr ||
            (stored > 0 && Less(entry->key, ReadKey(&new_.keys[(stored - 1) * kKeySize])))) {
            stored--;
            moved[stored] = static_cast<uint32_t>(begin + to);
            memmove(&new_.keys[to * kKeySize], &new_.keys[stored * kKeySize], kKeySize);
            spent_[begin + to] = spent_[begin + stored];
            continue;
        }
        added--;
        WriteKey(entry->key, &new_.keys[to * kKeySize]);
        spent_[begin + to] = 0;
        place_[entry->unit] = static_cast<uint32_t>(begin + to);
    }
    for (const uint32_t number : missed_) {  // newcomers are in the same order
        const uint32_t unit = entries_[number].unit;
        if (added < newcomers_.size() && newcomers_[added] == number)
            added++;
        else
            place_[unit] = moved[place_[unit] - begin];
    }
}

// Makes one run of both, with the room that the bound asks for, whether there are newcomers or not.
void UnitBook::MoveNewcomers(uint64_t bound) {
    size_t stored = old_.units, added = new_.units, to = stored + added;
    if (stored == 0) {
        old_.keys.swap(new_.keys);
    } else if (added > 0) {
        std::vector<uint32_t> moved(to);
        const std::vector<uint32_t> spent(spent_.begin() + static_cast<std::ptrdiff_t>(stored), spent_.end());
        old_.keys.resize(to * kKeySize);
        while (to > 0) {
            to--;
            const bool takes_old =
                added == 0 || (stored > 0 && memcmp(&old_.keys[(stored - 1) * kKeySize],
                                                    &new_.keys[(added - 1) * kKeySize], kKeySize) > 0);
            const char* key =
                takes_old ? &old_.keys[(stored - 1) * kKeySize] : &new_.keys[(added - 1) * kKeySize];
            memmove(&old_.keys[to * kKeySize], key, kKeySize);
            moved[takes_old ? stored - 1 : old_.units + added - 1] = static_cast<uint32_t>(to);
            spent_[to] = takes_old ? spent_[stored - 1] : spent[added - 1];
            (takes_old ? stored : added)--;
        }
        for (uint32_t& place : place_)
            place = moved[place];
    }
    old_.units += new_.units;
    old_.Widen(UnitRooms::RoomFor(bound));
    old_.holds_keys = old_.writes_keys = true;
    new_.units = 0;
    new_.keys.clear();
    new_.Widen(rooms_.RoomForNew(uint64_t{old_.buckets} * kBucketUnits));
    new_.writes_keys = true;
    stored_.moved = bound;
}

void UnitBook::MarkChanged(size_t place) {
    if (place < old_.units)
        old_.changed[place / kBucketUnits] = true;
    else
        new_.changed[(place - old_.units) / kBucketUnits] = true;
}

void UnitBook::Set(size_t unit, uint32_t spent) {
    uint32_t& now = spent_[place_[unit]];
    if (now == spent)
        return;
    now = spent;
    MarkChanged(place_[unit]);
}

void UnitBook::Remove(size_t unit) {
    Run* run = place_[unit] < old_.units ? &old_ : &new_;
    CheckInternal(run->holds_keys, "only a book that holds its keys can take one away");
    run->writes_keys = true;
    removed_.push_back(place_[unit]);
}

void UnitBook::RewriteKeys() {
    CheckInternal(old_.holds_keys && new_.holds_keys, "only a book that holds its keys can write them");
    old_.writes_keys = new_.writes_keys = true;
}

// A charge writes keys where somebody could be new, whether somebody is or not.
void UnitBook::WriteKeysIfHeld() {
    old_.writes_keys = old_.writes_keys || (old_.holds_keys && new_.buckets == 0);
    new_.writes_keys = new_.writes_keys || new_.holds_keys;
}

void UnitBook::TouchAll() {
    old_.changed.assign(old_.buckets, true);
    new_.changed.assign(new_.buckets, true);
    WriteKeysIfHeld();
}

// All buckets are written, whoever reserves something.
void UnitBook::BeginReserved(uint32_t most) {
    CheckInternal(!reserving_ && removed_.empty(), "a book reserves for one release");
    reserving_ = true;
    reserved_most_ = most;
    reserved_.assign(spent_.size(), false);
    WriteKeysIfHeld();
}

}  // namespace dpboost
