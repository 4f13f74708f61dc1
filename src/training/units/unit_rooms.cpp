#include "training/units/unit_rooms.h"

#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mechanism/chacha_source.h"
#include "mechanism/gaussian.h"
#include "training/units/unit_bytes.h"

namespace dpboost {
namespace {

// What a secret is for. No unit's key has this in its highest byte (dataset/units.h).
constexpr uint64_t kNoiseTag = 0xfe;

// Where noise is cut off: so many standard deviations of all sums.
constexpr double kPad = 10;

}  // namespace

UnitKey SaltedKey(const unsigned char* salt, const UnitKey& key) noexcept {
    static_assert(kUnitSaltSize == crypto_shorthash_siphashx24_KEYBYTES, "the salt is the key");
    char in[16], out[crypto_shorthash_siphashx24_BYTES];
    WriteKey(key, in);
    crypto_shorthash_siphashx24(reinterpret_cast<unsigned char*>(out),
                                reinterpret_cast<const unsigned char*>(in), sizeof in, salt);
    return ReadKey(out);
}

UnitRooms::UnitRooms(std::string_view salt, const UnitLimit& limit)
    : salt_(salt), sigma_(GaussianScale::FromSteps(limit.RoomsSigma(kSums))), pad_(PadAt(1)) {}

uint64_t UnitRooms::PadAt(uint64_t write) const {
    const uint64_t sums = kLevels + std::max<uint64_t>(1, write >> kLevels);
    return static_cast<uint64_t>(std::ceil(kPad * std::sqrt(static_cast<double>(sums)) * sigma_.steps()));
}

int64_t UnitRooms::NoiseOf(int level, uint64_t index) const {
    ChaChaSource::Seed seed;
    for (uint64_t half = 0; half < 2; half++) {
        const uint64_t tag = kNoiseTag << 56 | static_cast<uint64_t>(level) << 8 | half;
        WriteKey(SaltedKey(salt(), {index, tag}), reinterpret_cast<char*>(seed.data()) + 16 * half);
    }
    ChaChaSource source(std::move(seed));
    Random random(source);
    int64_t noise = 0;
    GaussianSampler<>(DrawKey(), random, sigma_).AddTo(&noise, 1);
    return noise;
}

uint64_t UnitRooms::Bound(uint64_t write, uint64_t opened) const {
    int64_t noise = 0;
    for (int level = 0; level < kLevels; level++)
        if ((write >> level & 1) != 0)
            noise += NoiseOf(level, write >> level);
    for (uint64_t index = write >> kLevels; index > 0; index--)
        noise += NoiseOf(kLevels, index);
    const auto pad = static_cast<int64_t>(PadAt(write));
    return opened + static_cast<uint64_t>(pad + std::clamp(noise, -pad, pad));
}

// A 128th of millions; and the bound goes up and down by some of what it is above the truth.
uint64_t UnitRooms::RoomForNew(uint64_t room) const {
    return room <= kMostWhole ? 0 : RoomFor(room / 128 + 3 * pad_);
}

}  // namespace dpboost
