#include "mechanism/parties/noise_share.h"

#include <cmath>

#include "base/error.h"

namespace dpboost {

namespace {

using Wide = unsigned __int128;

// The smallest s with s^2 h >= units^2. Below 2^60 all squares times h <= 200 fit 128 bits.
uint64_t RootShare(uint64_t units, uint32_t honest) {
    const Wide wanted = static_cast<Wide>(units) * units;
    const auto enough = [&](uint64_t s) { return static_cast<Wide>(s) * s * honest >= wanted; };
    auto share = static_cast<uint64_t>(static_cast<double>(units) / std::sqrt(static_cast<double>(honest)));
    while (!enough(share))
        ++share;
    while (share > 0 && enough(share - 1))
        --share;
    return share;
}

}  // namespace

double NoiseParties::Factor() const {
    return per_unit * std::sqrt(static_cast<double>(parties) / honest());
}

void NoiseParties::Check() const {
    if (parties == 0 || parties > kMost)
        throw Error(ErrorCode::kInvalidParameter, "a federation has between 1 and 200 parties");
    if (colluding >= parties)
        throw Error(ErrorCode::kInvalidParameter,
                    "the number of colluding parties must be below that of all");
    if (per_unit == 0 || per_unit > parties)
        throw Error(ErrorCode::kInvalidParameter,
                    "a person has rows at one party at least, and at all of them at most");
}

NoiseShare ShareOf(GaussianScale sigma, const NoiseParties& parties) {
    constexpr uint64_t kLeastSteps = 32;  // per honest party
    const uint64_t least = kLeastSteps * parties.honest() << GaussianScale::kFractionBits;
    if (sigma.units() > GaussianScale::kMaxUnits / parties.per_unit)
        throw Error(ErrorCode::kInvalidParameter, "the noise of a training is out of range",
                    "It must lie between 2^-20 and 2^40 lattice steps.", "Use a larger epsilon.");
    uint64_t units = sigma.units() * parties.per_unit;
    int finer = 0;
    for (; units < least; units *= 2)
        ++finer;
    return {GaussianScale::FromUnits(RootShare(units, parties.honest())), finer};
}

void CheckSharedPlan(const Plan& plan, const NoiseParties& parties) {
    for (const Event& event : plan.events()) {
        if (event.kind != EventKind::kGaussian)
            throw Error(
                ErrorCode::kUnsupported, "only Gaussian noise can be shared by several servers", {},
                "Use method \"auto\", \"sbdt\", \"adassp\" and its kin, \"dp_tr\" and its kin, \"dp_ebm\", "
                "\"dp_rf\", \"dp_pr\" or \"feverless\".");
        if (parties.per_unit > 1 && (event.sampling_rate < 1 || event.filtered))
            throw Error(ErrorCode::kUnsupported,
                        "persons at several parties need a method that uses all rows in every round",
                        "The parties' samples are independent, for which there is no proof.",
                        "Use method \"auto\".");
    }
}

}  // namespace dpboost
