// How much room accounts of persons have in the catalog, and what that tells. Whatever PostgreSQL shows everybody (sizes of
// tables, rows and bytes that were written) follows from the numbers here. A room is filled up, and written whole.
//
// Accounts are in two runs. Those of newcomers are written with their keys at every charge, whoever is new; the old ones,
// once there are more than a million, without keys. When there are too many newcomers, both become one, and all is written.
//
// All sizes follow from noisy counts. Writes of a state are numbered 1, 2, ...; x_t is how many persons write t gives an
// account, and N_t = x_1 + ... + x_t. Let t = 2^a + 2^b + ... with a > b > ...; then N_t is the sum over the first 2^a writes,
// the next 2^b and so on, and each of these sums has a Gaussian of its own added, which follows from the salt and from which
// sum it is, so that it is the same whenever it is asked for. Sums of 2^kLevels writes are the longest; of those there may be
// several. So a person who comes at write s is in one sum of each length at most, kLevels + 1 in all. What is used is the
// bound N_t + noise + pad, where the noise is cut off at +- pad, ten standard deviations of as many sums as N_t can have: never
// less than N_t.
//
// Claim. Neighbours: two histories, in one of which a unit i never had a row. What all writes ever show is post-processing
// of those noisy sums, which cost i at most (kLevels + 1) alpha / (2 sigma^2) at the order alpha of its limit, whoever
// chooses what is trained and when; that is the part of the limit that releases do not get (privacy/filter/unit_filter.h),
// so that sizes and releases together stay within it.
// Proof. i has an account from the write t on that charges it first, and removing accounts, which is the owner's to do, takes
// nothing off N_t. Given what was shown before, x_s for s < t is the same in both histories, x_t differs by 1 and later ones
// by nothing: who else is new depends on others. So those sums that contain t differ by 1, and no other. A noisy sum is a
// draw as in unit_filter.h, with a Gaussian (exactly rounded, so post-processing of one: mechanism/gaussian.h) of sensitivity
// 1 for i, and what is proven there holds for these draws between the others. Sizes: rooms follow from the bounds of this
// write and earlier ones alone, below; the cut is but for a chance of 1e-22 at each write. []
// What a charge reads before it is paid follows from rooms as they were: its own bound decides about nothing but what it writes.
// Each number t is used once: a charge that has begun to write its accounts is committed, whether its caller waits or not
// (postgres/ledger/ledger_worker.cpp). If the server dies just then, what it wrote is seen by those who looked in time, and
// the next write has the same number: that would be a second count with the same noise, and is no part of the promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dataset/units.h"
#include "mechanism/noise.h"
#include "privacy/filter/unit_filter.h"

namespace dpboost {

constexpr size_t kUnitSaltSize = 16;

// A unit's key as it is stored: SipHash-2-4 of 128 bits, keyed by the state's salt. Two units of 10 million share one with
// probability 2^-82, whatever their values: the salt is drawn when the state is made, and shown to nobody.
UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept;

// Accounts in a row of the catalog. Rooms are multiples of it.
constexpr size_t kBucketUnits = 4096;

class UnitRooms {
  public:
    static constexpr int kLevels = 14;
    static constexpr int kSums = kLevels + 1;  // that a person can be in
    // Up to so many the old ones are written with their keys, and nobody is a newcomer.
    static constexpr uint64_t kMostWhole = uint64_t{1} << 20;

    UnitRooms(std::string_view salt, const UnitLimit& limit);

    const unsigned char* salt() const { return reinterpret_cast<const unsigned char*>(salt_.data()); }

    // For so many accounts that write number `write` (from 1) and those before have opened: at least as many, and at most
    // 2 * PadAt(write) more. What is seen may depend on the result.
    uint64_t Bound(uint64_t write, uint64_t opened) const;
    // Grows with the number of sums.
    uint64_t PadAt(uint64_t write) const;
    uint64_t pad() const { return pad_; }  // of the first writes

    // Room for so many.
    static uint64_t RoomFor(uint64_t bound) {
        return (bound + kBucketUnits - 1) / kBucketUnits * kBucketUnits;
    }
    // For newcomers beside old ones with this room; 0: there are none.
    uint64_t RoomForNew(uint64_t room) const;
    // Whether newcomers still have room, if the bound is this at a write and was that when the last of them moved.
    bool Stays(uint64_t write, uint64_t room, uint64_t bound, uint64_t moved) const {
        return bound + 2 * PadAt(write) <= moved + RoomForNew(room);
    }

  private:
    // What is added to the sum of 2^level writes that ends with write `index` * 2^level.
    int64_t NoiseOf(int level, uint64_t index) const;

    std::string salt_;  // kUnitSaltSize bytes
    GaussianScale sigma_;
    uint64_t pad_;
};

}  // namespace dpboost
