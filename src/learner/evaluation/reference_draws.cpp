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

// Per feature the ends of the codes' parts of [0, total).
std::vector<double> CodeEnds(const FeatureSpec& feature) {
    std::vector<double> ends;
    for (uint32_t code = 0; code < feature.bins(); code++)
        ends.push_back(static_cast<double>(code + 1));
    return ends;
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
    for (const FeatureSpec& feature : model.features())
        ends.push_back(CodeEnds(feature));
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
}

int64_t ReferenceDraws::Quantile(double part) const {
    const double at = part * static_cast<double>(scores_.size());
    return scores_[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(scores_.size() - 1)))];
}

}  // namespace dpboost
