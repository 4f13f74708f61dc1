#include "training/units/unit_rooms.h"

#include <sodium.h>

#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

// What a secret is for. No unit's key has this in its highest byte (dataset/units.h).
constexpr uint64_t kRoomTag = 0xfe, kNewTag = 0xfd;

constexpr uint64_t kFirstRoom = 2 * kBucketUnits;

}  // namespace

UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept {
    static_assert(kUnitSaltSize == crypto_shorthash_siphashx24_KEYBYTES, "the salt is the key");
    char in[16], out[crypto_shorthash_siphashx24_BYTES];
    WriteKey(key, in);
    crypto_shorthash_siphashx24(reinterpret_cast<unsigned char*>(out),
                                reinterpret_cast<const unsigned char*>(in), sizeof in, salt);
    return ReadKey(out);
}

uint64_t UnitRooms::Secret(uint64_t tag, uint64_t of, uint64_t below) const {
    return SaltedKey(salt(), {of, tag << 56}).low % below;
}

// Small ones are generous. Of many, a sixteenth is enough, and is what they cost in space.
uint64_t UnitRooms::NextRoom(uint64_t room) {
    if (room == 0)
        return kFirstRoom;
    const uint64_t part = room < 16 * kFirstRoom ? 1 : room < kMostWhole ? 4 : room < 4 * kMostWhole ? 8 : 16;
    return room + room / part / kBucketUnits * kBucketUnits;
}

uint64_t UnitRooms::RoomFor(uint64_t units) const {
    uint64_t before = 0, room = kFirstRoom;
    while (units > room - Secret(kRoomTag, room, room - before)) {
        before = room;
        room = NextRoom(room);
    }
    return room;
}

uint64_t UnitRooms::RoomForNew(uint64_t room) {
    return room <= kMostWhole ? 0 : room / 64 / kBucketUnits * kBucketUnits;
}

uint64_t UnitRooms::MostNew(uint64_t room, uint32_t moves) const {
    const uint64_t all = RoomForNew(room);
    return all == 0 ? 0 : all - Secret(kNewTag, moves, all / 2);
}

}  // namespace dpboost
