#include "training/units/unit_rooms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "privacy/budget.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
constexpr int kSalts = 4000;

std::string SaltOf(uint32_t number) {
    std::string salt(kUnitSaltSize, 'x');
    for (int i = 0; i < 4; i++)
        salt[static_cast<size_t>(i)] = static_cast<char>(number >> (8 * i));
    return salt;
}

UnitLimit LimitOf(double epsilon, double delta = kDelta) {
    return UnitLimit(epsilon, delta, Budget(epsilon, delta).order());
}

// What is added at a write, by salt, in standard deviations of one sum.
std::vector<double> NoiseAt(uint64_t write, const UnitLimit& limit) {
    std::vector<double> noise;
    for (uint32_t salt = 0; salt < kSalts; salt++) {
        const UnitRooms rooms(SaltOf(salt), limit);
        const auto above = static_cast<int64_t>(rooms.Bound(write, 1000) - 1000);
        noise.push_back(static_cast<double>(above - static_cast<int64_t>(rooms.PadAt(write))) /
                        limit.RoomsSigma(UnitRooms::kSums));
    }
    return noise;
}

double MeanProduct(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); i++)
        sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

TEST(UnitRooms, HaveRoom) {
    for (const double epsilon : {0.05, 1.0, 8.0})
        for (uint32_t salt = 0; salt < 20; salt++) {
            const UnitRooms rooms(SaltOf(salt), LimitOf(epsilon));
            for (uint64_t write = 1; write < 100'000; write = write * 3 + salt) {
                const uint64_t units = write * 977 * salt;
                const uint64_t bound = rooms.Bound(write, units), room = UnitRooms::RoomFor(bound);
                EXPECT_GE(bound, units);
                EXPECT_LE(bound, units + 2 * rooms.PadAt(write));
                EXPECT_TRUE(room >= bound && room < bound + kBucketUnits && room % kBucketUnits == 0);
                EXPECT_EQ(rooms.RoomForNew(room) > 0, room > UnitRooms::kMostWhole);
                EXPECT_EQ(rooms.Bound(write, units + 5), bound + 5)
                    << "the same noise whenever it is asked for";
            }
        }
}

// However the bound may lie above the truth, whoever stays has room.
TEST(UnitRooms, NewcomersStayWhileTheyHaveRoom) {
    const UnitRooms rooms(SaltOf(1), LimitOf(1));
    const uint64_t room = 10'000'000 / kBucketUnits * kBucketUnits, all = rooms.RoomForNew(room);
    for (const uint64_t write : {uint64_t{1}, uint64_t{1} << 22})
        for (uint64_t newcomers = 0; newcomers < 2 * all; newcomers += 100) {
            const uint64_t opened = 9'000'000;
            if (rooms.Stays(write, room, opened + newcomers,
                            opened + 2 * rooms.PadAt(write))) {  // the worst of both
                EXPECT_LE(newcomers, all);
            }
        }
    EXPECT_TRUE(rooms.Stays(1, room, 9'000'000 + all / 3, 9'000'000));
    EXPECT_LT(static_cast<double>(all), 0.011 * 10'000'000);
}

// Sums of 1, 2, 4, ... writes: N_1 and N_2 have nothing in common, N_3 has all of N_2, N_7 = 4 + 2 + 1 nothing of N_3; and
// longer ones than 2^14 there are none. Bounds: six standard deviations, false alarm 2e-9.
TEST(UnitRooms, NoiseIsThatOfTheSums) {
    const UnitLimit limit = LimitOf(1);
    const auto noise_of = [&](uint64_t write) { return NoiseAt(write, limit); };
    const std::vector<double> one = noise_of(1), two = noise_of(2), three = noise_of(3), seven = noise_of(7);
    const double sd = 6 / std::sqrt(kSalts);
    EXPECT_NEAR(MeanProduct(one, one), 1, sd * std::sqrt(2));
    EXPECT_NEAR(MeanProduct(two, two), 1, sd * std::sqrt(2));
    EXPECT_NEAR(MeanProduct(seven, seven), 3, sd * 3 * std::sqrt(2));
    EXPECT_NEAR(MeanProduct(one, two), 0, sd);
    EXPECT_NEAR(MeanProduct(two, three), 1, sd * std::sqrt(3));
    EXPECT_NEAR(MeanProduct(three, seven), 0, sd * 2.5);
    const uint64_t longest = uint64_t{1} << UnitRooms::kLevels;
    EXPECT_NEAR(MeanProduct(noise_of(longest), noise_of(2 * longest)), 1, sd * std::sqrt(3));
    EXPECT_NEAR(MeanProduct(noise_of(longest / 2), noise_of(longest)), 0, sd);
}

// After millions of writes there are so many sums that noise of so many must not be cut off, either: what is cut off tells
// the count as it is.
TEST(UnitRooms, NoiseIsNotCutOffAfterManyWrites) {
    for (const uint64_t write : {uint64_t{1} << 14, uint64_t{1} << 22}) {
        int cut = 0;
        for (uint32_t salt = 0; salt < 300; salt++) {
            const UnitRooms rooms(SaltOf(salt), LimitOf(1));
            const uint64_t above = rooms.Bound(write, 0);
            cut += above == 0 || above == 2 * rooms.PadAt(write) || above == 2 * rooms.pad() ? 1 : 0;
        }
        EXPECT_EQ(cut, 0) << write;
    }
}

// What sizes and releases cost together is the limit.
TEST(UnitRooms, ArePaid) {
    for (const double epsilon : {0.01, 0.1, 1.0, 10.0}) {
        const UnitLimit limit = LimitOf(epsilon);
        const double sigma = limit.RoomsSigma(UnitRooms::kSums);
        const double rooms = UnitRooms::kSums * limit.order() / (2 * sigma * sigma);
        const double whole = EpsilonToRdp(limit.order(), epsilon, kDelta);
        EXPECT_LE(rooms + limit.rho(), whole);
        EXPECT_NEAR(rooms / whole, 0.01, 1e-4);
        EXPECT_EQ(limit.PerRelease().Room(false).rho, limit.rho()) << "noise is calibrated to the rest";
    }
    const UnitLimit pure = LimitOf(1, 0);
    EXPECT_NEAR(pure.rho(), 0.99, 1e-12);
    EXPECT_GT(pure.RoomsSigma(UnitRooms::kSums), 1000);
}

}  // namespace
}  // namespace dpboost
