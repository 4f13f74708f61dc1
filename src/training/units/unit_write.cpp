// What a book gives to be written, and how the process that writes the catalog reads it: plain data, no exceptions.
//
// The bytes, little-endian. keys: see unit_bytes.h; spent: u32 each, then zeros as far. reserved: empty, or u32 what each has
// reserved, then a bit for each, the lowest of a byte first. WriteOut: u32 magic, u32 old buckets, u32 new buckets, u32 buckets
// that follow, u64 units, u64 opened, u64 moved; then for each u32 bucket, u32 (1: has keys, 2: has spent), u32 size of reserved, u32 0, and
// keys, spent and reserved as far as it has them, padded to 8 bytes.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "training/units/unit_book.h"
#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

constexpr size_t kAllSpentSize = kBucketUnits * UnitBook::kSpentSize;

}  // namespace

size_t UnitBook::SpentSize() const {
    return UnitWriteReader::kHeaderSize +
           (size_t{old_.buckets} + new_.buckets) * (unit_bytes::kBucketHeader + kAllSpentSize);
}

size_t UnitBook::WriteSize(const Run& run) const {
    size_t size = 0;
    for (size_t b = 0; b < run.buckets; b++)
        if (MustWrite(run, b))
            size += unit_bytes::kBucketHeader + (run.writes_keys ? kKeysSize : 0) +
                    (run.writes_keys || run.changed[b] ? kAllSpentSize : 0) +
                    (reserving_ ? unit_bytes::Padded(unit_bytes::kReservedSize) : 0);
    return size;
}

char* UnitBook::WriteReserved(size_t begin, size_t count, char* out) const {
    memset(out, 0, unit_bytes::Padded(unit_bytes::kReservedSize));
    WriteU32(reserved_most_, out);
    for (size_t i = 0; i < count; i++)
        if (reserved_[begin + i])
            out[sizeof(uint32_t) + i / 8] |= static_cast<char>(1 << (i % 8));
    return out + unit_bytes::Padded(unit_bytes::kReservedSize);
}

// `begin`: of the run in spent_.
char* UnitBook::WriteBucket(const Run& run, size_t bucket, size_t begin, char* out) const {
    const size_t first = std::min(run.units, bucket * kBucketUnits);
    const size_t count = std::min(run.units - first, kBucketUnits);
    if (run.writes_keys) {
        unit_bytes::PackKeys(run.keys.data() + first * kKeySize, count, out);
        out += kKeysSize;
    }
    if (run.writes_keys || run.changed[bucket]) {
        for (size_t i = 0; i < count; i++)
            WriteU32(spent_[begin + first + i], out + i * kSpentSize);
        memset(out + count * kSpentSize, 0, (kBucketUnits - count) * kSpentSize);
        out += kAllSpentSize;
    }
    return reserving_ ? WriteReserved(begin + first, count, out) : out;
}

void UnitBook::WriteRun(Run* run, uint32_t first_bucket, size_t begin, char** out,
                        Interrupt& interrupt) const {
    for (size_t b = 0; b < run->buckets; b++) {
        if (!MustWrite(*run, b))
            continue;
        interrupt.Poll();
        WriteU32(first_bucket + static_cast<uint32_t>(b), *out);
        WriteU32((run->writes_keys ? unit_bytes::kHasKeys : 0) |
                     (run->writes_keys || run->changed[b] ? unit_bytes::kHasSpent : 0),
                 *out + 4);
        WriteU32(reserving_ ? unit_bytes::kReservedSize : 0, *out + 8);
        WriteU32(0, *out + 12);
        *out = WriteBucket(*run, b, begin, *out + unit_bytes::kBucketHeader);
    }
    run->changed.assign(run->buckets, false);
    run->writes_keys = run->holds_keys = false;
    std::string().swap(run->keys);
}

// Closes the gaps of those that were removed.
void UnitBook::TakeRemoved() {
    if (removed_.empty())
        return;
    std::sort(removed_.begin(), removed_.end());
    const auto close = [&](Run* run, size_t begin, size_t to) {
        size_t kept = 0;
        for (size_t i = 0; i < run->units; i++) {
            if (std::binary_search(removed_.begin(), removed_.end(), begin + i))
                continue;
            if (run->holds_keys)
                memmove(&run->keys[kept * kKeySize], &run->keys[i * kKeySize], kKeySize);
            spent_[to + kept] = spent_[begin + i];
            kept++;
        }
        run->units = kept;
        if (run->holds_keys)
            run->keys.resize(kept * kKeySize);
        return kept;
    };
    const size_t first_new = old_.units, kept = close(&old_, 0, 0);
    spent_.resize(kept + close(&new_, first_new, kept));
    removed_.clear();
}

std::string UnitBook::WriteOut(Interrupt& interrupt) {
    TakeRemoved();
    uint32_t count = 0;
    for (const Run* run : {&old_, &new_})
        for (size_t b = 0; b < run->buckets; b++)
            count += MustWrite(*run, b) ? 1 : 0;
    std::string bytes(UnitWriteReader::kHeaderSize + WriteSize(old_) + WriteSize(new_), '\0');
    char* out = bytes.data();
    for (const uint32_t word : {unit_bytes::kMagic, old_.buckets, new_.buckets, count}) {
        WriteU32(word, out);
        out += sizeof word;
    }
    for (const uint64_t word : {uint64_t{spent_.size()}, stored_.opened, stored_.moved}) {
        WriteU64(word, out);
        out += sizeof word;
    }
    WriteRun(&old_, 0, 0, &out, interrupt);
    WriteRun(&new_, UnitBuckets::kFirstNew, old_.units, &out, interrupt);
    CheckInternal(out == bytes.data() + bytes.size(), "what is written has the size that it should have");
    return bytes;
}

bool UnitWriteReader::Open(const char* bytes, size_t size) {
    if (size < kHeaderSize || ReadU32(bytes) != unit_bytes::kMagic)
        return false;
    buckets = {};
    buckets.old_buckets = ReadU32(bytes + 4);
    buckets.new_buckets = ReadU32(bytes + 8);
    left = ReadU32(bytes + 12);
    buckets.units = ReadU64(bytes + 16);
    buckets.opened = ReadU64(bytes + 24);
    buckets.moved = ReadU64(bytes + 32);
    at = bytes + kHeaderSize;
    end = bytes + size;
    return buckets.old_buckets < UnitBuckets::kFirstNew && buckets.new_buckets < UnitBuckets::kFirstNew;
}

bool UnitWriteReader::Next(UnitWrite* write) {
    if (left == 0 || static_cast<size_t>(end - at) < unit_bytes::kBucketHeader)
        return false;
    write->bucket = ReadU32(at);
    const uint32_t flags = ReadU32(at + 4);
    write->has_keys = (flags & unit_bytes::kHasKeys) != 0;
    write->has_spent = (flags & unit_bytes::kHasSpent) != 0;
    write->reserved_size = ReadU32(at + 8);
    const size_t keys = write->has_keys ? UnitBook::kKeysSize : 0;
    const size_t spent = write->has_spent ? kAllSpentSize : 0;
    const size_t size = unit_bytes::kBucketHeader + keys + spent + unit_bytes::Padded(write->reserved_size);
    if (!buckets.Has(write->bucket) || flags > (unit_bytes::kHasKeys | unit_bytes::kHasSpent) ||
        (write->has_keys && !write->has_spent) ||
        (write->reserved_size != 0 && write->reserved_size != unit_bytes::kReservedSize) ||
        static_cast<size_t>(end - at) < size)
        return false;
    write->keys = at + unit_bytes::kBucketHeader;
    write->spent = write->keys + keys;
    write->reserved = write->spent + spent;
    at += size;
    left--;
    return true;
}

}  // namespace dpboost
