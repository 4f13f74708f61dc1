#include "learner/evaluation/reference_draws.h"

#include <algorithm>
#include <utility>

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

// A code for every draw, in proportion to the parts, in random order.
void Stratify(const std::vector<double>& ends, PublicRandom& random, std::vector<uint16_t>* codes) {
    size_t code = 0;
    for (size_t i = 0; i < codes->size(); i++) {
        const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(codes->size()) * ends.back();
        while (code + 1 < ends.size() && ends[code] <= at)
            code++;
        (*codes)[i] = static_cast<uint16_t>(code);
    }
    for (size_t left = codes->size(); left > 1; left--)
        std::swap((*codes)[left - 1], (*codes)[random.Below(left)]);
}

}  // namespace

ReferenceDraws::ReferenceDraws(const Model& model, Interrupt& interrupt)
    : scores_(kDraws), predictions_(kDraws), shares_(kDraws) {
    const std::optional<Reference>& reference = model.evidence().reference;
    rows_ = reference ? reference->rows : 0;
    ChaChaSource source{ChaChaSource::Seed{}};  // nothing here is secret
    Random random(source);
    PublicRandom draws(random);
    const size_t width = model.features().size();
    std::vector<uint16_t> rows(kDraws * width), codes(kDraws);
    for (size_t feature = 0; feature < width; feature++) {
        interrupt.Poll();
        Stratify(CodeEnds(model.features()[feature], reference ? &reference->marginals[feature] : nullptr),
                 draws, &codes);
        for (size_t i = 0; i < kDraws; i++)
            rows[i * width + feature] = codes[i];
    }
    Predictor predictor(model);
    for (size_t i = 0; i < kDraws; i++) {
        scores_[i] = predictor.Score(rows.data() + i * width);
        if (i % 256 == 0)
            interrupt.Poll();
    }
    std::sort(scores_.begin(), scores_.end());
    for (size_t i = 0; i < kDraws; i++) {
        predictions_[i] = model.Respond(scores_[i]);
        mean_ += predictions_[i] / kDraws;
    }
    const double positive = std::clamp(mean_, 1e-3, 1 - 1e-3);
    double share = 0;
    for (size_t i = 0; i < kDraws; i++) {
        const double p = std::clamp(predictions_[i], 0.0, 1.0);
        shares_[i] = share += p / positive + (1 - p) / (1 - positive);
    }
}

int64_t ReferenceDraws::Quantile(double part) const {
    const auto at = std::lower_bound(shares_.begin(), shares_.end(), part * shares_.back());
    return scores_[static_cast<size_t>(std::min(at, shares_.end() - 1) - shares_.begin())];
}

}  // namespace dpboost
