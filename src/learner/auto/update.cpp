#include "learner/auto/update.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// How much the evidence of the model weighs, to one together with that of a training with this n mu. Nearly everybody may have
// used up a budget: then the model may count for more.
double EvidenceShare(const Model& model, double signal, const AutoSchedule& schedule) {
    const Evidence& evidence = model.evidence();
    if (!evidence.reference || evidence.noise != NoiseKind::kGaussian)
        return schedule.unknown_share;
    const double ratio = evidence.reference->rows * evidence.mu / signal;
    const double scarce = std::max(1.0, schedule.least_new / signal);
    const double old = std::min(schedule.most_old * scarce * scarce, ratio * ratio);
    return old / (1 + old);
}

// A marginal of the reference, spread evenly over the codes of each of its cells, with this sum.
std::vector<double> SpreadOver(const Marginal& marginal, uint32_t codes, double rows) {
    double total = 0;
    for (const float count : marginal.counts)
        total += static_cast<double>(count);
    std::vector<double> cells(codes);
    size_t first = 0;
    for (size_t k = 0; k < marginal.last_codes.size(); k++) {
        const size_t end = size_t{marginal.last_codes[k]} + 1;
        const double width = static_cast<double>(end - first);
        const double share =
            total > 0 ? static_cast<double>(marginal.counts[k]) / total : width / static_cast<double>(codes);
        std::fill(cells.begin() + static_cast<std::ptrdiff_t>(first),
                  cells.begin() + static_cast<std::ptrdiff_t>(end), rows * share / width);
        first = end;
    }
    return cells;
}

}  // namespace

MarginalCounts CountsOfToday(const Reference& reference, const std::vector<FeatureSpec>& features,
                             double fraction, BasisRows& rows, Pool& pool) {
    Basis basis;
    basis.SetIntercept(kBasisOne);
    rows.SetBasis(basis);
    const NoisySums sum = pool.Release(fraction, rows.CountSums());
    MarginalCounts counts;
    counts.rows = std::max(1.0, static_cast<double>(sum.values[0]) / rows.StepsPerOne());
    counts.rows_sd = sum.sigma / rows.StepsPerOne();
    for (size_t f = 0; f < features.size(); f++) {
        const Marginal& marginal = reference.marginals[f];
        counts.cells.push_back(SpreadOver(marginal, features[f].cells(), counts.rows));
        counts.last_codes.push_back(marginal.last_codes);
        counts.count_sd =
            std::max(counts.count_sd, static_cast<double>(marginal.count_sd) * counts.rows / reference.rows);
    }
    return counts;
}

double OldTrust(const AdditiveStage& stage, const Model& model) {
    const double signal = stage.counts.rows * stage.pool.mu();
    if (stage.objective != ObjectiveKind::kLogistic || signal < stage.schedule.least_trust)
        return 1;
    const std::vector<int32_t> bases = stage.tables.bases();
    stage.rows.Blend(model, 1, bases, 1);
    const double slope = ClassSlope(stage, stage.schedule.old_trust);
    stage.rows.Restart(bases);
    return std::clamp(slope, 0.0, 1.0);
}

double BlendWith(const Model& model, double given, double trust, const AdditiveStage& stage) {
    const double weight =
        given >= 0 ? given
                   : trust * EvidenceShare(model, stage.counts.rows * stage.pool.mu(), stage.schedule);
    stage.rows.Blend(model, weight, stage.tables.bases(), stage.tables.final_factor());
    stage.tables.Fade(1 - weight);
    return weight;
}

std::vector<std::vector<float>> JoinedBands(const std::vector<std::vector<float>>& before,
                                            std::vector<std::vector<float>> added) {
    if (before.empty())
        return {};
    for (size_t f = 0; f < added.size(); f++) {
        if (before[f].size() != added[f].size())
            added[f].clear();
        for (size_t i = 0; i < added[f].size(); i++)
            added[f][i] = std::sqrt(added[f][i] * added[f][i] + before[f][i] * before[f][i]);
    }
    return added;
}

}  // namespace dpboost
