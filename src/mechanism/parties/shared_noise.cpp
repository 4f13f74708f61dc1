#include "mechanism/parties/shared_noise.h"

#include "base/error.h"

namespace dpboost {

void ExchangedNoise::AddGaussianBlocks(const std::vector<GaussianBlock>& blocks) {
    std::vector<NoiseShare> shares;
    std::vector<SumShape> shapes;
    std::vector<uint64_t> sums;
    for (const GaussianBlock& block : blocks) {
        shares.push_back(ShareOf(block.sigma, parties_));
        shapes.push_back({block.sigma.units(), block.sums.count});
        Contribute(shares.back(), block.sums, &sums);
    }
    const Hash witness = transcript_.Witness(shapes);
    Mask(witness, &sums);
    const std::size_t count = sums.size();
    exchange_.Exchange(witness, &sums);
    CheckInternal(sums.size() == count, "the total has another number of sums");
    transcript_.Follow(witness, sums);
    std::size_t next = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t i = 0; i < blocks[b].sums.count; ++i)
            blocks[b].sums.values[i] = FromFiner(sums[next++], shares[b].finer);
}

void ExchangedNoise::AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) {
    AddGaussianBlocks({{sigma, {values, n}}});
}

void ExchangedNoise::AddLaplace(LaplaceScale, int64_t*, std::size_t) {
    throw Error(ErrorCode::kUnsupported, "Laplace noise cannot be shared by several servers");
}

std::size_t ExchangedNoise::Select(SelectionScale, const int64_t*, std::size_t) {
    throw Error(ErrorCode::kUnsupported, "a selection cannot be shared by several servers");
}

// Wraps and never saturates: clamping one party's part would not be a function of the sum.
void SharedNoise::Contribute(const NoiseShare& share, const SumBlock& block, std::vector<uint64_t>* sums) {
    noise_.assign(block.count, 0);
    own_.AddGaussian(share.scale, noise_.data(), block.count);
    for (std::size_t i = 0; i < block.count; ++i) {
        sums->push_back(ToFiner(static_cast<uint64_t>(block.values[i]), share.finer) +
                        static_cast<uint64_t>(noise_[i]));
        noise_[i] = 0;
        block.values[i] = 0;  // the raw sum is not needed any more
    }
}

void SharedNoise::Mask(const Hash& witness, std::vector<uint64_t>* sums) {
    masks_.AddTo(witness, sums);
}

void FollowedNoise::Contribute(const NoiseShare&, const SumBlock& block, std::vector<uint64_t>* sums) {
    sums->resize(sums->size() + block.count, 0);
}

void FollowedNoise::Mask(const Hash&, std::vector<uint64_t>*) {}

}  // namespace dpboost
