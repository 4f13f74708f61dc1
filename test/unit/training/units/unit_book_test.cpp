#include "training/units/unit_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "support/units/unit_shelf.h"
#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

NoInterrupt interrupt;

// Opens a book over the shelf for these units.
UnitBook OpenBook(const UnitShelf& shelf, const std::vector<UnitKey>& keys) {
    UnitBook book(shelf.salt, shelf.header, shelf.limit);
    book.SetUnits(keys, interrupt);
    shelf.LoadInto(&book);
    return book;
}

size_t Bytes(const UnitShelf& shelf) {
    size_t bytes = 0;
    for (const auto& [number, bucket] : shelf.buckets)
        bytes += bucket.keys.size() + bucket.spent.size();
    return bytes;
}

TEST(UnitBook, NewUnitsHaveSpentNothingAndAreRemembered) {
    UnitShelf shelf;
    UnitBook book = OpenBook(shelf, UnitKeys(0, 3));
    EXPECT_EQ(book.spent(1), 0u);
    book.Set(0, 7);
    book.Set(2, kUnitForgotten);
    ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
    EXPECT_EQ(shelf.header.units, 3u);
    EXPECT_EQ(shelf.Spent(UnitKeys(0, 5)), (std::vector<uint32_t>{7, 0, kUnitForgotten, 0, 0}));
}

// Keys are written once; then a charge leaves them alone, and a book that changes nothing writes nothing.
TEST(UnitBook, AChargeLeavesKeysAlone) {
    UnitShelf shelf;
    UnitBook book = OpenBook(shelf, UnitKeys(0, 1000));
    const size_t first = book.WriteOut(interrupt).size();
    EXPECT_GE(first, 1000u * 20);
    book.Set(5, 1);
    const std::string second = book.WriteOut(interrupt);
    EXPECT_LT(second.size(), first / 4);
    EXPECT_LT(book.WriteOut(interrupt).size(), 100u);
}

// Whoever loads what was reserved takes it for spent, and has it written so; once settled it is what was lost.
TEST(UnitBook, AReservationIsSpentUntilItIsSettled) {
    UnitShelf shelf;
    {
        UnitBook book = OpenBook(shelf, UnitKeys(0, 1000));
        for (size_t unit = 0; unit < 1000; unit++)
            book.Set(unit, unit % 2 == 0 ? 5 : kUnitWhole - 3);
        book.Set(999, kUnitForgotten);
        ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
    }
    UnitBook book = OpenBook(shelf, UnitKeys(0, 1000));
    book.BeginReserved(10);
    EXPECT_THROW(book.BeginReserved(10), Error);
    for (size_t unit = 0; unit < 1000; unit += unit % 2 == 0 ? 1 : 3)  // 0, 1, 4, 5, ...
        book.Reserve(unit);
    book.Reserve(999);
    const UnitShelf before = shelf;
    ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
    EXPECT_EQ(book.spent(0), 5u);
    EXPECT_EQ(shelf.buckets[0].spent, before.buckets.at(0).spent);
    const auto expect_spent = [](const UnitShelf& at) {
        const std::vector<uint32_t> spent = at.Spent(UnitKeys(0, 1000));
        const uint32_t expected[] = {15, kUnitWhole, 5, kUnitWhole - 3};
        for (size_t unit = 0; unit < 999; unit++)
            EXPECT_EQ(spent[unit], expected[unit % 4]) << unit;
        EXPECT_EQ(spent[999], kUnitForgotten);
    };
    expect_spent(shelf);
    UnitShelf settled = shelf;
    book.Set(0, 7);
    book.EndReserved();
    book.TouchAll();
    const std::string bytes = book.WriteOut(interrupt);
    EXPECT_EQ(bytes.size(), book.SpentSize());
    ASSERT_TRUE(settled.Write(bytes));
    EXPECT_EQ(settled.Spent(UnitKeys(0, 5)),
              (std::vector<uint32_t>{7, kUnitWhole - 3, 5, kUnitWhole - 3, 5}));
    UnitBook next = OpenBook(shelf, UnitKeys(2000, 1));  // the other one broke off
    ASSERT_TRUE(shelf.Write(next.WriteOut(interrupt)));
    EXPECT_TRUE(shelf.buckets[0].reserved.empty());
    expect_spent(shelf);
    shelf.buckets[0].reserved = "12345";
    EXPECT_THROW(shelf.Spent(UnitKeys(0, 1)), Error);
}

// Of millions a reservation is little more than a bit for each, and what is settled has no keys.
TEST(UnitBook, OfMillionsAReservationIsABitEach) {
    constexpr size_t kMany = 1'200'000;
    UnitShelf shelf;
    shelf.limit = UnitLimit(20, 1e-6, Budget(20, 1e-6).order());  // with little noise
    ASSERT_TRUE(shelf.Write(OpenBook(shelf, UnitKeys(0, kMany)).WriteOut(interrupt)));
    EXPECT_GT(shelf.header.new_buckets, 0u);
    UnitBook book = OpenBook(shelf, UnitKeys(0, kMany));
    book.BeginReserved(10);
    const std::string nobody = book.WriteOut(interrupt);
    EXPECT_LT(nobody.size(), kMany / 2);  // with the newcomers' room
    book.EndReserved();
    UnitBook other = OpenBook(shelf, UnitKeys(0, kMany));
    other.BeginReserved(10);
    for (size_t unit = 0; unit < kMany; unit++)
        other.Reserve(unit);
    const std::string all = other.WriteOut(interrupt);
    EXPECT_EQ(all.size(), nobody.size()) << "whoever takes part";
    ASSERT_TRUE(shelf.Write(all));
    EXPECT_EQ(shelf.Spent(UnitKeys(5, 2)), (std::vector<uint32_t>{10, 10}));
    other.EndReserved();
    other.TouchAll();
    EXPECT_EQ(other.WriteOut(interrupt).size(), other.SpentSize());
    EXPECT_LT(other.SpentSize(), kMany * 6);
}

// Above a million, whoever is new is kept apart, and found again; when there are too many of them, all is written.
TEST(UnitBook, NewcomersOfMillionsMoveWhenThereAreMany) {
    constexpr int64_t kMany = 1'200'000;
    UnitShelf shelf;
    int64_t known = 0;
    std::set<uint64_t> moved;
    std::set<size_t> sizes;
    for (const int64_t more :
         {kMany, int64_t{0}, int64_t{1}, int64_t{3000}, int64_t{2}, int64_t{40000}, int64_t{5}}) {
        std::vector<UnitKey> keys =
            UnitKeys(known - std::min(known, int64_t{5000}), std::min(known, int64_t{5000}) + more);
        UnitBook book = OpenBook(shelf, keys);
        for (size_t unit = 0; unit < book.units(); unit++)
            if (book.units() - unit <= static_cast<size_t>(more))
                book.Set(unit,
                         static_cast<uint32_t>(known + more - static_cast<int64_t>(book.units() - unit) + 1));
        book.TouchAll();
        const std::string bytes = book.WriteOut(interrupt);
        if (known > 0 && moved.size() == 1 && more < 40000)
            sizes.insert(bytes.size());
        ASSERT_TRUE(shelf.Write(bytes));
        known += more;
        EXPECT_EQ(shelf.header.units, static_cast<uint64_t>(known));
        moved.insert(shelf.header.moved);
        EXPECT_EQ(moved.size(), known > kMany + 40000 ? 2u : 1u);
        const std::vector<UnitKey> last = UnitKeys(known - 50000, 50001);
        const std::vector<uint32_t> spent = shelf.Spent(last);
        for (int64_t i = 0; i < 50000; i++)
            ASSERT_EQ(spent[static_cast<size_t>(i)], static_cast<uint32_t>(known - 50000 + i + 1)) << known;
        EXPECT_EQ(spent[50000], 0u);
    }
    EXPECT_EQ(sizes.size(), 1u) << "whether anybody is new";
    UnitBook book = OpenBook(shelf, UnitKeys(known - 6, 3));  // one of the old ones, two of the newcomers
    book.Remove(0);
    book.Remove(2);
    ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
    EXPECT_EQ(shelf.header.units, static_cast<uint64_t>(known - 2));
    EXPECT_EQ(shelf.header.opened, static_cast<uint64_t>(known)) << "what sizes follow from";
    const auto of = [&](int64_t unit) { return static_cast<uint32_t>(unit + 1); };
    EXPECT_EQ(shelf.Spent(UnitKeys(known - 7, 5)),
              (std::vector<uint32_t>{of(known - 7), 0, of(known - 5), 0, of(known - 3)}));
}

TEST(UnitBook, LessThanTwentyBytesPerUnitAndBucketsGrowWithThem) {
    UnitShelf shelf;
    const uint64_t pad = UnitRooms(shelf.salt, shelf.limit).pad();
    int64_t known = 0;
    for (int64_t more : {100, 9000, 30000, 1, 100000}) {
        UnitBook book = OpenBook(shelf, UnitKeys(known, more));
        for (size_t unit = 0; unit < book.units(); unit++)
            book.Set(unit, static_cast<uint32_t>(known + static_cast<int64_t>(unit) + 1));
        ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
        known += more;
        EXPECT_LT(Bytes(shelf), shelf.buckets.size() * kBucketUnits * 19.2);
        EXPECT_GE(shelf.buckets.size() * kBucketUnits, static_cast<uint64_t>(known));
        EXPECT_LT(shelf.buckets.size() * kBucketUnits, static_cast<uint64_t>(known) + 2 * pad + kBucketUnits);
        EXPECT_EQ(shelf.header.units, static_cast<uint64_t>(known));
        const std::vector<uint32_t> spent = shelf.Spent(UnitKeys(0, known));
        for (int64_t i = 0; i < known; i++)
            ASSERT_EQ(spent[static_cast<size_t>(i)], static_cast<uint32_t>(i + 1)) << known;
    }
}

// What charges write: to an empty shelf, for the same units again, with one that is new, and with nobody.
std::vector<size_t> SizesWritten(const std::string& salt, int64_t units) {
    UnitShelf shelf;
    shelf.salt = salt;
    std::vector<size_t> sizes;
    for (const int64_t present : {units, units, units + 1, int64_t{0}}) {
        UnitBook book = OpenBook(shelf, UnitKeys(0, present));
        for (size_t unit = 0; unit < book.units(); unit++)
            book.Set(unit, static_cast<uint32_t>(sizes.size() + 1));
        book.TouchAll();
        const std::string reserved = book.WriteOut(interrupt);
        EXPECT_TRUE(shelf.Write(reserved));
        sizes.push_back(reserved.size());
        book.TouchAll();
        const std::string settled = book.WriteOut(interrupt);
        EXPECT_TRUE(shelf.Write(settled));
        sizes.push_back(settled.size());
        sizes.push_back(Bytes(shelf));
    }
    return sizes;
}

// The same from the noisy bounds alone.
std::vector<size_t> SizesOfBounds(const std::string& salt, int64_t units) {
    const UnitRooms rooms(salt, UnitShelf().limit);
    std::vector<size_t> sizes;
    uint64_t room = 0, write = 1;
    for (const int64_t opened : {units, units, units + 1, units + 1}) {
        room = std::max(room, UnitRooms::RoomFor(rooms.Bound(write, static_cast<uint64_t>(opened))));
        write += 2;  // and one that settles
        const size_t buckets = room / kBucketUnits,
                     bytes = buckets * (UnitBook::kKeysSize + kBucketUnits * 4);
        sizes.insert(sizes.end(), {UnitWriteReader::kHeaderSize + buckets * 16 + bytes,
                                   UnitWriteReader::kHeaderSize + buckets * (16 + kBucketUnits * 4), bytes});
    }
    return sizes;
}

// Everybody sees how much was written: who is there, who is new and who takes part change nothing but through noisy counts.
TEST(UnitBook, SizesFollowFromNoisyCountsAlone) {
    for (const char letter : {'s', 't', 'u', 'v'}) {
        const std::string salt(kUnitSaltSize, letter);
        for (int64_t units = 0; units < 9000; units += units < 3 ? 1 : 499)
            EXPECT_EQ(SizesWritten(salt, units), SizesOfBounds(salt, units)) << letter << units;
    }
}

// A room that the noise widens is written whoever comes, of millions, too.
TEST(UnitBook, RoomsOfMillionsFollowFromNoisyCountsAlone) {
    UnitShelf shelf;
    shelf.limit =
        UnitLimit(0.02, 1e-6, Budget(0.02, 1e-6).order());  // so much noise that nobody fills a million
    const UnitRooms noisy(shelf.salt, shelf.limit);
    ASSERT_GT(noisy.pad(), UnitRooms::kMostWhole / 4);
    uint64_t room = 0, moved = 0;
    for (uint64_t write = 1; write < 7; write++) {
        ASSERT_TRUE(shelf.Write(OpenBook(shelf, UnitKeys(0, 3)).WriteOut(interrupt)));
        const uint64_t bound = noisy.Bound(write, 3);
        if (noisy.RoomForNew(room) == 0 || !noisy.Stays(write, room, bound, moved)) {
            room = std::max(room, UnitRooms::RoomFor(bound));
            moved = bound;
        }
        EXPECT_EQ(shelf.header.old_buckets, room / kBucketUnits);
        EXPECT_EQ(shelf.header.new_buckets, noisy.RoomForNew(room) / kBucketUnits);
        EXPECT_EQ(shelf.header.moved, moved);
    }
}

// Whoever is removed, an old one, a newcomer or nobody, all keys are written.
TEST(UnitBook, ARemovalDoesNotTellWhoWasThere) {
    constexpr int64_t kMany = 1'100'000;
    UnitShelf shelf;
    shelf.limit = UnitLimit(20, 1e-6, Budget(20, 1e-6).order());
    for (const int64_t present : {kMany, kMany + 10})
        ASSERT_TRUE(shelf.Write(OpenBook(shelf, UnitKeys(0, present)).WriteOut(interrupt)));
    ASSERT_GT(shelf.header.new_buckets, 0u);
    std::set<size_t> sizes;
    for (const int64_t removed : {int64_t{5}, kMany + 5, 2 * kMany}) {
        UnitBook book = OpenBook(shelf, UnitKeys(removed, 1));
        book.Remove(0);
        book.RewriteKeys();
        sizes.insert(book.WriteOut(interrupt).size());
    }
    EXPECT_EQ(sizes.size(), 1u);
}

// First bytes that ascend, stay and jump.
TEST(UnitBook, KeysComeBackFromTheirBytes) {
    std::mt19937_64 random(5);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{300}, kBucketUnits}) {
        std::vector<UnitKey> sorted(count);
        for (UnitKey& key : sorted)
            key = {random(), random() >> (count == 300 ? 9 : 0)};
        std::sort(sorted.begin(), sorted.end(), Less);
        std::string keys(kBucketUnits * 16, '\xff'), packed(UnitBook::kKeysSize, 'x'), back(keys.size(), 'x');
        for (size_t i = 0; i < count; i++)
            WriteKey(sorted[i], &keys[16 * i]);
        unit_bytes::PackKeys(keys.data(), count, packed.data());
        ASSERT_TRUE(unit_bytes::UnpackKeys(packed.data(), back.data()));
        EXPECT_EQ(back, keys);
        packed.replace(unit_bytes::kRestsSize, unit_bytes::kStepBits / 8, unit_bytes::kStepBits / 8, '\0');
        EXPECT_FALSE(unit_bytes::UnpackKeys(packed.data(), back.data()));
    }
}

// Against a plain map, over random openings: some units, some new, some set, some removed, some reserved and not settled.
TEST(UnitBook, IsAMap) {
    std::mt19937_64 random(3);
    UnitShelf shelf;
    std::map<int64_t, uint32_t> map;
    for (int opening = 0; opening < 60; opening++) {
        std::set<int64_t> chosen;
        for (size_t n = random() % 3000; n > 0; n--)
            chosen.insert(static_cast<int64_t>(random() % 20000));
        std::vector<UnitKey> keys;
        for (int64_t unit : chosen)
            keys.push_back(UnitKeyOf(unit));
        UnitBook book = OpenBook(shelf, keys);
        if (opening % 3 == 1)
            book.BeginReserved(1u << 29);
        size_t number = 0;
        for (int64_t unit : chosen) {
            ASSERT_EQ(book.spent(number), map.count(unit) != 0 ? map[unit] : 0);
            if (opening % 3 == 1 && random() % 2 == 0) {
                book.Reserve(number);
                map[unit] += std::min(1u << 29, UnitLeft(map[unit]));
            } else if (opening % 3 == 0 && random() % 4 == 0) {
                book.Remove(number);
                map.erase(unit);
            } else {
                map[unit] = static_cast<uint32_t>(random());
                book.Set(number, map[unit]);
            }
            number++;
        }
        ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
        ASSERT_EQ(shelf.header.units, map.size());
    }
}

TEST(UnitBook, RefusesWhatIsDamagedOrMissing) {
    UnitShelf shelf;
    UnitBook book = OpenBook(shelf, UnitKeys(0, 20000));
    ASSERT_TRUE(shelf.Write(book.WriteOut(interrupt)));
    ASSERT_GT(shelf.buckets.size(), 2u);  // of which two at least are full
    const auto refuses = [](const UnitShelf& damaged) {
        try {
            damaged.Spent(UnitKeys(0, 10));
        } catch (const Error& error) {
            return error.code() == ErrorCode::kCorrupted;
        }
        return false;
    };
    EXPECT_FALSE(refuses(shelf));
    UnitShelf lost = shelf;
    lost.buckets.erase(1);
    EXPECT_TRUE(refuses(lost));
    UnitShelf moved = shelf;
    moved.buckets[0].keys.swap(moved.buckets[1].keys);
    moved.buckets[0].spent.swap(moved.buckets[1].spent);
    EXPECT_TRUE(refuses(moved));
    UnitShelf twice = shelf;
    twice.buckets[0].keys.replace(0, 15, twice.buckets[0].keys, 15, 15);
    EXPECT_TRUE(refuses(twice));
    UnitShelf shorter = shelf;
    shorter.buckets[0].spent.resize(shorter.buckets[0].spent.size() - 4);
    EXPECT_TRUE(refuses(shorter));
    UnitShelf unsalted = shelf;
    unsalted.salt = "short";
    EXPECT_TRUE(refuses(unsalted));
}

TEST(UnitBook, ReaderRefusesOtherBytes) {
    UnitShelf shelf;
    UnitBook book = OpenBook(shelf, UnitKeys(0, 100));
    const std::string bytes = book.WriteOut(interrupt);
    for (size_t size = 0; size < bytes.size(); size += size < 4000 ? 7 : 701) {
        UnitShelf other;
        EXPECT_FALSE(other.Write(bytes.substr(0, size)));
    }
    EXPECT_FALSE(UnitShelf().Write(std::string(bytes.size(), 'x')));
}

TEST(UnitBook, KeysAreSaltedApart) {
    const std::string one(16, 'a'), two(16, 'b');
    const auto salt = [](const std::string& text) {
        return reinterpret_cast<const unsigned char*>(text.data());
    };
    const UnitKey key = UnitKeyOf(int64_t{42});
    EXPECT_FALSE(SaltedKey(salt(one), key) == SaltedKey(salt(two), key));
    EXPECT_FALSE(SaltedKey(salt(one), key) == key);
    EXPECT_TRUE(SaltedKey(salt(one), key) == SaltedKey(salt(one), key));
}

}  // namespace
}  // namespace dpboost
