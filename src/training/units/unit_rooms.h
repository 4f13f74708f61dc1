// How much room accounts of persons have in the catalog, and what that tells. Whatever PostgreSQL shows everybody (sizes of
// tables, rows and bytes that were written) follows from the numbers here, and these from how many accounts there are and
// from thresholds that are drawn with the salt and shown to nobody. A room is filled up, and written whole.
//
// Accounts are in two runs. Those of newcomers are written with their keys at every charge, whoever is new; the old ones,
// once there are more than a million, without keys. When there are too many newcomers, both become one, and all is written.
//
// Rooms of the old ones have fixed sizes R_0 < R_1 < ...; n accounts have the first R_l with n <= T_l, where T_l is uniform on
// the W_l = R_l - R_(l-1) numbers up to R_l. Newcomers have one room of F; the c of them move when c > T, uniform on the F/2
// numbers up to F and another one after each move. All these are independent, and a room never becomes smaller.
//
// Claim. Neighbours: two histories, in one of which a unit i never had a row. What all charges ever wrote has distributions
// for the two whose total variation distance is at most 2/F + sum of 1/W_l over the rooms that i's account can still see
// filled, however many charges there are and whoever chooses them.
// Proof. Counts are the same in both until i has an account, and one more from then on (of newcomers until they move).
// What is seen of one threshold T is which counts were above it. Let m be its count, without i, when i came. Give the
// history with i the threshold T' = T if T <= m, else T + 1: then each count is above its threshold in both histories or
// in neither. T' has the distribution of T but for T = the largest, which has probability 1/W. The thresholds are
// independent, so the sum of these bounds how far both are apart. []
// A charge that is broken off after it began to write shows a count that is not kept: each of them adds as much once more.
//
// The sums: 1 in 1,600 for the first accounts, up to any number of them; 1 in 4,200 once there are a million, 1 in 23,000
// once there are 10 million. Larger than a delta should be, so it is no part of the promise (doc/units.md). Noise on each
// count, instead of thresholds that stay, could make it as small as one likes, but has to be paid before anything is
// written, by persons whose accounts are what is to be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dataset/units.h"

namespace dpboost {

constexpr size_t kUnitSaltSize = 16;

// A unit's key as it is stored: SipHash-2-4 of 128 bits, keyed by the state's salt. Two units of 10 million share one with
// probability 2^-82, whatever their values: the salt is drawn when the state is made, and shown to nobody.
UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept;

// Accounts in a row of the catalog. Rooms are multiples of it.
constexpr size_t kBucketUnits = 4096;

class UnitRooms {
  public:
    // Up to so many the old ones are written with their keys, and nobody is a newcomer.
    static constexpr uint64_t kMostWhole = uint64_t{1} << 20;

    explicit UnitRooms(std::string_view salt) : salt_(salt) {}

    const unsigned char* salt() const { return reinterpret_cast<const unsigned char*>(salt_.data()); }

    // Room for so many.
    uint64_t RoomFor(uint64_t units) const;
    // For newcomers beside old ones with this room; 0: there are none.
    static uint64_t RoomForNew(uint64_t room);
    // How many newcomers may stay apart, after so many moves.
    uint64_t MostNew(uint64_t room, uint32_t moves) const;

    // The next larger one; the first after 0.
    static uint64_t NextRoom(uint64_t room);

  private:
    // A number below `below` that nobody knows, and that stays the same.
    uint64_t Secret(uint64_t tag, uint64_t of, uint64_t below) const;

    std::string salt_;  // kUnitSaltSize bytes
};

}  // namespace dpboost
