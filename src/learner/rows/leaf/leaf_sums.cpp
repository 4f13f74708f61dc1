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
    for (size_t i = 0; outputs_ == 1 && i < n; i++) {
        int64_t* sum = sums + 2 * size_t{leaves[i]};
        sum[0] += gradients[i];
        sum[1] += hessians[i];
    }
    for (size_t i = 0; outputs_ > 1 && i < n; i++) {
        int64_t* sum = sums + (outputs_ + 1) * leaves[i];
        for (size_t k = 0; k < outputs_; k++)
            sum[k] += gradients[i * outputs_ + k];
        sum[outputs_] += hessians[i];
    }
}

void LeafSums::Add(const LeafSums& other) {
    CheckInternal(sums_.size() == other.sums_.size(), "leaf sums of different trees");
    for (size_t i = 0; i < sums_.size(); i++)
        sums_[i] += other.sums_[i];
}

RawGradientSums LeafSums::Raw() const {
    std::vector<int64_t> hessians(leaves()), gradients(leaves() * outputs_);
    const int64_t* sum = sums_.data();
    int64_t* gradient = gradients.data();
    for (int64_t& hessian : hessians) {
        for (size_t k = 0; k < outputs_; k++)
            *gradient++ = *sum++;
        hessian = *sum++;
    }
    return {RawSums(std::move(hessians), kClipSteps), RawSums(std::move(gradients), kClipSteps)};
}

UnitSum::UnitSum(size_t leaves, LeafWeights weights, size_t outputs)
    : weights_(weights), outputs_(outputs), sums_(leaves), gradients_(leaves * outputs) {
    touched_.reserve(leaves);
}

Wide UnitSum::WeightedNorm() const {
    Wide norm = 0;
    for (const uint32_t leaf : touched_) {
        norm += weights_.hessian() * Square(sums_[leaf].hessian);
        for (size_t k = 0; k < outputs_; k++)
            norm += weights_.gradient() * Square(gradients_[leaf * outputs_ + k]);
    }
    return norm;
}

uint64_t UnitSum::Clip(int bits) {
    Wide norm = WeightedNorm();
    if (norm > kBound) {
        const uint64_t factor = FloorSqrt(static_cast<uint64_t>((kBound << 64) / norm));
        for (const uint32_t leaf : touched_) {
            sums_[leaf].hessian = ScaleDown(sums_[leaf].hessian, factor);
            for (size_t k = 0; k < outputs_; k++)
                gradients_[leaf * outputs_ + k] = ScaleDown(gradients_[leaf * outputs_ + k], factor);
        }
        norm = WeightedNorm();
        CheckInternal(norm <= kBound, "a unit's contribution exceeds its bound");
    }
    return static_cast<uint64_t>(((norm << bits) + kBound - 1) / kBound);
}

void UnitSum::AddTo(LeafSums* sums) const {
    for (const uint32_t leaf : touched_)
        sums->AddOne(leaf, gradients_.data() + leaf * outputs_, sums_[leaf].hessian);
}

void UnitSum::Clear() {
    for (const uint32_t leaf : touched_) {
        sums_[leaf] = Sum{};
        for (size_t k = 0; k < outputs_; k++)
            gradients_[leaf * outputs_ + k] = 0;
    }
    touched_.clear();
}

}  // namespace dpboost
