// What a book gave to be written, read by the process that writes the catalog: plain data, no exceptions. The bytes are told
// of in unit_book.cpp.
#include "training/units/unit_book.h"
#include "training/units/unit_bytes.h"

namespace dpboost {

bool UnitWriteReader::Open(const char* bytes, size_t size) {
    if (size < kHeaderSize || ReadU32(bytes) != unit_bytes::kMagic)
        return false;
    const uint32_t flags = ReadU32(bytes + 4);
    bits = static_cast<int>(flags & 0xff);
    replaces_all = (flags & 0x100) != 0;
    units = ReadU32(bytes + 8) | uint64_t{ReadU32(bytes + 12)} << 32;
    left = ReadU32(bytes + 16);
    at = bytes + kHeaderSize;
    end = bytes + size;
    return flags <= 0x1ff && bits <= unit_bytes::kMaxBits;
}

bool UnitWriteReader::Next(UnitWrite* write) {
    if (left == 0 || static_cast<size_t>(end - at) < unit_bytes::kBucketHeader)
        return false;
    write->bucket = ReadU32(at);
    const uint32_t flags = ReadU32(at + 4);
    write->has_keys = (flags & unit_bytes::kHasKeys) != 0;
    write->has_spent = (flags & unit_bytes::kHasSpent) != 0;
    write->units = ReadU32(at + 8);
    write->reserved_size = ReadU32(at + 12);
    const size_t keys = write->has_keys ? size_t{write->units} * UnitBook::kKeySize : 0;
    const size_t spent =
        write->has_spent ? unit_bytes::Padded(size_t{write->units} * UnitBook::kSpentSize) : 0;
    const size_t size = unit_bytes::kBucketHeader + keys + spent + unit_bytes::Padded(write->reserved_size);
    if (write->bucket >= uint32_t{1} << bits || flags > (unit_bytes::kHasKeys | unit_bytes::kHasSpent) ||
        (write->has_keys && !write->has_spent) || static_cast<size_t>(end - at) < size)
        return false;
    write->keys = at + unit_bytes::kBucketHeader;
    write->spent = write->keys + keys;
    write->reserved = write->spent + spent;
    at += size;
    left--;
    return true;
}

}  // namespace dpboost
