#include "base/large_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dataset/dataset.h"

namespace dpboost {
namespace {

// kB that this process holds in memory, without what malloc keeps of earlier tests.
size_t Resident() {
    malloc_trim(0);
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
        if (word == "VmRSS:") {
            size_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes;
        }
    return 0;
}

bool IsZero(const uint8_t* bytes, size_t size) {
    return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0;
}

TEST(LargeMemory, IsZeroedAlignedAndWritableToItsEnd) {
    for (size_t bytes : {size_t{1}, size_t{64}, size_t{100000}, kHugePage - 1, kHugePage, kHugePage + 1,
                         3 * kHugePage + 4097}) {
        auto* const memory = static_cast<uint8_t*>(TakeLarge(bytes));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
        EXPECT_TRUE(IsZero(memory, bytes)) << bytes;
        std::memset(memory, 0xff, bytes);
        FreeLarge(memory, bytes);
    }
}

#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed
TEST(LargeMemory, GoesBackToTheSystem) {
    constexpr size_t kBytes = 64 * kHugePage;
    const size_t before = Resident();
    void* const memory = TakeLarge(kBytes);
    EXPECT_LT(Resident(), before + 4096) << "nothing is there before it is used";
    std::memset(memory, 1, kBytes);
    EXPECT_GT(Resident(), before + kBytes / 1024 - 4096);
    FreeLarge(memory, kBytes);
    EXPECT_LT(Resident(), before + 4096);
}
#endif

TEST(LargeMemory, MoreThanThereIsThrows) {
#ifndef __SANITIZE_ADDRESS__  // which ends the program instead
    EXPECT_THROW(TakeLarge(size_t{1} << 60), std::bad_alloc);
    EXPECT_THROW(LargeVector<uint64_t>().reserve(size_t{1} << 59), std::bad_alloc);
#endif
}

TEST(LargeMemory, VectorsGrowAndKeepWhatTheyHold) {
    LargeVector<uint32_t> numbers;
    for (uint32_t i = 0; i < 3000000; i++)
        numbers.push_back(i);
    for (uint32_t i = 0; i < 3000000; i++)
        ASSERT_EQ(numbers[i], i);
    const LargeVector<uint32_t> copy = numbers;
    EXPECT_EQ(copy, numbers);
}

TEST(LargePieces, AreZeroedAndDoNotOverlap) {
    for (size_t bytes : {size_t{64}, size_t{131072}, size_t{700032}, kHugePage, 5 * kHugePage}) {
        LargePieces pieces;
        std::vector<LargePiece> taken;
        const size_t count = bytes < 100 ? 70000 : 40;
        for (size_t i = 0; i < count; i++) {
            taken.push_back(pieces.Take(bytes));
            ASSERT_TRUE(IsZero(taken.back().get(), bytes));
            std::memset(taken.back().get(), 0xff, bytes);
        }
        std::set<const uint8_t*> starts;
        for (const auto& piece : taken)
            starts.insert(piece.get());
        const uint8_t* end = nullptr;
        for (const uint8_t* start : starts) {
            EXPECT_GE(start, end);
            end = start + bytes;
        }
        EXPECT_EQ(starts.size(), count);
    }
}

#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed
// Many groups have rows of a few megabytes each, and their limit counts what they hold.
TEST(LargePieces, HoldLittleMoreThanIsTaken) {
    constexpr size_t kBytes = 131072;
    for (size_t count : {10, 17, 33, 65, 129}) {
        std::vector<LargePieces> groups(20);
        std::vector<LargePiece> taken;
        const size_t before = Resident();
        for (LargePieces& pieces : groups)
            for (size_t i = 0; i < count; i++) {
                taken.push_back(pieces.Take(kBytes));
                std::memset(taken.back().get(), 1, kBytes);
            }
        EXPECT_LT(Resident() - before, 20 * count * kBytes / 1024 * 13 / 10 + 4096) << count;
    }
}
#endif

TEST(LargePieces, HaveOneOwner) {
    static_assert(!std::is_copy_constructible_v<LargePieces> && !std::is_copy_constructible_v<LargePiece>);
    static_assert(!std::is_copy_constructible_v<DatasetBuilder>);
    LargePieces pieces;
    const LargePiece first = pieces.Take(100);
    LargePieces other(std::move(pieces));
    const LargePiece second = other.Take(100), third = pieces.Take(100);
    EXPECT_NE(first.get(), second.get());
    EXPECT_TRUE(IsZero(third.get(), 100));
}

#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed
// Where rows go to another process, what has been written is freed on the way.
TEST(LargePieces, AreFreedMappingByMapping) {
    constexpr size_t kBytes = 131072;
    constexpr size_t kCount = 2000;
    LargePieces pieces;
    std::vector<LargePiece> taken;
    const size_t before = Resident();
    for (size_t i = 0; i < kCount; i++) {
        taken.push_back(pieces.Take(kBytes));
        std::memset(taken.back().get(), 1, kBytes);
    }
    const size_t all = Resident() - before;
    EXPECT_GE(all, kCount * kBytes / 1024 - 4096);
    EXPECT_LE(all, kCount * kBytes / 1024 + 4096) << "what is not taken is not held";
    for (size_t i = 0; i < kCount / 2; i++)
        taken[i].reset();
    EXPECT_LT(Resident() - before, all / 2 + 28000) << "but for the mapping of both halves, and the first";
    taken.clear();
    pieces.Reset();
    EXPECT_LT(Resident(), before + 8192);
}
#endif

}  // namespace
}  // namespace dpboost
