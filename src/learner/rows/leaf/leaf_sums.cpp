#include "learner/rows/leaf/leaf_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/objective/objective.h"

namespace dpboost {
namespace {

// GCC and clang have it on every 64-bit machine; the extension mark keeps pedantic builds quiet.
__extension__ using Wide = unsigned __int128;

constexpr Wide kBound = Wide{1} << (kWeightBits + 2 * kClipBits);

Wide Square(int64_t value) {
    const Wide magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
    return magnitude * magnitude;
}

uint64_t FloorSqrt(uint64_t x) {
    uint64_t root = static_cast<uint64_t>(std::sqrt(static_cast<double>(x)));
    root = std::min<uint64_t>(root, 0xFFFFFFFF);
    while (root * root > x)
        root--;
    while (root < 0xFFFFFFFF && (root + 1) * (root + 1) <= x)
        root++;
    return root;
}

// value * factor / 2^32, rounded towards zero.
int64_t ScaleDown(int64_t value, uint64_t factor) {
    const Wide magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
    const int64_t scaled = static_cast<int64_t>((magnitude * factor) >> 32);
    return value < 0 ? -scaled : scaled;
}

}  // namespace

LeafWeights::LeafWeights(double hessian_share) {
    const double steps = std::nearbyint(hessian_share * (1U << kWeightBits));
    hessian_ = static_cast<uint32_t>(std::clamp(steps, 1.0, (1U << kWeightBits) - 1.0));
}

void LeafSums::Clear() {
    std::fill(sums_.begin(), sums_.end(), 0);
}

void LeafSums::AddRows(const uint16_t* leaves, const int32_t* gradients, const int32_t* hessians, size_t n) {
    int64_t* sums = sums_.data();
    for (size_t i = 0; i < n; i++) {
        int64_t* sum = sums + 2 * size_t{leaves[i]};
        sum[0] += gradients[i];
        sum[1] += hessians[i];
    }
}

void LeafSums::Add(const LeafSums& other) {
    CheckInternal(sums_.size() == other.sums_.size(), "leaf sums of different trees");
    for (size_t i = 0; i < sums_.size(); i++)
        sums_[i] += other.sums_[i];
}

RawGradientSums LeafSums::Raw() const {
    std::vector<int64_t> hessians(leaves()), gradients(leaves());
    for (size_t leaf = 0; leaf < leaves(); leaf++) {
        gradients[leaf] = sums_[2 * leaf];
        hessians[leaf] = sums_[2 * leaf + 1];
    }
    return {RawSums(std::move(hessians), kClipSteps), RawSums(std::move(gradients), kClipSteps)};
}

UnitSum::UnitSum(size_t leaves, LeafWeights weights) : weights_(weights), sums_(leaves) {
    touched_.reserve(leaves);
}

uint64_t UnitSum::Clip(int bits) {
    Wide norm = 0;
    for (const uint32_t leaf : touched_)
        norm += weights_.hessian() * Square(sums_[leaf].hessian) +
                weights_.gradient() * Square(sums_[leaf].gradient);
    if (norm > kBound) {
        const uint64_t factor = FloorSqrt(static_cast<uint64_t>((kBound << 64) / norm));
        norm = 0;
        for (const uint32_t leaf : touched_) {
            Sum& sum = sums_[leaf];
            sum.gradient = ScaleDown(sum.gradient, factor);
            sum.hessian = ScaleDown(sum.hessian, factor);
            norm += weights_.hessian() * Square(sum.hessian) + weights_.gradient() * Square(sum.gradient);
        }
        CheckInternal(norm <= kBound, "a unit's contribution exceeds its bound");
    }
    return static_cast<uint64_t>(((norm << bits) + kBound - 1) / kBound);
}

void UnitSum::AddTo(LeafSums* sums) const {
    for (const uint32_t leaf : touched_)
        sums->AddOne(leaf, sums_[leaf].gradient, sums_[leaf].hessian);
}

void UnitSum::Clear() {
    for (const uint32_t leaf : touched_)
        sums_[leaf] = Sum{};
    touched_.clear();
}

}  // namespace dpboost
