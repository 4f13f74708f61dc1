// The catalog's buckets in memory, for tests of books and accounts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "training/units/unit_account.h"

namespace dpboost {

struct UnitShelf {
    std::string salt = std::string(kUnitSaltSize, 's');
    UnitLimit limit{1, 1e-6, Budget(1, 1e-6).order()};
    UnitBuckets header;
    struct Bucket {
        std::string keys, spent, reserved;
    };
    std::map<uint32_t, Bucket> buckets;

    void LoadInto(UnitBook* book) const {
        NoInterrupt interrupt;
        for (const auto& [number, bucket] : buckets)
            book->Load(number, bucket.keys, bucket.spent, bucket.reserved);
        book->FinishLoading(interrupt);
    }

    // As the ledger worker writes it; false if the bytes are not whole.
    bool Write(const std::string& bytes) {
        UnitWriteReader reader;
        if (!reader.Open(bytes.data(), bytes.size()))
            return false;
        reader.buckets.writes = header.writes + 1;
        header = reader.buckets;
        UnitWrite write;
        while (reader.Next(&write)) {
            Bucket& bucket = buckets[write.bucket];
            if (write.has_keys)
                bucket.keys.assign(write.keys, UnitBook::kKeysSize);
            if (write.has_spent)
                bucket.spent.assign(write.spent, kBucketUnits * UnitBook::kSpentSize);
            bucket.reserved.assign(write.reserved, write.reserved_size);
        }
        return reader.left == 0 && reader.at == reader.end;
    }

    // What these units have spent.
    std::vector<uint32_t> Spent(const std::vector<UnitKey>& keys) const {
        NoInterrupt interrupt;
        UnitBook book(salt, header, limit);
        book.SetUnits(keys, interrupt);
        LoadInto(&book);
        std::vector<uint32_t> spent;
        for (size_t unit = 0; unit < keys.size(); unit++)
            spent.push_back(book.spent(unit));
        return spent;
    }
};

inline std::vector<UnitKey> UnitKeys(int64_t first, int64_t count) {
    std::vector<UnitKey> keys;
    for (int64_t i = first; i < first + count; i++)
        keys.push_back(UnitKeyOf(i));
    return keys;
}

}  // namespace dpboost
