#include "training/units/unit_rooms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace dpboost {
namespace {

std::string SaltOf(uint32_t number) {
    std::string salt(kUnitSaltSize, 'x');
    for (int i = 0; i < 4; i++)
        salt[static_cast<size_t>(i)] = static_cast<char>(number >> (8 * i));
    return salt;
}

// The bound of the proof, for an account that finds so many others: 1 in so many.
double OneIn(uint64_t units) {
    double sum = 0;
    uint64_t now = 0;
    for (uint64_t before = 0, room = UnitRooms::NextRoom(0); room < uint64_t{1} << 40;
         before = room, room = UnitRooms::NextRoom(room)) {
        if (room < units)
            continue;
        now = now == 0 ? room : now;
        sum += 1 / static_cast<double>(room - before);
    }
    if (UnitRooms::RoomForNew(now) > 0)
        sum += 2 / static_cast<double>(UnitRooms::RoomForNew(now));
    return 1 / sum;
}

TEST(UnitRooms, HaveRoom) {
    for (uint32_t salt = 0; salt < 50; salt++) {
        const UnitRooms rooms(SaltOf(salt));
        for (uint64_t units = 0; units < 30'000'000; units = units * 5 / 4 + 1) {
            const uint64_t room = rooms.RoomFor(units);
            EXPECT_GE(room, units);
            EXPECT_EQ(room % kBucketUnits, 0u);
            EXPECT_LE(rooms.RoomFor(units), rooms.RoomFor(units + 1));
            if (units > 6'000'000) {
                EXPECT_LE(room, units * 9 / 8 + 2 * kBucketUnits);
            }
            const uint64_t all = UnitRooms::RoomForNew(room), most = rooms.MostNew(room, salt);
            EXPECT_EQ(all > 0, room > UnitRooms::kMostWhole);
            EXPECT_TRUE(all == 0 || (most > all / 2 && most <= all));
            EXPECT_EQ(all % kBucketUnits, 0u);
        }
    }
}

// What unit_rooms.h and doc/units.md say.
TEST(UnitRooms, HideWhoComes) {
    EXPECT_GE(OneIn(0), 1600);
    EXPECT_GE(OneIn(1'000'000), 4200);
    EXPECT_GE(OneIn(10'000'000), 23000);
}

// Where a room ends is as likely in one place as in another, and independent of where the next one does.
TEST(UnitRooms, EndWhereNobodyKnows) {
    constexpr int kSalts = 4000;
    const auto share_of_larger = [](uint64_t units, uint64_t room) {
        int larger = 0;
        for (uint32_t salt = 0; salt < kSalts; salt++)
            larger += UnitRooms(SaltOf(salt)).RoomFor(units) > room ? 1 : 0;
        return static_cast<double>(larger) / kSalts;
    };
    for (const double part : {0.125, 0.5, 0.875}) {  // six standard deviations: false alarm 2e-9
        EXPECT_NEAR(share_of_larger(static_cast<uint64_t>(part * 8192), 8192), part,
                    6 * 0.5 / std::sqrt(kSalts));
        EXPECT_NEAR(share_of_larger(8192 + static_cast<uint64_t>(part * 8192), 16384), part,
                    6 * 0.5 / std::sqrt(kSalts));
    }
    int both = 0;
    std::set<uint64_t> newcomers;
    for (uint32_t salt = 0; salt < kSalts; salt++) {
        const UnitRooms rooms(SaltOf(salt));
        both += rooms.RoomFor(4096) > 8192 && rooms.RoomFor(8192 + 4096) > 16384 ? 1 : 0;
        if (salt < 100)
            newcomers.insert(rooms.MostNew(10'000'000, 0)), newcomers.insert(rooms.MostNew(10'000'000, 1));
    }
    EXPECT_NEAR(static_cast<double>(both) / kSalts, 0.25, 6 * 0.44 / std::sqrt(kSalts));
    EXPECT_GE(newcomers.size(), 195u);
}

}  // namespace
}  // namespace dpboost
