#include "mechanism/releaser.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "mechanism/exponential.h"
#include "privacy/pool.h"

namespace dpboost {

static_assert(MechanismNoise::kScaleFractionBits == GaussianScale::kFractionBits, "one unit of scale");
static_assert(MechanismNoise::kScaleFractionBits == LaplaceScale::kFractionBits, "one unit of scale");
static_assert(MechanismNoise::kScaleFractionBits == SelectionScale::kFractionBits, "one unit of scale");

void Releaser::CheckSensitivity(MechanismId id, std::size_t dimension, const RawSums& sums) const {
    CheckInternal(sums.sensitivity_ <= plan_.Sensitivity(id, dimension),
                  "sums may change by more than their charge accounts for");
}

NoisySums Releaser::AddNoise(MechanismId id, Charge&& charge, RawSums&& sums) {
    const EventKind kind = plan_.Kind(id);
    const uint64_t scale = charge.Spend(kind, {sums.values_.size()})[0];
    if (kind == EventKind::kLaplace)
        noise_.AddLaplace(LaplaceScale::FromUnits(scale), sums.values_.data(), sums.values_.size());
    else
        noise_.AddGaussian(GaussianScale::FromUnits(scale), sums.values_.data(), sums.values_.size());
    return {std::move(sums.values_), plan_.ScaleInSteps(id, 0)};
}

NoisySums Releaser::Release(MechanismId id, RawSums&& sums) {
    CheckSensitivity(id, 0, sums);
    return AddNoise(id, plan_.Take(id), std::move(sums));
}

NoisySums Releaser::Release(MechanismId id, AsideSums&& sums) {
    CheckSensitivity(id, 0, sums.sums_);
    return AddNoise(id, plan_.TakeAside(id), std::move(sums.sums_));
}

NoisyPair Releaser::Release(MechanismId id, RawSums&& first, RawSums&& second) {
    std::vector<RawPair> one;
    one.push_back({std::move(first), std::move(second)});
    return std::move(ReleaseAll(id, std::move(one))[0]);
}

std::vector<NoisyPair> Releaser::ReleaseAll(MechanismId id, std::vector<RawPair>&& pairs) {
    std::vector<GaussianBlock> blocks;
    const auto add = [&](uint64_t scale, RawSums& sums) {
        blocks.push_back({GaussianScale::FromUnits(scale), {sums.values_.data(), sums.values_.size()}});
    };
    for (RawPair& pair : pairs) {
        CheckSensitivity(id, 0, pair.first);
        CheckSensitivity(id, 1, pair.second);
        Charge charge = plan_.Take(id);
        const std::vector<uint64_t>& scales =
            charge.Spend(EventKind::kGaussian, {pair.first.values_.size(), pair.second.values_.size()});
        add(scales[0], pair.first);
        add(scales[1], pair.second);
    }
    noise_.AddGaussianBlocks(blocks);
    std::vector<NoisyPair> noisy;
    for (RawPair& pair : pairs)
        noisy.push_back({{std::move(pair.first.values_), plan_.ScaleInSteps(id, 0)},
                         {std::move(pair.second.values_), plan_.ScaleInSteps(id, 1)}});
    return noisy;
}

NoisySums Releaser::ReleasePart(MechanismId id, double fraction, RawSums&& sums) {
    constexpr auto kParts = static_cast<double>(GaussianPool::kParts);
    // Half of the samplers' limit, servers' noise included.
    constexpr auto kMostSteps =
        static_cast<double>(GaussianScale::kMaxUnits >> (GaussianScale::kFractionBits + 1));
    const double whole = sums.sensitivity_ * plan_.NoiseMultiplier(id) / kMostSteps;
    const double wanted = std::max({1.0, std::ceil(whole * whole * kParts), std::floor(fraction * kParts)});
    const uint64_t left = plan_.PartsLeft(id);
    const uint64_t parts = wanted >= static_cast<double>(left) ? left : static_cast<uint64_t>(wanted);
    Charge charge = plan_.TakePart(id, parts, sums.sensitivity_, sums.values_.size());
    const uint64_t scale = charge.Spend(EventKind::kGaussian, {sums.values_.size()})[0];
    noise_.AddGaussian(GaussianScale::FromUnits(scale), sums.values_.data(), sums.values_.size());
    const double mu = 1 / plan_.NoiseMultiplier(id);
    const double sigma = sums.sensitivity_ / mu / std::sqrt(static_cast<double>(parts) / kParts);
    return {std::move(sums.values_), sigma};
}

std::size_t Releaser::Select(MechanismId id, RawSums&& utilities) {
    // Checked before spending, for every noise source alike.
    const std::size_t count = utilities.values_.size();
    if (count == 0 || count > ExponentialSampler::kMaxCandidates)
        throw Error(ErrorCode::kInvalidParameter, "number of candidates must be between 1 and 4194304");
    CheckSensitivity(id, 0, utilities);
    Charge charge = plan_.Take(id);
    const uint64_t scale = charge.Spend(EventKind::kExponential, {count})[0];
    return noise_.Select(SelectionScale::FromUnits(scale), utilities.values_.data(), count);
}

}  // namespace dpboost
