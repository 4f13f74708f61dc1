#include "learner/auto/interactions/interactions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

std::vector<RankGroups> RankAll(const AdditiveStage& stage) {
    std::vector<RankGroups> ranks;
    for (uint32_t f = 0; f < stage.features.size(); f++)
        ranks.push_back(RankFeature(stage, f));
    return ranks;
}

// All pairs, and all triples if there are few; a random choice of too many pairs.
std::vector<std::vector<uint32_t>> Products(const AutoSchedule& schedule, const std::vector<uint32_t>& active,
                                            uint32_t max_features, size_t most, PublicRandom& random) {
    std::vector<std::vector<uint32_t>> products;
    const size_t features = active.size();
    for (size_t a = 0; a < features; a++) {
        for (size_t b = a + 1; b < features; b++)
            products.push_back({active[a], active[b]});
    }
    if (products.size() > most) {
        for (size_t i = 0; i < most; i++)
            std::swap(products[i], products[i + random.Below(static_cast<uint32_t>(products.size() - i))]);
        products.resize(most);
    }
    const double m = static_cast<double>(features);
    if (max_features < 3 || m * (m - 1) * (m - 2) / 6 > schedule.most_triples)
        return products;
    for (size_t a = 0; a < features; a++) {
        for (size_t b = a + 1; b < features; b++) {
            for (size_t c = b + 1; c < features; c++)
                products.push_back({active[a], active[b], active[c]});
        }
    }
    return products;
}

// With several outputs fewer: sums over the cells of all of them are held in memory.
size_t MostProducts(const AutoSchedule& schedule, size_t outputs) {
    return std::min<size_t>(Whole(schedule.most_products), std::max<size_t>(1, kMostProductSums / outputs));
}

}  // namespace

// Of pairs: line times line, line times bow, bow times line, bow times bow. Of triples: the three lines.
SmoothWeights::SmoothWeights(const AutoSchedule& schedule,
                             const std::vector<std::vector<uint32_t>>& products) {
    for (const double first : {1.0, schedule.bow_weight}) {
        for (const double second : {1.0, schedule.bow_weight})
            pair.push_back(first * second);
    }
    double pairs = 0, triples = 0;
    for (const std::vector<uint32_t>& product : products)
        (product.size() == 2 ? pairs : triples) += 1;
    double squares = 0;
    for (const double weight : pair)
        squares += weight * weight * pairs;
    triple.push_back(
        pairs > 0 && triples > 0 ? std::min(1.0, std::sqrt(schedule.triple_weight * squares / triples)) : 1);
    norm = squares + triples * triple[0] * triple[0];
}

Interactions::Interactions(const AdditiveStage& stage)
    : stage_(stage),
      schedule_(stage.schedule),
      tables_(stage, RankAll(stage)),
      clip_(stage.Clip(stage.schedule.residual_clip)),
      objective_(stage.ClippedAt(clip_)) {}

Basis Interactions::SmoothBasis(const std::vector<std::vector<uint32_t>>& products,
                                const SmoothWeights& weights) const {
    std::vector<Waves> waves;
    for (const RankGroups& ranks : tables_.ranks())
        waves.push_back(WavesOf(schedule_, ranks, kSmoothDigits));
    Basis basis;
    for (const std::vector<uint32_t>& product : products) {
        BasisBlock block;
        block.view = ProductView(tables_.ranks(), EvenDigits(product, kSmoothDigits), kSmoothDigits);
        const std::vector<double>& scale = weights.Of(product.size());
        for (size_t k = 0; k < scale.size(); k++) {
            BasisColumn column;
            for (uint32_t cell = 0; cell < block.view.cells; cell++) {
                double value = scale[k];
                uint32_t rest = cell;
                for (size_t i = product.size(); i-- > 0; rest /= kSmoothDigits) {
                    // Of a pair, the first feature's bow has k / 2, the second's k % 2.
                    const bool bow = product.size() == 2 && (i == 0 ? k / 2 : k % 2) == 1;
                    const Waves& wave = waves[product[i]];
                    value *= (bow ? wave.bow : wave.line)[rest % kSmoothDigits];
                }
                column.values.push_back(static_cast<int32_t>(std::lround(kBasisOne * value)));
            }
            block.columns.push_back(std::move(column));
        }
        basis.Add(std::move(block));
    }
    return basis;
}

uint64_t Interactions::NormLimit(const SmoothWeights& weights) const {
    return static_cast<uint64_t>(
        std::max(schedule_.least_product_norm, schedule_.product_norm * weights.norm) * kBasisOne *
        kBasisOne);
}

Interactions::Scores Interactions::Ask(double fraction, uint32_t max_features) const {
    Scores asked;
    asked.products = Products(schedule_, stage_.Interacting(), max_features,
                              MostProducts(schedule_, stage_.outputs()), stage_.random);
    const std::vector<std::vector<uint32_t>>& products = asked.products;
    const SmoothWeights weights(schedule_, products);
    const Basis basis = SmoothBasis(products, weights);
    stage_.rows.SetBasis(basis, NormLimit(weights));
    const double clip = stage_.Clip(schedule_.query_clip);
    const NoisyGradients sums =
        stage_.Gradients(stage_.pool.Release(fraction, stage_.rows.GradientSums(*stage_.ClippedAt(clip))));
    const double unit = clip / stage_.rows.StepsPerOne(), sigma = sums.sigma * unit;
    const auto outputs = static_cast<double>(stage_.outputs());
    const double rows = stage_.counts.rows;
    asked.most = rows * clip * clip;
    asked.scores.assign(products.size(), 0.0);
    asked.sigmas.resize(products.size());
    for (size_t p = 0; p < products.size(); p++) {
        const BasisBlock& block = basis.blocks()[p];
        const double scale = weights.Of(products[p].size())[0];
        const double variance = sigma * sigma / (scale * scale * rows);
        for (size_t output = 0; output < stage_.outputs(); output++) {
            const double* const of_output = sums.values.data() + output * basis.coordinates();
            for (uint32_t k = block.first; k < block.first + block.coordinates(); k++) {
                const double sum = of_output[k] * unit / scale;
                asked.scores[p] += sum * sum / rows - variance;
            }
        }
        asked.sigmas[p] = std::sqrt(2.0 * block.coordinates()) * variance;
        if (outputs > 1)  // K - 1 degrees of freedom, each with K / (K - 1) of the variance
            asked.sigmas[p] *= outputs / std::sqrt(outputs - 1);
    }
    return asked;
}

PairsTogether AskPairs(const AdditiveStage& stage, double fraction) {
    const Interactions::Scores asked = Interactions(stage).Ask(fraction, 2);
    PairsTogether together;
    double variance = 0;
    for (size_t p = 0; p < asked.products.size(); p++) {
        const double sigma = asked.sigmas[p] / asked.most;
        together.explained += asked.scores[p] / asked.most;
        variance += sigma * sigma;
    }
    together.sd = std::sqrt(variance);
    return together;
}

double NoiseOfPairs(const AdditiveStage& stage) {
    const size_t features = stage.Interacting().size();
    const double pairs = std::min(static_cast<double>(MostProducts(stage.schedule, stage.outputs())),
                                  static_cast<double>(features * (features - 1) / 2));
    const double bow = stage.schedule.bow_weight * stage.schedule.bow_weight;
    const double norm = stage.schedule.product_norm * (1 + bow) * (1 + bow) * pairs;  // squared
    const double signal = stage.counts.rows * stage.pool.mu();
    return std::sqrt(8 * pairs) * norm / (signal * signal);
}

void Interactions::Find(double fraction, uint32_t max_features) {
    const Scores asked = Ask(fraction, max_features);
    const std::vector<std::vector<uint32_t>>& products = asked.products;
    const std::vector<double>&scores = asked.scores, &sigmas = asked.sigmas;
    std::vector<size_t> order(products.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    const double least =
        std::max(schedule_.found_relative * scores[order[0]], schedule_.found_least * asked.most);
    // Noise gives a pair's score (chi-squared of 4 degrees) x standard deviations with probability exp(0.4 - 1.41 x),
    // about: so few of all are found where there is none.
    const auto pairs = std::count_if(products.begin(), products.end(),
                                     [](const std::vector<uint32_t>& one) { return one.size() == 2; });
    const double pair_sigmas =
        (portable::Log(static_cast<double>(pairs) / schedule_.false_finds) + kChiSquaredShift) /
        std::sqrt(2.0);
    double clear = 0, explained = 0;
    for (const size_t p : order) {
        if (scores[p] < least || found_.size() >= Whole(schedule_.found_most))
            break;
        if (scores[p] < sigmas[p] * (products[p].size() == 2 ? pair_sigmas : schedule_.triple_sigmas))
            continue;
        found_.push_back({products[p], scores[p], {}, {}});
        clear += scores[p] / sigmas[p];
        explained += scores[p] / asked.most;
    }
    share_ = schedule_.product_share * std::min(1.0, clear / schedule_.clear_sigmas) *
             std::min(1.0, explained / schedule_.much_explained);
}

void Interactions::Smooth(const NoisyGradients& gradients, double unit, const Basis& basis,
                          const SmoothWeights& weights) {
    const double rate = schedule_.smooth_rate / objective_->curvature() / stage_.counts.rows;
    const double sigma = gradients.sigma * unit, whole = gradients.whole_sigma * unit;
    const size_t outputs = stage_.outputs();
    const auto sum_of = [&](size_t output, size_t k) {
        return gradients.values[output * basis.coordinates() + k] * unit;
    };
    for (size_t g = 0; g < found_.size(); g++) {
        const BasisBlock& block = basis.blocks()[g];
        const std::vector<double>& weight = weights.Of(found_[g].features.size());
        double squares = 1e-12;
        for (size_t output = 0; output < outputs; output++) {
            for (size_t k = 0; k < weight.size(); k++)
                squares += sum_of(output, block.first + k) * sum_of(output, block.first + k);
        }
        const double freedom =
            std::max(1.0, static_cast<double>(weight.size() * std::max<size_t>(1, outputs - 1)) - 1);
        const double keep = std::max(0.0, 1 - freedom * whole * whole / squares);  // James-Stein
        std::vector<double> values(block.view.cells * outputs, 0.0), sds(values.size(), 0.0);
        for (uint32_t cell = 0; cell < block.view.cells; cell++) {
            for (size_t k = 0; k < weight.size(); k++) {
                const double reach =
                    keep * rate * block.columns[k].values[cell] / (kBasisOne * weight[k] * weight[k]);
                for (size_t output = 0; output < outputs; output++) {
                    double& sd = sds[cell * outputs + output];
                    values[cell * outputs + output] += reach * sum_of(output, block.first + k);
                    sd = std::sqrt(sd * sd + reach * sigma * reach * sigma);
                }
            }
        }
        tables_.Add(EvenDigits(found_[g].features, kSmoothDigits), kSmoothDigits, values, sds);
    }
}

void Interactions::TakeSmoothSteps(double leave) {
    std::vector<std::vector<uint32_t>> products;
    for (const Found& found : found_)
        products.push_back(found.features);
    const SmoothWeights weights(schedule_, products);
    const Basis basis = SmoothBasis(products, weights);
    const double unit = clip_ / stage_.rows.StepsPerOne();
    const uint32_t steps = Whole(schedule_.smooth_steps);
    for (uint32_t t = 0; t < steps; t++) {
        stage_.rows.SetBasis(basis, NormLimit(weights));
        Smooth(stage_.Gradients(stage_.pool.Release(stage_.pool.Slice(leave, steps - t),
                                                    stage_.rows.GradientSums(*objective_))),
               unit, basis, weights);
    }
}

}  // namespace dpboost
