#include "learner/auto.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learner/additive_stage.h"
#include "learner/interactions.h"

namespace dpboost {
namespace {

// The score that all rows start with: the noisy mean label, or its log odds.
// Neighbours: add or remove one unit. Sensitivity: a row adds a label within +-1 (binary: y - 1/2, counted in
// halves), a unit is scaled down to the same. Charge: one draw of the pool.
double DrawInitialScore(const AdditiveStage& stage, double fraction) {
    Basis basis;
    basis.SetIntercept(kBasisUnit);
    stage.rows.LimitNorms(basis, basis.MaxNormSquared());
    std::vector<int64_t> sum = stage.rows.LabelSums(basis);
    const double scale = 1 / (stage.rows.StepsPerUnit() * stage.counts.rows);
    const double sigma = stage.pool.AddNoise(fraction, stage.rows.Sensitivity(), sum) * scale;
    constexpr double kPriorVariance = 0.1;  // of the mean label: shrinks it where noise is all there is
    const double mean =
        static_cast<double>(sum[0]) * scale * kPriorVariance / (kPriorVariance + sigma * sigma);
    if (stage.loss == Loss::kSquared)
        return std::clamp(mean, -1.0, 1.0);
    const double positive = std::clamp((1 + mean) / 2, 0.002, 0.998);
    return std::log(positive / (1 - positive));
}

// How much coarser than 2^-16 of a clip the lattice must be so that the largest noise fits the samplers (2^40
// steps); 0 unless epsilon is tiny. Public: known from the plan and the number of features.
int LatticeShift(double mu, size_t features) {
    constexpr double kSmallestDraw = 1e-4;  // of the pool, about the share of a tree's counts
    const double norm = std::sqrt(static_cast<double>(features) + 1);
    const double sigma =
        kClipSteps * static_cast<double>(kBasisUnit) * norm / (mu * std::sqrt(kSmallestDraw));
    return static_cast<int>(std::clamp(std::ceil(std::log2(sigma) - 39), 0.0, 12.0));
}

}  // namespace

size_t AutoBytesPerRow(bool has_units) {
    return AdditiveRows::BytesPerRow(has_units);
}

Model TrainAuto(const Dataset& dataset, const AutoOptions& options, Plan& plan, Random& random,
                NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                const TrainingSettings& settings) {
    options.Check();
    const std::vector<FeatureSpec>& features = dataset.features();
    const Task task = dataset.target().task();
    CheckInternal(task == options.task, "the dataset is for another task");
    Model model(features, dataset.target(), task == Task::kBinary ? Link::kLogistic : Link::kIdentity);
    PoolRelease pool(plan, plan.Find(kAutoMechanism), noise);
    AdditiveRows rows(dataset, settings.simd, interrupt, LatticeShift(pool.mu(), features.size()));

    NoisyHistogram histogram(features, HistogramCells(task));
    histogram.Release(kHistogramFraction, rows, pool);
    MarginalCounts counts = histogram.Clean(options.rows_hint);
    AutoSchedule schedule =
        MakeAutoSchedule(task, counts.rows, pool.mu(), static_cast<uint32_t>(features.size()));
    if (options.trees > 0)
        schedule.residual_epochs = options.trees;
    if (schedule.second_histogram > 0.01) {
        histogram.Release(schedule.second_histogram, rows, pool);
        counts = histogram.Clean(options.rows_hint);
    }

    AdditiveTables tables(features, rows);
    StageProgress steps(progress,
                        schedule.linear_steps + schedule.residual_epochs + schedule.interaction_trees);
    const AdditiveStage stage{features, task == Task::kBinary ? Loss::kLogistic : Loss::kSquared,
                              schedule, counts,
                              rows,     pool,
                              tables,   random,
                              steps};
    if (schedule.initial_score > 0)
        tables.AddToBase(DrawInitialScore(stage, schedule.initial_score));
    const bool asks = options.depth >= 2 && schedule.interaction_query > 0;
    const double residual = pool.left() * schedule.residual_share;
    RunLinearStage(stage, residual);
    InteractionFinding finding;
    if (asks)
        finding = QueryInteractions(stage, std::min(schedule.interaction_query, residual / 2), options.depth);
    if (residual > 0)
        RunResidualStage(stage, pool.left() * finding.share);
    if (finding.share > 0)
        GrowInteractionTrees(stage, finding, model);
    tables.Store(model);
    return model;
}

}  // namespace dpboost
