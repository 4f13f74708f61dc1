#include "learner/evaluation/reference_draws.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "mechanism/random.h"
#include "model/predictor.h"

namespace dpboost {
namespace {

// The ends of the codes' parts of [0, total), in proportion to their noisy counts, a coarse cell's shared by its codes;
// where the training kept none, all codes but the missing one are equally likely.
std::vector<double> CodeEnds(const FeatureSpec& feature, const Marginal* marginal) {
    std::vector<double> weights(feature.cells());
    double total = 0;
    size_t code = 0;
    for (size_t cell = 0; marginal != nullptr && cell < marginal->counts.size(); cell++) {
        const size_t end = std::min<size_t>(marginal->last_codes[cell] + size_t{1}, weights.size());
        const double each = marginal->counts[cell] / static_cast<double>(end - code);
        for (; code < end; code++)
            total += weights[code] = each;
    }
    if (!(total > 0))
        std::fill(weights.begin(), weights.end() - 1, 1.0);
    double end = 0;
    for (double& weight : weights)
        weight = end += weight;
    return weights;
}

// Begins with the checksum, the last bytes of a model.
ChaChaSource SourceOf(const Model& model) {
    ChaChaSource::Seed seed{};
    const std::string bytes = model.Serialize();
    constexpr size_t kChecksumBytes = 16;
    CheckInternal(bytes.size() > kChecksumBytes, "a model has a checksum");
    std::memcpy(seed.data(), bytes.data() + bytes.size() - kChecksumBytes, kChecksumBytes);
    return ChaChaSource(std::move(seed));
}

}  // namespace

ReferenceDraws::ReferenceDraws(const Model& model, Interrupt& interrupt) {
    std::vector<std::vector<double>> ends;
    const std::optional<Reference>& reference = model.evidence().reference;
    for (size_t i = 0; i < model.features().size(); i++)
        ends.push_back(CodeEnds(model.features()[i], reference ? &reference->marginals[i] : nullptr));
    rows_ = reference ? reference->rows : 0;
    ChaChaSource source = SourceOf(model);
    Random random(source);
    PublicRandom draws(random);
    Predictor predictor(model);
    std::vector<uint16_t> codes(model.features().size());
    scores_.reserve(kDraws);
    for (size_t i = 0; i < kDraws; i++) {
        for (size_t feature = 0; feature < codes.size(); feature++) {
            const std::vector<double>& parts = ends[feature];
            const auto found =
                std::upper_bound(parts.begin(), parts.end(), draws.Fraction() * parts.back()) - parts.begin();
            codes[feature] =
                static_cast<uint16_t>(std::min<size_t>(static_cast<size_t>(found), parts.size() - 1));
        }
        scores_.push_back(predictor.Score(codes.data()));
        mean_ += model.Respond(scores_.back()) / kDraws;
        if (i % 256 == 0)
            interrupt.Poll();
    }
    std::sort(scores_.begin(), scores_.end());
    const double positive = std::clamp(mean_, 1e-3, 1 - 1e-3);
    double share = 0;
    for (int64_t score : scores_) {
        const double p = std::clamp(model.Respond(score), 0.0, 1.0);
        shares_.push_back(share += p / positive + (1 - p) / (1 - positive));
    }
}

int64_t ReferenceDraws::Quantile(double part) const {
    const auto at = std::lower_bound(shares_.begin(), shares_.end(), part * shares_.back());
    return scores_[static_cast<size_t>(std::min(at, shares_.end() - 1) - shares_.begin())];
}

}  // namespace dpboost
